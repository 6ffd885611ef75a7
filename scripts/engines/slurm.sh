#!/usr/bin/env bash
# Builds on a Slurm cluster on this machine, with faults, and compares with a build of one process.
# Installs Debian's packages as root. If that is impossible, it prints a message and passes.
set -euo pipefail
export PATH=$PATH:/usr/sbin

have() { command -v slurmctld slurmd sbatch sinfo munged | wc -l | grep -qx 5; }
if ! have; then
  if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ] ||
    ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge; } >/dev/null 2>&1 || ! have; then
    echo "skipped: Slurm is not installed and cannot be installed"
    exit 0
  fi
fi

. "$(dirname "$0")/lib.sh"

slurm=$run/slurm
export SLURM_CONF=$slurm/slurm.conf
port=

# alive FILE: succeeds if the process whose id is in FILE runs, and is not a zombie.
alive() { [ -s "$1" ] && grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$(cat "$1")/status"; }

# configure: writes the configuration of a cluster whose sockets, keys and files are all in one folder.
configure() {
  local p lost=300 expire=120
  mkdir -p "$slurm"/{state,log,run,munge}
  chmod 755 "$run" "$slurm" "$slurm/run" # munged trusts no socket that others could replace
  chmod 700 "$slurm/munge"
  (umask 077 && head -c 128 /dev/urandom >"$slurm/munge/key")
  for _ in $(seq 50); do # four ports, below the ephemeral range
    port=$((20000 + RANDOM % 12000))
    for p in $port $((port + 1)) $((port + 2)) $((port + 3)); do (: <"/dev/tcp/127.0.0.1/$p") 2>/dev/null && continue 2; done
    break
  done
  # As in production, a node counts as lost after 300 s, and its tasks are queued again 120 s later (cred_expire). Both
  # times are 5 s if there are cases with faults. Accounting, cgroups and limits are left out.
  [ "$cases" = full ] || lost=5 expire=5
  cat >"$SLURM_CONF" <<CONF
ClusterName=engines
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$slurm/run/munge.sock,cred_expire=$expire
CryptoType=crypto/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool-%n
SlurmctldPidFile=$slurm/run/slurmctld.pid
SlurmdPidFile=$slurm/run/slurmd-%n.pid
SlurmctldLogFile=$slurm/log/slurmctld
SlurmdLogFile=$slurm/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_min_interval=0,sched_interval=1
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=$lost
InactiveLimit=0
KillWait=2
MaxArraySize=4096
SlurmdParameters=config_overrides
$(for i in 1 2 3; do echo "NodeName=n$i NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=2 RealMemory=8000"; done)
PartitionName=night Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP
CONF
}

up() {
  [ -n "$port" ] || configure
  local i
  alive "$slurm/munge/pid" || munged --force --socket="$slurm/run/munge.sock" --key-file="$slurm/munge/key" \
    --pid-file="$slurm/munge/pid" --log-file="$slurm/munge/log" --seed-file="$slurm/munge/seed"
  alive "$slurm/run/slurmctld.pid" || slurmctld
  for i in 1 2 3; do alive "$slurm/run/slurmd-n$i.pid" || slurmd -N "n$i"; done
  for _ in $(seq 1800); do
    [ "$(sinfo -h -N -o %T 2>/dev/null | grep -cE '^(idle|mixed|allocated)$')" != 3 ] || return 0
    sleep 0.1
  done
  echo "slurm did not come up:" >&2
  tail -n 3 "$slurm"/log/* >&2
  return 1
}

run() {
  local end=$((SECONDS + limit))
  rm -rf "$run/logs"
  "$reelsplice" "$@" --engine slurm --logs "$run/logs" >"$run/build.sh" || return
  bash "$run/build.sh" >/dev/null || return
  while [ -n "$(squeue --noheader 2>&1)" ]; do # the chain runs by itself
    [ $SECONDS -lt $end ] || { echo "no end after $limit s" >&2 && return 1; }
    sleep 0.2
  done
  cat "$run/logs/seal-0.out" || { grep -H . "$run"/logs/*.err >&2 && return 1; }
}
lose() { kill -9 "$(cat "$slurm/run/slurmd-$1.pid")"; }

# victims NODE: prints the processes of its tasks, starting with the slurmstepds, which would report the end of the others.
victims() {
  local p tasks
  tasks=$(mine "SLURMD_NODENAME=$1")
  for p in $tasks; do
    p=$(awk '/^PPid/ { print $2 }' "/proc/$p/status" 2>/dev/null) && grep -q '^slurmstepd' "/proc/$p/comm" && echo "$p"
  done | sort -u
  echo "$tasks"
}

down() {
  [ -n "$port" ] || return 0
  scancel --user="$(id -un)" 2>/dev/null
  kill $(cat "$slurm"/run/*.pid "$slurm/munge/pid" 2>/dev/null) 2>/dev/null
  sleep 0.5 # end kills the rest
}

main
