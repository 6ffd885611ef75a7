#!/usr/bin/env bash
# Builds on a Kubernetes of this machine alone, with faults, and compares with a build of one process.
# The first run builds Kubernetes from Go modules: 10 minutes of CPU and 2 GB of memory.
set -euo pipefail

. "$(dirname "$0")/lib.sh"

version=v1.34.4 # as in cluster/go.mod
cluster=${ENGINES_CLUSTER:-${XDG_CACHE_HOME:-$HOME/.cache}/reelsplice/cluster-$version}
dir=$run/kubernetes
export KUBECONFIG=$dir/kubeconfig

# compile: the program that is all of Kubernetes.
compile() {
  local set=k8s.io/component-base/version
  mkdir -p "$(dirname "$cluster")"
  (cd "$root/scripts/engines/cluster" && CGO_ENABLED=0 nice -n 19 go build -trimpath -o "$cluster" \
    -ldflags "-s -w -X $set.gitVersion=$version -X $set.gitMajor=1 -X $set.gitMinor=34" .)
}

alive() { [ -s "$1" ] && grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$(cat "$1")/status"; }

up() {
  local n
  if ! alive "$dir/up.pid"; then
    compile
    mkdir -p "$dir"
    setsid "$cluster" up "$dir" 3 >"$dir/up.log" 2>&1 </dev/null &
    echo $! >"$dir/up.pid"
    for _ in $(seq 1200); do
      [ ! -e "$KUBECONFIG" ] && alive "$dir/up.pid" || break
      sleep 0.1
    done
  fi
  for n in node1 node2 node3; do
    if [ -e "$KUBECONFIG" ] && ! alive "$dir/$n.pid"; then
      setsid "$cluster" node "$dir" $n >>"$dir/$n.log" 2>&1 </dev/null &
      echo $! >"$dir/$n.pid"
    fi
  done
  for _ in $(seq 300); do
    [ "$("$cluster" kubectl get nodes --no-headers 2>/dev/null | grep -c ' Ready ')" != 3 ] || return 0
    sleep 0.1
  done
  echo "kubernetes did not come up:" >&2
  tail -n 3 "$dir"/*.log >&2
  return 1
}

run() { timeout "$limit" "$reelsplice" "$@" --engine kubernetes --kubectl "$cluster kubectl"; }
lose() { kill -9 "$(cat "$dir/$1.pid")"; }
victims() { mine "NODE=$1"; }

down() {
  [ -s "$dir/up.pid" ] || return 0
  kill "$(cat "$dir/up.pid")" 2>/dev/null
  sleep 2 # nodes end their pods; the rest is killed by its environment
}

main
