#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every function of wire/ops.def, called a number of times of its own: counts, bytes, and no call of a
# runtime function counted again as the driver's.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

export SIM_KERNEL_US=0 SIM_LAUNCH_US=0 SIM_ALLOC_US=0 SIM_INIT_MS=0 SIM_COPY_GBPS=0 SIM_DEVICE_GBPS=0 \
	SIM_COLL_GBPS=0
waiting "$sim/calls" --wait --all cuda 101 2
runtime=$caller
waiting "$sim/calls" --wait --all cu 101 2
driver=$caller
trace
go "$runtime" "$driver"
ends "$runtime"
ends "$driver"
untrace

for caller in "$runtime" "$driver"; do
	grep -v ready "$dir/out.$caller" | tr ' ' '|' | sort >"$dir/asked"
	sql "SELECT op, calls, CASE class WHEN 'free' THEN 0 ELSE bytes END FROM op_totals JOIN op o ON o.symbol = op
		WHERE pid = $caller" | sort >"$dir/seen"
	at_least "functions called" "$(wc -l <"$dir/asked")" 100
	diff "$dir/asked" "$dir/seen" >"$dir/diff"
	is "calls and bytes as asked" "$(cat "$dir/diff")" ""
	is "none inside another" "$(sql "SELECT count(*) FROM nested_second JOIN thread ON
		thread.id = thread JOIN process ON process.id = process WHERE pid = $caller")" 0
done

# The runtime on top of the driver: what is inside is told apart.
db=$dir/nested.db
export SIM_DRIVER=1
waiting env LD_PRELOAD="$sim/libcuda.so.1" "$sim/calls" --wait --all cuda 101 2
trace
go "$caller"
ends "$caller"
untrace
grep -v ready "$dir/out.$caller" | tr ' ' '|' | sort >"$dir/asked"
timed="class NOT IN ('launch', 'fill', 'event', 'gap')"
per_process="JOIN op ON op.id = x.op JOIN thread ON thread.id = x.thread JOIN process ON
	process.id = process WHERE pid = $caller"
# Those that the runtime hands on are looked at in the driver.
asked_timed=$(sql "SELECT symbol FROM op WHERE symbol LIKE 'cuda%' AND $timed
	UNION VALUES ('cudaMemcpyAsync'), ('cudaMemcpyAsync_ptsz')" | while read -r op; do
	sed -n "s/^$op|\([0-9]*\)|.*/\1/p" "$dir/asked"
done | awk '{ n += $1 } END { print n }')
is "outermost calls" "$(sql "SELECT sum(calls) - (SELECT sum(calls) FROM nested_second x $per_process AND $timed)
	FROM op_second x $per_process AND $timed")" "$asked_timed"
is "runtime calls inside others" "$(sql "SELECT count(*) FROM nested_second x $per_process AND
	symbol LIKE 'cuda%'")" 0
is "launches, fills and events of the runtime" "$(sql "SELECT count(*) FROM op_second x $per_process AND
	symbol LIKE 'cuda%' AND class IN ('launch', 'fill', 'event')")" 0
is "copies of the runtime that are handed on" "$(calls_of "$caller" cudaMemcpyAsync)" 0
for op in LaunchKernel LaunchKernel_ptsz EventRecord GraphLaunch MemcpyAsync MemcpyAsync_ptsz; do
	is "cu$op" "$(calls_of "$caller" "cu$op")" \
		"$(sed -n "s/^cuda$op|\([0-9]*\)|.*/\1/p" "$dir/asked")"
done

# What a struct says of a copy.
db=$dir/structs.db
unset SIM_DRIVER
waiting "$sim/calls" --wait --struct 64,3,2,1 cudaMemcpy3DAsync 7 1
callers=$caller
for way in "1,2 1" "2,1 2" "2,2 3" "1,4 4"; do
	waiting "$sim/calls" --wait --struct "100,5,${way% *}" cuMemcpy2D_v2 7 1
	callers="$callers $caller"
done
trace_with --record-all
# shellcheck disable=SC2086 # ids
go $callers
for caller in $callers; do
	ends "$caller"
done
untrace
is "directions and bytes" "$(sql "SELECT symbol, aux, bytes, count(*) FROM every_call JOIN op ON op.id = op
	JOIN thread ON thread.id = thread JOIN process ON process.id = process
	WHERE pid IN ($(echo "$callers" | tr ' ' ,)) AND class = 'copy' GROUP BY 1, 2, 3" | tr '\n' ' ')" \
	"cuMemcpy2D_v2|1|500|7 cuMemcpy2D_v2|2|500|7 cuMemcpy2D_v2|3|500|7 cuMemcpy2D_v2|4|500|7 cudaMemcpy3DAsync|1|384|7 "
