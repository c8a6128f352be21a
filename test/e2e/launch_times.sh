#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --launch-times: how long launches take, without a change to what is counted; the first thing that is given up.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

export SIM_LAUNCH_US=50 SIM_KERNEL_US=0

# of COLUMN: of all launches
of() {
	sql "SELECT coalesce(sum($1), 0) FROM op_second JOIN op ON op.id = op WHERE symbol = 'cuLaunchKernel'"
}

# ---- all are timed

waiting "$sim/storm" 3 2000
trace_with --pid "$caller" --budget off --launch-times
go "$caller"
ends "$caller"
untrace
total=$(sed -n 's/^total //p' "$dir/out.$caller")
mean=$(($(of total_ns) / total))
note "$total launches, $mean ns each"
is "all are counted" "$(of calls)" "$total"
is "... and done" "$(of "done")" "$total"
near "mean time of a launch that takes 50 us, in ns" "$mean" 60000 20
is "the longest is no shorter" "$(sql "SELECT max_ns >= total_ns / calls FROM op_totals WHERE op = 'cuLaunchKernel'")" 1
is "nothing lost" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason IN ('no_entry', 'no_return')")" 0
is "time of the thread, gaps and calls, no more than there was" "$(sql "SELECT sum(run_ns) < 3.3e9 FROM op_second")" 1
"$culprit" explain --db "$db" --json >"$dir/json"
is "explain has them" "$(jq '[.processes[].ops[] | select(.op == "cuLaunchKernel") | .p50_ns] | max > 49000' "$dir/json")" true

# ---- without the option they are not

db=$dir/plain.db
waiting "$sim/storm" 2 2000
trace_with --pid "$caller" --budget off
go "$caller"
ends "$caller"
untrace
is "not asked for: no time" "$(sql "SELECT total_ns IS NULL AND max_ns IS NULL FROM op_totals WHERE op = 'cuLaunchKernel'")" 1

# ---- in a storm times go first, then launches

db=$dir/storm.db
export SIM_LAUNCH_US=1
waiting "$sim/storm" 8 0
go "$caller"
trace_with --pid "$caller" --budget 1 --launch-times
sleep 4
untrace
ends "$caller"
is "storm: times are given up" "$(sql "SELECT count(*) > 0 FROM shed WHERE what = 'returns'")" 1
is "storm: and launches, no sooner" "$(sql "SELECT (SELECT min(from_ns) FROM shed WHERE what = 'launches') >=
	(SELECT min(from_ns) FROM shed WHERE what = 'returns')")" 1
"$culprit" explain --db "$db" >"$dir/text"
has "storm: explain says so" "$dir/text" "times of launches"

# ---- where it cannot be done

runs "other probes" 1 "$culprit" trace --no-db --duration 1 --attach multi --launch-times
has "other probes: says why" "$dir/err" "--launch-times needs probes of the kind 'session'"
