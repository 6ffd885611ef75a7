#!/usr/bin/env bash
# Builds on the Kubernetes of KUBECONFIG, with faults, and compares with a build of one process. Its pods run programs of
# this machine, as nodes in containers with its folders or nodes that start processes do; KUBECTL is the command, kubectl
# by default. The cases lost and undead are Slurm's alone: they kill a node.
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
