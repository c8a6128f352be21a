#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Launches in a row are counted from a place of their own: nothing of their time, their number or their kernel gets
# lost, whatever ends the row. Two storms share one CPU, so that it is taken away in the middle of rows.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

export SIM_LAUNCH_US=1 SIM_KERNEL_US=0
cpu=$(last_cpu)

# ---- whatever ends a row

waiting taskset -c "$cpu" "$sim/storm" --uneven 2 0 1 20000
first=$caller
waiting taskset -c "$cpu" "$sim/storm" 2 0 1 3000
second=$caller
trace_with --budget off
go "$first" "$second"
ends "$first"
ends "$second"
untrace

states=$(sql "SELECT group_concat(name, '+') FROM pragma_table_info('op_second')
	WHERE name LIKE '%\_ns' ESCAPE '\\' AND name NOT IN ('at_ns', 'total_ns', 'max_ns', 'kernel_ns')")

# of PID COLUMNS CLASS
of() {
	sql "SELECT $2 FROM op_second JOIN op ON op.id = op JOIN thread ON thread.id = thread
		JOIN process ON process.id = process WHERE pid = $1 AND class = '$3'"
}

for caller in $first $second; do
	launched=$(sed -n 's/^total //p' "$dir/out.$caller" | tail -n 1)
	note "$launched launches"
	at_least "launches" "$launched" 20000
	is "each is counted" "$(of "$caller" 'sum(calls)' launch)" "$launched"
	is "each is of its kernel" "$(sql "SELECT sum(launches) FROM kernel_second JOIN kernel ON kernel.id = kernel
		JOIN process ON process.id = process WHERE pid = $caller")" "$launched"
	is "as many gaps as calls, but one" "$(of "$caller" 'sum(calls)' gap)" \
		"$(($(of "$caller" 'sum(calls)' launch) + $(of "$caller" 'sum(calls)' sync) - 1))"
	is "the states of the gaps are their time" "$(of "$caller" "sum($states) - sum(total_ns)" gap)" 0
	# The storm runs for three seconds by its own clock; what comes before its first call is not seen.
	near "gaps and calls are its time, in ms" \
		"$(($(sql "SELECT sum($states) FROM op_second JOIN thread ON thread.id = thread
		JOIN process ON process.id = process WHERE pid = $caller") / 1000000))" 3000 2
	at_least "it waited for the CPU, in ms" "$(($(of "$caller" 'sum(preempted_ns)' gap) / 1000000))" 300
done
is "lost" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason IN ('no_tally', 'no_kernel', 'no_tape', 'no_entry')")" 0

# ---- two functions in turn, many kernels, two streams, fills in between; each launch is timed, too

# Launches by the two functions and by kernel, as they should be of $launched and $kernels
counts() {
	is "extended launches" "$(sql "SELECT sum(calls) FROM op_second JOIN op ON op.id = op WHERE symbol = 'cuLaunchKernelEx'")" \
		$(((launched + 6) / 7))
	is "others" "$(sql "SELECT sum(calls) FROM op_second JOIN op ON op.id = op WHERE symbol = 'cuLaunchKernel'")" \
		$((launched - (launched + 6) / 7))
	is "fills, and their bytes" "$(sql "SELECT sum(calls) || ' ' || sum(bytes) FROM op_second JOIN op ON op.id = op WHERE class = 'fill'")" \
		"$fills $((fills * 4096))"
	is "kernels" "$(sql "SELECT count(*) FROM kernel WHERE handle % 16 = 0 AND handle BETWEEN 16 AND 16 * $kernels")" "$kernels"
	is "each has its launches" "$(sql "SELECT count(*) FROM (SELECT handle, sum(launches) AS n FROM kernel_second
		JOIN kernel ON kernel.id = kernel GROUP BY handle)
		WHERE n <> ($launched - handle / 16 + $kernels) / $kernels")" 0
	is "each has its caller" "$(sql "SELECT count(*) FROM kernel JOIN string ON string.id = library WHERE text = ''")" 0
	is "lost" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason IN ('no_tally', 'no_kernel', 'no_tape', 'no_entry')")" 0
}

# How many launches were timed: their histograms are pairs of numbers, seven bits a byte.
timed() {
	sql "SELECT hex(hist) FROM op_second JOIN op ON op.id = op WHERE class = 'launch'" | python3 -c '
import sys
total = 0
for line in sys.stdin:
    numbers, part, shift = [], 0, 0
    for byte in bytes.fromhex(line.strip()):
        part |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(part)
            part = shift = 0
    total += sum(numbers[1::2])
print(total)'
}

# Of 701 kernels most find no place in the row itself.
for option in --budget=off --launch-times many; do
	db=$dir/mixed$option.db
	storm=--mixed kernels=37
	[ "$option" != many ] || storm=--many kernels=701 option=--budget=off
	waiting "$sim/storm" "$storm" 1 0 1 20000
	trace_with --pid "$caller" --budget off "$option"
	go "$caller"
	ends "$caller"
	untrace
	launched=$(sed -n 's/^total //p' "$dir/out.$caller" | tail -n 1)
	fills=$(((launched + 100) / 101))
	note "$launched launches, $storm, $option"
	counts
	is "timed" "$(timed)" "$([ "$option" = --launch-times ] && echo "$launched" || echo 0)"
	is "gaps" "$(of "$caller" 'sum(calls)' gap)" \
		"$((launched + fills + $(of "$caller" 'sum(calls)' sync) - 1))"
	is "the states of the gaps are their time" "$(of "$caller" "sum($states) - sum(total_ns)" gap)" 0
done
