#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What runs is looked at 49 times a second, on the CPUs where somebody is followed: the others are left asleep.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

cpu=$(last_cpu)
[ "$cpu" -gt 0 ] || skip "one CPU only"

clock_of() { # CPU: its timer interrupts so far
	awk -v cpu="$1" '$1 == "LOC:" { print $(cpu + 2) }' /proc/interrupts
}

# rate CPU: timer interrupts a second, the least of five seconds: others have work there, too
rate() {
	for _ in 1 2 3 4 5; do
		before=$(clock_of "$1")
		sleep 1
		echo $(($(clock_of "$1") - before))
	done | sort -n | head -n 1
}

asleep=$(rate 0)
waiting taskset -c "$cpu" "$sim/storm" 12 20000
storm=$caller
trace_with --budget off
taskset -a -p -c "$cpu" "$tracer" >/dev/null # its own work is not on the CPU that is looked at
go "$storm"
sleep 3
traced=$(rate 0)
busy=$(rate "$cpu")
ends "$storm"
untrace
note "timer interrupts a second: $asleep untraced and $traced traced where nobody is followed, $busy where somebody is"
at_most "more where nobody is followed" $((traced - asleep)) 30
at_least "more where somebody is" $((busy - asleep)) 25
