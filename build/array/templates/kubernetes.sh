#!/bin/sh
# Build <% .Chain.Name %> as a chain of Kubernetes Jobs. Creates each when all tasks of the one before it are done, and
# prints the report of the build. Deletes Jobs that are done; one that fails ends the script with 1 and stays for a day.
# KUBECTL is the command, kubectl by default. Made by "reelsplice build submit".
set -eu

build=<% .Chain.Name %>
namespace=<% sh .Kubernetes.Namespace %>
image=<% .Kubernetes.Image | json | sh %>
program=<% .Chain.Program | json | sh %>
resources=<% .Resources | json | sh %>
mounts=<% .Mounts | json | sh %>
volumes=<% .Volumes | json | sh %>

k() { ${KUBECTL:-kubectl} --namespace="$namespace" "$@"; }

# logs PHASE [FLAG...] prints the logs of the job's pods in a phase, the oldest first: it may have the cause of later failures.
logs() {
  phase=$1
  shift
  for pod in $(k get pods --sort-by=.metadata.creationTimestamp --selector="batch.kubernetes.io/job-name=$job" \
    --field-selector="status.phase=$phase" -o name); do
    k logs "$@" "$pod" || true # the node may be gone
  done
}

# stage NAME TASKS ARGS runs a Job. One of an earlier attempt may exist; its finished tasks stay done.
stage() {
  job=$build-$1
  k delete job "$job" --ignore-not-found >&2
  k create -f - >&2 <<JOB
apiVersion: batch/v1
kind: Job
metadata:
  name: $job
  labels: {app.kubernetes.io/managed-by: reelsplice, reelsplice/build: "$build", reelsplice/stage: "$1"}
spec:
  completionMode: Indexed
  completions: $2
  parallelism: $2
  backoffLimitPerIndex: <% .Retries %>
  maxFailedIndexes: 0
  podReplacementPolicy: TerminatingOrFailed # a pod of a lost node stays Terminating
  ttlSecondsAfterFinished: 86400
  template:
    metadata:
      labels: {app.kubernetes.io/managed-by: reelsplice, reelsplice/build: "$build", reelsplice/stage: "$1"}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 5 # a task has nothing to clean up
      tolerations: # a task of a lost node starts elsewhere after this time
      - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
      containers:
      - name: task
        image: $image
        command: [$program]
        args: $3
        resources: $resources
        volumeMounts: $mounts
      volumes: $volumes
JOB
  # A Job whose tasks have all succeeded becomes Complete only when pods of a lost node are gone.
  until k wait --for="jsonpath={.status.succeeded}=$2" --timeout=10s "job/$job" >/dev/null 2>&1; do
    if state=$(k get job "$job" --ignore-not-found -o 'jsonpath=is {range .status.conditions[?(@.status=="True")]}{.type} {.message} {end}'); then
      case $state in
        *Failed* | *FailureTarget*)
          echo "job $job $state" >&2
          logs Failed --prefix --tail=1 >&2
          exit 1
          ;;
        '') echo "job $job is gone" >&2 && exit 1 ;;
      esac
    else
      sleep 10 # the API server may be away for a moment
    fi
  done
  [ "$1" != seal ] || logs Succeeded
  k delete job "$job" >&2
}

<% range .Chain.Steps -%>
stage <% .Name %> <% .Tasks %> <% .Args | json | sh %>
<% end -%>
