#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runtime calls that contain driver calls: both counted, launches once, time not twice.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

export SIM_DRIVER=1
# Loaded at the start: the runtime would load it at the first call, which would then be missed.
preload() {
	waiting env LD_PRELOAD="$sim/libcuda.so.1" "$sim/calls" --wait "$@"
}

count=10007
preload cudaLaunchKernel $count 3
launch=$caller
preload cudaMalloc $count 3
alloc=$caller
preload cudaMemcpyAsync $count 3
copy=$caller
trace
go "$launch" "$alloc" "$copy"
ends "$launch"
ends "$alloc"
ends "$copy"
untrace
is "runtime launches" "$(sql "SELECT count(*) FROM op_totals WHERE pid = $launch AND
	op = 'cudaLaunchKernel'")" 0
is "driver launches" "$(calls_of "$launch" cuLaunchKernel)" $count
is "runtime allocations" "$(calls_of "$alloc" cudaMalloc)" $count
is "driver allocations" "$(calls_of "$alloc" cuMemAlloc_v2)" $count
is "runtime copies that the driver sees" "$(calls_of "$copy" cudaMemcpyAsync)" 0
is "driver copies, all of them timed" "$(sql "SELECT sum(calls) || ' ' || sum(done) || ' ' || (sum(total_ns) > 0)
	FROM op_second JOIN op ON op.id = op JOIN thread ON thread.id = thread JOIN process ON process.id = process
	WHERE pid = $copy AND symbol LIKE 'cuMemcpy%Async'")" "$count $count 1"
is "driver opened once" "$(calls_of "$alloc" cuInit)" 1

db=$dir/all.db
count=1009
preload cudaMemcpyPeerAsync $count 3
trace_with --record-all --ring 16m
go "$caller"
ends "$caller"
untrace
is "nothing dropped" "$(sql 'SELECT sum(dropped) FROM account')" 0
is "rows by depth" "$(sql "SELECT symbol, depth, count(*) FROM every_call JOIN op ON op.id = op
	WHERE symbol IN ('cudaMemcpyPeerAsync', 'cuMemcpyPeerAsync') GROUP BY 1, 2 ORDER BY 1" | tr '\n' ' ')" \
	"cuMemcpyPeerAsync|1|$count cudaMemcpyPeerAsync|0|$count "
is "inner calls inside outer ones" "$(sql "CREATE TEMP TABLE c AS SELECT * FROM every_call;
	CREATE INDEX temp.c_start ON c(thread, depth, start_ns);
	SELECT count(*) FROM c AS i JOIN op ON op.id = i.op
	WHERE symbol = 'cuMemcpyPeerAsync' AND NOT EXISTS (SELECT 1 FROM c AS o WHERE o.depth = 0 AND
	o.thread = i.thread AND o.start_ns <= i.start_ns AND
	i.start_ns + i.dur_ns <= o.start_ns + o.dur_ns)")" 0

# All states of a thread against the time from its first call to the end of its last.
states=$(sql "SELECT group_concat(name, ' + ') FROM pragma_table_info('op_second')
	WHERE name LIKE '%\_ns' ESCAPE '\' AND name NOT IN ('at_ns', 'total_ns', 'max_ns', 'kernel_ns')")
sql "CREATE TEMP VIEW states AS SELECT thread, sum($states) AS ns FROM op_second GROUP BY thread;
	CREATE TEMP VIEW spans AS SELECT thread, max(start_ns + dur_ns) - min(start_ns) AS ns FROM every_call
		GROUP BY thread;
	SELECT states.ns, spans.ns, exit_ns - first_ns FROM states JOIN spans USING (thread)
		JOIN thread ON thread.id = states.thread" >"$dir/threads"
is "threads" "$(wc -l <"$dir/threads")" 3
while IFS='|' read -r states span life; do
	near "a thread's states add up" "$states" "$span" 1
	at_most "... to no more than its life" "$states" "$life"
done <"$dir/threads"
