#!/bin/sh
# Build reelsplice-build as a chain of Kubernetes Jobs. Creates each when all tasks of the one before it are done, and
# prints the report of the build. Deletes Jobs that are done; one that fails ends the script with 1 and stays for a day.
# KUBECTL is the command, kubectl by default. Made by "reelsplice build submit".
set -eu

build=reelsplice-build
namespace=films
image='"reelsplice:1"'
program='"reelsplice"'
resources='{"limits":{"memory":"2684354560"},"requests":{"cpu":"1","memory":"2684354560"}}'
mounts='[{"mountPath":"/shared","name":"shared"}]'
volumes='[{"name":"shared","persistentVolumeClaim":{"claimName":"shared"}}]'

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
  backoffLimitPerIndex: 3
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

stage plan 1 '["build","plan","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1"]'
stage survey 16 '["build","task","survey","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage prepare 16 '["build","task","prepare","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage titles 16 '["build","task","titles","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage resources 16 '["build","task","resources","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage find 16 '["build","task","find","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage index 16 '["build","task","index","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage ranges 16 '["build","task","ranges","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage tables 16 '["build","task","tables","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage accounts 1 '["build","task","accounts","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","1"]'
stage changes 16 '["build","task","changes","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--count","16"]'
stage seal 1 '["build","seal","--quiet","--catalog","/shared/catalog","--releases","/shared/releases","--work","/shared/work","--memory","2147483648","--jobs","1","--publish","--json"]'
