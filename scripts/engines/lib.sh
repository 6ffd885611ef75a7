# The common part of slurm.sh and kubernetes.sh: builds to compare, cases, table. Each of them defines
#
#   up             starts the parts of the cluster that are not running
#   run ARGS...    runs the script of build submit with these arguments, and prints the report
#   lose NODE      kills the process of NODE, but not its children
#   victims NODE   prints the ids of these children
#   down           stops the cluster

ALL_CASES=${ALL_CASES:-full incremental kill twice order lost undead broken} # a script may have fewer

usage() {
  cat <<USAGE
usage: $0 [OPTION]...
Builds a release as array jobs and compares it with the release of a single process.

  --cases LIST    ${ALL_CASES// /,}; full by default, or all
  --count N       tasks per stage (7)
  --movies N      use a generated catalogue instead of the sample
  --dump DIR      use a dump with TMDB ids instead of the sample
  --at STAGE      stage of the cases lost, undead and broken (titles)
  --seed N        random seed (the time)
  --keep          keep the folder of the run

  full         no faults; always runs first
  incremental  no faults, with the single process's release as the previous one
  kill         a task of each stage is killed at a random moment
  twice        each task runs twice at once
  order        the tasks of a stage start in random order
  lost         a node is killed with its tasks
  undead       a node is lost, and one of its tasks continues after the release is complete
  broken       a task always fails: the error names its stage; then the build is submitted again
USAGE
}

cases=full count=7 movies=0 dump= at=titles seed=$(date +%s) keep=
while [ $# -gt 0 ]; do
  case $1 in
    --cases) cases=${2//,/ } && shift ;;
    --count) count=$2 && shift ;;
    --movies) movies=$2 && shift ;;
    --dump) dump=$2 && shift ;;
    --at) at=$2 && shift ;;
    --seed) seed=$2 && shift ;;
    --keep) keep=1 ;;
    *) usage && exit 2 ;;
  esac
  shift
done
[ "$cases" != all ] || cases=$ALL_CASES

root=$(cd "$(dirname "$0")/../.." && pwd)
run=$(mktemp -d "${TMPDIR:-/tmp}/reelsplice-engines-XXXXXX")
state=$run/state reelsplice=$run/reelsplice program=$run/program
limit=$((900 + movies / 50)) # seconds for a build
export ENGINES_RUN=$run      # marks the processes of this run
RANDOM=$seed

# mine [NAME=VALUE]: prints the ids of processes that this run has started, found by their environment.
mine() {
  local p
  for p in /proc/[0-9]*; do
    if grep -qzxF "ENGINES_RUN=$run" "$p/environ" 2>/dev/null && grep -qzxF "${1:-ENGINES_RUN=$run}" "$p/environ" 2>/dev/null; then
      echo "${p#/proc/}"
    fi
  done
}

# end: kills all processes that this run has started, and removes its folder.
end() {
  local code=$? p
  trap - EXIT
  set +e
  down
  for p in $(mine); do
    [ "$p" = $$ ] || [ "$p" = "$BASHPID" ] || kill -9 "$p" 2>/dev/null
  done
  if [ -n "$keep" ]; then echo "kept: $run" >&2; else rm -rf "$run"; fi
  exit "$code"
}
trap end EXIT
trap 'exit 130' INT TERM

# prepare: builds the program, two catalogues (the second after an update), and their releases for comparison.
prepare() {
  mkdir -p "$state" "$run/cases"
  (cd "$root" && go build -o "$reelsplice" ./cmd/reelsplice)
  printf '#!/bin/sh\nexec %q %q %q "$@"\n' "$root/scripts/engines/task.sh" "$state" "$reelsplice" >"$program"
  chmod +x "$program"
  local dumps=("$root"/data/sample/*.ndjson)
  if [ "$movies" != 0 ]; then
    "$reelsplice" gen --quiet --out "$run/dumps" --movies "$movies" >/dev/null
    dumps=("$run"/dumps/*)
  fi
  [ -z "$dump" ] || dumps=("$dump")
  "$reelsplice" ingest --quiet --catalog "$run/catalog1" "${dumps[@]}" >/dev/null
  one1=$(one 1) one2=$one1
  if [[ $cases = *incremental* ]]; then
    cp -r "$run/one" "$run/cases/incremental"
    cp -r "$run/catalog1" "$run/catalog2"
    echo '{"id":550,"tagline":"A tagline of the second night."}' >"$run/movies.ndjson"
    "$reelsplice" ingest --quiet --catalog "$run/catalog2" --update "$run/movies.ndjson" >/dev/null
    one2=$(one 2)
  fi
}

# one NIGHT: builds in a single process and prints the id.
one() {
  "$reelsplice" build --quiet --json --catalog "$run/catalog$1" --releases "$run/one" --publish | release_of
}

release_of() { sed -n 's/^{"release":"\([^"]*\)".*/\1/p'; }

# since START: prints the seconds since then.
since() { awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }'; }

# submit NIGHT RELEASES [ARGS...]: builds on the engine; the report is in $run/report.
submit() {
  local night=$1 releases=$2
  shift 2
  run build submit --json --quiet --publish --program "$program" --count "$count" --memory 512MiB \
    --catalog "$run/catalog$night" --releases "$releases" --work "$run/work" --scratch "$run/scratch" "$@" \
    >"$run/report" 2>"$run/errors"
}

# row CASE RESULT SECONDS NOTE: prints a line of the table.
row() {
  printf '%-12s %-7s %7s  %s\n' "$@"
  [ "$2" = ok ] || failed=1
}

# check CASE CODE ID RELEASES NOTE: compares a build with one in a single process.
check() {
  local seconds got left
  seconds=$(since "$start")
  got=$(release_of <"$run/report")
  [ -n "$got" ] || got=$(head -n 1 "$4/current") # some Kubernetes clusters keep no logs, so there is no report
  left=$(find "$run/work" "$run/scratch" -type f 2>/dev/null | head -n 3 | tr '\n' ' ')
  if [ "$2" != 0 ]; then
    row "$1" FAILED "$seconds" "exit code $2: $(tail -n 1 "$run/errors")"
  elif [ "$got" != "$3" ]; then
    row "$1" FAILED "$seconds" "release $got, want $3"
  elif ! diff -r --no-dereference -x report.json "$run/one/$3" "$4/$3" >"$run/diff" 2>&1; then
    row "$1" FAILED "$seconds" "files differ: $(head -n 1 "$run/diff")"
  elif [ -n "$left" ]; then
    row "$1" FAILED "$seconds" "left behind: $left$5"
  elif ls -A "$4" | grep -vxF -e "$one1" -e "$one2" -e current -e previous -e .lock -e .store-lock >"$run/diff"; then
    row "$1" FAILED "$seconds" "left in the releases: $(tr '\n' ' ' <"$run/diff")"
  else
    row "$1" ok "$seconds" "$got, $(grep -c ' start ' "$state/log") tasks ran$5"
  fi
}

# begin FAULT: prepares a build with a fault.
begin() {
  rm -rf "$state"/{log,kill-*,lost-*,undead-*,stopped,woken} "$run/work" "$run/scratch"
  mkdir -p "$run/work" "$run/scratch"
  echo "$1 $at" >"$state/fault"
  : >"$state/log"
  start=$(date +%s.%N)
}

# remember: stores the longest task time of each stage, from which random moments are chosen.
remember() {
  awk -v dir="$state" '
    $2 == "start" { began[$3 " " $4] = $1 }
    $2 == "end-0" { s = $1 - began[$3 " " $4]; if (s > most[$3]) most[$3] = s }
    END { for (stage in most) print most[stage] > (dir "/seconds-" stage) }' "$state/log"
}

case_full() {
  local code=0
  begin full
  submit 1 "$run/cases/full" || code=$?
  remember
  check full $code "$one1" "$run/cases/full" ""
}

case_incremental() {
  local code=0
  begin incremental
  submit 2 "$run/cases/incremental" || code=$?
  check incremental $code "$one2" "$run/cases/incremental" ""
}

# case_fault NAME: a fault that task.sh injects.
case_fault() {
  local code=0
  begin "$1"
  submit 1 "$run/cases/$1" || code=$?
  check "$1" $code "$one1" "$run/cases/$1" "$(awk '$2 == "killed" { n++ } END { if (n) printf ", %d killed", n }' "$state/log")"
}

# case_node NAME: a node is lost while a task of it is stopped.
case_node() {
  local code=0 pid= node= p note build
  begin "$1"
  submit 1 "$run/cases/$1" &
  build=$!
  while [ ! -e "$state/stopped" ] && kill -0 $build 2>/dev/null; do sleep 0.1; done
  if [ -e "$state/stopped" ]; then
    read -r pid node <"$state/stopped"
    lose "$node"
    if [ "$1" = lost ]; then
      for p in $(victims "$node"); do kill -9 "$p" 2>/dev/null || true; done
    fi
    note=", $node lost with $(awk -v node="$node" '$5 == node && $2 == "start" { n++ } $5 == node && $2 ~ /^end/ { n-- } END { print n + 0 }' "$state/log") tasks"
  fi
  wait $build || code=$?
  if [ "$1" = undead ] && [ -n "$pid" ]; then
    kill -CONT "$pid" || true
    for _ in $(seq 300); do [ ! -e "$state/woken" ] || break; sleep 0.1; done
    note+=", one woke after the release and ended with $(cat "$state/woken" 2>/dev/null || echo nothing)"
  fi
  if [ -n "$node" ]; then
    check "$1" $code "$one1" "$run/cases/$1" "$note"
  else
    row "$1" FAILED "$(since "$start")" "no task of $at was slow enough to be stopped"
  fi
  up
}

case_broken() {
  local code=0
  begin broken
  submit 1 "$run/cases/broken" --attempts 2 || code=$?
  if [ $code = 1 ] && tail -n 1 "$run/errors" | grep -q "$at"; then
    row broken ok "$(since "$start")" "$(tail -n 1 "$run/errors")"
  else
    row broken FAILED "$(since "$start")" "exit code $code: $(tail -n 1 "$run/errors")"
  fi
  code=0
  echo none >"$state/fault"
  : >"$state/log"
  start=$(date +%s.%N)
  submit 1 "$run/cases/broken" || code=$?
  check again $code "$one1" "$run/cases/broken" ""
}

# main: runs the cases and prints the table.
main() {
  local c
  failed=
  prepare
  up
  echo "$(basename "$0" .sh), count $count, $([ -n "$dump" ] && basename "$dump" || { [ "$movies" = 0 ] && echo the sample || echo "$movies movies"; }), seed $seed"
  for c in full ${cases//full/}; do # the times without faults determine when to kill
    [[ " $ALL_CASES " = *" $c "* ]] || { echo "no case $c: want some of $ALL_CASES" >&2 && exit 2; }
    case $c in
      full | incremental) "case_$c" ;;
      lost | undead) case_node "$c" ;;
      broken) case_broken ;;
      kill | twice | order) case_fault "$c" ;;
    esac
  done
  [ -z "$failed" ]
}
