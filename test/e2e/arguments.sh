#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Arguments from registers and stack, values handed out, and errors, call by call.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

# rows OP EXPRESSION: over the single calls of that op
rows() {
	sql "SELECT $2 FROM every_call JOIN op ON op.id = op WHERE symbol = '$1'"
}

# one SYMBOL COUNT ARG...: one of those that are traced together
one() {
	symbol=$1 number=$2
	shift 2
	hold "$symbol" "$number" 2 "$@"
	callers="$callers $caller"
}

count=1009
sum=$((count * (count - 1) / 2))
callers=
one ncclAllReduce $count 1 2 n 4 5 0x7fffffff12345678 -2
one ncclReduce $count 1 2 3 4 5 6 n 0x123456789abc
one cuLaunchKernel $count 0x7f1234567890 2 3 4 5 6 7 8 n
one cudaLaunchKernel $count 4096 2 3 4 5 6 7 n
one cudaMemcpyAsync $count 1 2 0x100000001 n 5
export SIM_FAIL=cudaMalloc:7:2,cudaStreamSynchronize:3:700
one cudaMalloc $count 1 n
one cudaStreamSynchronize $count 77
trace_with --record-all --ring 64m
# shellcheck disable=SC2086 # ids
go $callers
for caller in $callers; do
	ends "$caller"
done
untrace
is "nothing dropped" "$(sql 'SELECT sum(dropped) FROM account')" 0

is "ncclAllReduce: stream, argument 7" "$(rows ncclAllReduce 'count(*), min(stream), max(stream)')" "$count|-2|-2"
is "ncclAllReduce: communicator, argument 6" "$(rows ncclAllReduce 'min(aux), max(aux)')" \
	"$((0x7fffffff12345678))|$((0x7fffffff12345678))"
is "ncclAllReduce: bytes" "$(rows ncclAllReduce 'count(DISTINCT bytes), sum(bytes)')" "$count|$((8 * sum))"
is "ncclReduce: communicator, argument 7" "$(rows ncclReduce 'count(DISTINCT aux), sum(aux)')" "$count|$sum"
is "ncclReduce: stream, argument 8" "$(rows ncclReduce 'min(stream), max(stream)')" \
	"$((0x123456789abc))|$((0x123456789abc))"
is "cuLaunchKernel: stream, argument 9" "$(rows cuLaunchKernel 'count(DISTINCT stream), sum(stream)')" \
	"$count|$sum"
is "cuLaunchKernel: kernel, argument 1" "$(rows cuLaunchKernel 'min(aux), max(aux)')" \
	"$((0x7f1234567890))|$((0x7f1234567890))"
is "cudaLaunchKernel: stream, argument 8" "$(rows cudaLaunchKernel 'count(DISTINCT stream), sum(stream)')" \
	"$count|$sum"
is "cudaMemcpyAsync: size" "$(rows cudaMemcpyAsync 'min(bytes), max(bytes)')" "4294967297|4294967297"
is "cudaMemcpyAsync: kind, argument 4" "$(rows cudaMemcpyAsync 'count(DISTINCT aux), sum(aux)')" "$count|$sum"
is "cudaMemcpyAsync: stream, argument 5" "$(rows cudaMemcpyAsync 'min(stream), max(stream)')" "5|5"

is "cudaMalloc: every seventh fails" "$(rows cudaMalloc 'sum(ret = 2), sum(ret = 0), count(*)')" \
	"144|865|$count"
is "cudaMalloc: addresses are distinct" "$(sql "SELECT count(DISTINCT out), min(out) > 0 FROM every_call
	JOIN op ON op.id = op WHERE symbol = 'cudaMalloc' AND ret = 0")" "865|1"
is "cudaMalloc: sizes" "$(rows cudaMalloc 'sum(bytes)')" "$sum"
is "cudaMalloc: errors counted" "$(sql "SELECT errors FROM op_totals WHERE op = 'cudaMalloc'")" 144
is "cudaStreamSynchronize: errors" "$(rows cudaStreamSynchronize 'sum(ret = 700), sum(ret = 0)')" "336|673"
is "cudaStreamSynchronize: failed calls say so" \
	"$(rows cudaStreamSynchronize 'min((because & 16 > 0) = (ret > 0) OR ret > 0)')" 1
is "cudaStreamSynchronize: stream" "$(rows cudaStreamSynchronize 'min(stream), max(stream)')" "77|77"
