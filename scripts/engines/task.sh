#!/usr/bin/env bash
# Runs a task of a build with a fault. Engines run this script instead of reelsplice.
#
#   task.sh STATE PROGRAM ARGS...
#
# STATE/fault names the fault and its stage. STATE/log gets a line for each start and end of a task.
set -uo pipefail
state=$1
shift
read -r fault at <"$state/fault"

stage=$3 index=${SLURM_ARRAY_TASK_ID:-${JOB_COMPLETION_INDEX:-0}} node=${SLURMD_NODENAME:-${NODE:-local}}
[ "$3" = task ] && stage=$4 || index=0

note() { echo "$(date +%s.%N) $1 $stage $index $node $$" >>"$state/log"; }

# moment [PART]: sleeps for a random time, up to PART (default 1) of the longest task of this stage.
moment() {
  local seconds
  seconds=$(cat "$state/seconds-$stage" 2>/dev/null || echo 0.1)
  sleep "$(awk -v s="$seconds" -v part="${1:-1}" -v r="$RANDOM" 'BEGIN { printf "%.3f", s * part * r / 32768 }')"
}

# first: succeeds for the first caller in each stage.
first() { mkdir "$state/$fault-$stage" 2>/dev/null; }

note start
code=0
case $fault in
  kill) # the first task of each stage that gets here is killed at a random moment
    if first; then
      "$@" &
      moment
      if kill -9 $! 2>/dev/null; then note killed; fi
      wait $! || code=$?
    else
      "$@" || code=$?
    fi
    ;;
  twice) # two at once; one seal may start after the other has completed the build
    "$@" >"$state/twin" &
    "$@" || code=$?
    if [ "$stage" != seal ]; then
      wait $! || code=$?
    elif wait $! && [ $code != 0 ]; then
      code=0
      cat "$state/twin"
    fi
    ;;
  order) # in a random order
    sleep "0.$RANDOM"
    "$@" || code=$?
    ;;
  lost | undead) # one task of a stage stops in its middle, until its node is lost
    if [ "$stage" = "$at" ] && first; then
      setsid "$@" & # else the stopped process gets SIGHUP with its group
      moment 0.3    # short, so that it is still running
      kill -STOP $! 2>/dev/null
      sleep 0.02
      if grep -qs '^State:[[:space:]]*T' /proc/$!/status; then
        note stopped
        echo "$! $node" >"$state/stopped.new"
        mv "$state/stopped.new" "$state/stopped"
      else # it has ended: another task may be slower
        rmdir "$state/$fault-$stage"
      fi
      wait $! || code=$?
      echo $code >"$state/woken"
    else
      "$@" || code=$?
    fi
    ;;
  broken) # a task of a stage always fails
    if [ "$stage" = "$at" ] && [ "$index" = 0 ]; then
      echo "reelsplice: broken on purpose" >&2
      code=1
    else
      "$@" || code=$?
    fi
    ;;
  *)
    "$@" || code=$?
    ;;
esac
note "end-$code"
exit $code
