#!/usr/bin/env bash
# Build <% .Chain.Name %> as a chain of Slurm array jobs. Submits all, and prints the name and the id of each. A job
# starts when all tasks of the one before it are done; if one fails, Slurm cancels the rest. Made by "reelsplice build submit".
set -euo pipefail

logs=<% sh .Slurm.Logs %>
options=(<% range .Slurm.Options %><% sh . %> <% end %><% with .Chain.CPUs %>--cpus-per-task=<% . %> <% end %><% with .MegaBytes %>--mem=<% . %>M<% end %>)
jobs=()
mkdir -p "$logs"
trap '[ "$?" = 0 ] || [ "${#jobs[@]}" = 0 ] || scancel "${jobs[@]}"' EXIT

# stage NAME TASKS COMMAND... submits a job.
stage() {
  local name=$1 tasks=$2 command job
  shift 2
  printf -v command '%q ' "$@"
  job=$(sbatch --parsable --job-name=<% sh .Chain.Name %>-"$name" --array="0-$((tasks - 1))" "${options[@]}" \
    --output="$logs/$name-%a.out" --error="$logs/$name-%a.err" \
    --requeue --kill-on-invalid-dep=yes ${jobs:+--dependency="afterok:${jobs[-1]}"} <<SCRIPT
#!/usr/bin/env bash
# Slurm requeues a task of a node that is lost, and retries no other. Exit code 2 is final.
for pause in<% range .Pauses %> <% . %><% end %>; do
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

<% range .Chain.Steps -%>
stage <% .Name %> <% .Tasks %> <% sh $.Chain.Program %><% range .Args %> <% sh . %><% end %>
<% end -%>
