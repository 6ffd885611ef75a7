#!/usr/bin/env bash
# Builds on the Kubernetes cluster of KUBECONFIG, with faults, and compares with a build of one process. Its pods must be
# able to run programs of this machine, so its nodes share this machine's folders. KUBECTL is the command, kubectl by
# default. Only Slurm has the cases lost and undead, which kill a node.
set -euo pipefail

if ! ${KUBECTL:-kubectl} get nodes >/dev/null 2>&1; then
  echo "skipped: no Kubernetes at KUBECONFIG"
  exit 0
fi

ALL_CASES="full incremental kill twice order broken"
. "$(dirname "$0")/lib.sh"

up() { :; }
run() {
  "$reelsplice" "$@" --engine kubernetes >"$run/build.sh" || return
  timeout "$limit" sh "$run/build.sh"
}
down() { :; }

main
