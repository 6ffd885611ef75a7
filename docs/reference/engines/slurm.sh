#!/usr/bin/env bash
# Build reelsplice-build as a chain of Slurm array jobs. Submits all, and prints the name and the id of each. A job
# starts when all tasks of the one before it are done; if one fails, Slurm cancels the rest. Made by "reelsplice build submit".
set -euo pipefail

logs=/shared/logs
options=(--partition=night --cpus-per-task=1 --mem=2560M)
jobs=()
mkdir -p "$logs"
trap '[ "$?" = 0 ] || [ "${#jobs[@]}" = 0 ] || scancel "${jobs[@]}"' EXIT

# stage NAME TASKS COMMAND... submits a job.
stage() {
  local name=$1 tasks=$2 command job
  shift 2
  printf -v command '%q ' "$@"
  job=$(sbatch --parsable --job-name=reelsplice-build-"$name" --array="0-$((tasks - 1))" "${options[@]}" \
    --output="$logs/$name-%a.out" --error="$logs/$name-%a.err" \
    --requeue --kill-on-invalid-dep=yes ${jobs:+--dependency="afterok:${jobs[-1]}"} <<SCRIPT
#!/usr/bin/env bash
# Slurm requeues a task of a node that is lost, and retries no other. Exit code 2 is final.
for pause in 0 1 4 16; do
  sleep \$pause
  code=0
  $command || code=\$?
  [ \$code != 0 ] && [ \$code != 2 ] || break
done
exit \$code
SCRIPT
  )
  jobs+=("${job%%;*}")
  echo "$name ${jobs[-1]}"
}

stage plan 1 reelsplice build plan --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1
stage survey 16 reelsplice build task survey --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage prepare 16 reelsplice build task prepare --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage titles 16 reelsplice build task titles --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage resources 16 reelsplice build task resources --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage find 16 reelsplice build task find --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage index 16 reelsplice build task index --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage ranges 16 reelsplice build task ranges --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage tables 16 reelsplice build task tables --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage accounts 1 reelsplice build task accounts --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 1
stage changes 16 reelsplice build task changes --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --count 16
stage seal 1 reelsplice build seal --quiet --catalog /shared/catalog --releases /shared/releases --work /shared/work --memory 2147483648 --jobs 1 --publish --json
