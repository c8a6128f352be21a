#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every call is counted, whatever the op, the library and the way to attach.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

count=10007 # prime: no batch size divides it

# in_mode MODE OP...: all of the ops at the same time, a process each
in_mode() {
	mode=$1
	shift
	db=$dir/$mode.db
	callers=
	for op in "$@"; do
		hold "$op" $count 3 1 n 4096 2 # for NCCL elements of 32 bits
		callers="$callers $caller"
	done
	trace_with --attach "$mode"
	# shellcheck disable=SC2086 # ids
	go $callers
	for caller in $callers; do
		ends "$caller" " $count"
	done
	untrace

	is "$mode: attach mode" "$(sql 'SELECT attach_mode FROM run')" "$mode"
	for op in "$@"; do
		caller=${callers# }
		caller=${caller%% *}
		callers=${callers#" $caller"}
		is "$mode: $op" "$(calls_of "$caller" "$op")" $count
		is "$mode: $op: threads" "$(sql "SELECT count(DISTINCT thread) FROM op_second JOIN thread ON
			thread.id = thread JOIN process ON process.id = process WHERE pid = $caller")" 3
		is "$mode: $op: returned" "$(sql "SELECT sum(done) FROM op_second JOIN op ON op.id = op
			WHERE symbol = '$op'")" $count
		check_bytes "$caller" "$op"
	done
	is "$mode: calls lost" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE
		reason IN ('no_task', 'no_tally', 'too_deep', 'no_entry', 'no_return')")" 0
}

# The size is argument 3, always the same, or argument 2, the number of the call.
check_bytes() {
	case $2 in
	*Launch*) want=0 ;;
	nccl*) want=$((count * 4096 * 4)) ;;
	*Alloc*) want=$((count * (count - 1) / 2)) ;;
	*) want=$((count * 4096)) ;;
	esac
	is "$mode: $2: bytes" "$(sql "SELECT sum(bytes) FROM op_totals WHERE pid = $1")" $want
}

in_mode session cudaLaunchKernel cudaMemcpyAsync cuLaunchKernel cuMemAlloc_v2 ncclAllReduce
in_mode multi cudaLaunchKernel cudaMemcpyAsync cuLaunchKernel cuMemAlloc_v2 ncclAllReduce
in_mode perf cudaLaunchKernel ncclAllReduce
