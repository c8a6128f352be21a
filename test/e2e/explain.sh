#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A hog takes the CPU of a training loop: explain names it and how much it took.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

random=$$
pick logrotate backup-sync node_exporter cron-scan kubelet-gc audit.d
hog_name=$picked
cpu=$(last_cpu)

# epoch: now, as --from and --to take it
epoch() {
	date +@%s.%N
}

# Both before others: on a busy machine, too, the hog is the one who takes the most.
renice -n -15 $$ >/dev/null
# Short kernels: a hog whose turns are as long as the waits for the GPU may take those alone, and slow nothing down.
train "$cpu" 60 --kernel-us 20
trace
sleep 3.5
runs "before it, while tracing" 0 "$culprit" explain --since 2s --json --db "$db"
is "findings" "$(jq ".findings | map(select(.where.pid == $training)) | length" "$dir/out")" 0

before=$(epoch)
delay=$(run_delay)
hog "$cpu" "$hog_name"
sleep 4
stop "$hog"
delay=$(($(run_delay) - delay))
sleep 1
after=$(epoch)
sleep 2.5
untrace
stop "$training"

"$culprit" explain --db "$db" --json >"$dir/all"
is_json "explain --json" "$dir/all"
findings_of "$training" >"$dir/found"
is "findings" "$(jq length "$dir/found")" 1
is "cause" "$(jq -r '.[0].cause' "$dir/found")" cpu-contention
is "culprit" "$(jq -r '.[0].culprits[0] | "\(.comm) \(.pid)"' "$dir/found")" "$hog_name $hog"
is "on CPU" "$(jq -c '.[0].culprits[0].cpus' "$dir/found")" "[$cpu]"
near "lost, by the scheduler's own account" "$(jq '.[0].lost_ns' "$dir/found")" "$delay" 15
# Many short slices of others can outrun the history of a CPU; then it says so.
short=$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason = 'short_history'")
if [ "$short" -eq 0 ]; then
	is "evidence" "$(jq -r '.[0].evidence.class' "$dir/found")" proven
else
	note "evidence not checked: $short waits outran the history, it says $(jq -r '.[0].evidence.class' "$dir/found")"
fi
at_least "single calls that carry it" "$(jq '.[0].evidence.ids | length' "$dir/found")" 1
is "stalled thread" "$(jq '.[0].where.tid' "$dir/found")" "$training"
"$culprit" explain --db "$db" >"$dir/text"
has "text: title" "$dir/text" "CPU contention: $hog_name had the CPU that python3 needed"
has "text: culprit" "$dir/text" "$hog_name (pid $hog)"

is "before the burst" "$(findings_of "$training" --to "$before")" '[]'
is "after the burst" "$(findings_of "$training" --from "$after")" '[]'
is "during the burst" "$(findings_of "$training" --from "$before" --to "$after" | jq length)" 1
