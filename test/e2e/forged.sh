#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A process that forges an interpreter: the tracer neither crashes nor hangs nor grows, others are
# traced as ever, and what is printed stays clean.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

calls=200003
waiting "$build/sim/forge" "$sim/libcudart.so.13" $calls
forge=$caller
hold cudaMalloc 10007 3
honest=$caller
trace_with --record-all --ring 64m
go "$forge" "$honest"
ends "$honest" 'cudaMalloc 10007'
ends "$forge" "calls $calls failed 0"
rss=$(awk '/VmHWM/ { print $2 }' "/proc/$tracer/status")
untrace
at_most "the tracer's memory, kB" "$rss" 262144
is "its calls" "$(calls_of "$forge" cudaEventSynchronize)" $calls
is "others are traced" "$(calls_of "$honest" cudaMalloc)" 10007
at_least "forged stacks told" "$(sql "SELECT count(DISTINCT stack) FROM every_call JOIN thread
	ON thread.id = every_call.thread JOIN process ON process.id = process WHERE pid = $forge")" 2
"$culprit" explain --db "$db" --full-stack >"$dir/explain.txt" 2>&1
