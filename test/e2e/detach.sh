#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tracer leaves within 100 ms on a quiet machine, the traced process does not notice, nothing stays behind.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

count=400009
# How long a disk takes is its own affair.
shm=$(mktemp -d -p /dev/shm) || exit 1
undo="rm -rf $shm"

# leave SIGNAL: trace a caller that calls without a pause, stop in the middle of it: $ms
leave() {
	serial=$((serial + 1))
	db=$shm/$serial.db
	hold cudaMemcpyAsync $count 1
	trace_with --attach session
	go "$caller"
	sleep 0.3
	bpf_ids "$tracer" >>"$dir/ids"
	start=$(now_ns)
	kill -"$1" "$tracer"
	reap "$tracer"
	ms=$((($(now_ns) - start) / 1000000))
	is "exit after SIG$1" "$status_of" 0
	alive "$caller" || die "the caller ended before the tracer: make it longer"
	ends "$caller" "cudaMemcpyAsync $count"
	at_least "calls seen before that" "$(calls_of "$caller" cudaMemcpyAsync)" 1
	is "the run has an end" "$(sql 'SELECT end_ns > start_ns FROM run')" 1
}

# It takes two grace periods of the kernel, 90 ms on a quiet machine; others on it can only make that
# longer, so the best of some medians is the tracer's own, and on a machine that is busy all the time
# it may be a third more.
best=1000000
for try in 1 2 3 4 5; do
	times=
	for signal in INT TERM INT TERM INT TERM INT; do
		leave $signal
		times="$times $ms"
	done
	note "ms from signal to exit, try $try:$times"
	# shellcheck disable=SC2086 # a list
	median=$(printf '%s\n' $times | sort -n | sed -n 4p)
	[ "$median" -ge "$best" ] || best=$median
	[ "$best" -gt 100 ] || break
done
[ "$best" -le 100 ] || note "more than 100 ms: $best"
at_most "median ms" "$best" 133
at_least "programs and links there were" "$(sort -u "$dir/ids" | wc -l)" 14
if soon 5 bpf_gone "$dir/ids"; then good "programs and links left" 0; else bad "programs" "some left" none; fi
