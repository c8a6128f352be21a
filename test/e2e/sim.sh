#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The simulated libraries look to a probe as NVIDIA's do: no entry is single-stepped.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

for lib in libcudart.so.13 libcuda.so.1 libnccl.so.2; do
	objdump -d --no-show-raw-insn "$sim/$lib" >"$dir/code"
	nm -D --defined-only "$sim/$lib" | sed -n 's/^\([0-9a-f]*\) [TW] \(\(cu\|nccl\).*\)$/\1 \2/p' >"$dir/entries"
	at_least "$lib: entry points" "$(wc -l <"$dir/entries")" 11
	while read -r at symbol; do
		at=$(echo "$at" | sed 's/^0*//')
		grep -q "^ *$at:[[:space:]]*push  *%rbp" "$dir/code" || bad "$symbol" "$(grep "^ *$at:" "$dir/code")" 'push %rbp'
	done <"$dir/entries"
done

hold cudaMalloc 11 1
runtime=$caller
hold cuMemAlloc_v2 11 1
driver=$caller
hold ncclAllReduce 11 1
nccl=$caller
"$culprit" check --json >"$dir/check"
is "check: single-stepped" "$(jq "[.processes[] | select(.pid == $runtime or .pid == $driver or
	.pid == $nccl) | .single_stepped + .refused] | add" "$dir/check")" 0
is "check: libraries" "$(jq "[.processes[] | select(.pid == $runtime or .pid == $driver or
	.pid == $nccl)] | length" "$dir/check")" 3
trace_with --json
go "$runtime" "$driver" "$nccl"
ends "$runtime"
ends "$driver"
ends "$nccl"
untrace
is "trace: single-stepped sites" "$(tail -1 "$trace_out" | jq .single_stepped_sites)" 0
is "coverage" "$(sql "SELECT count(*), sum(stepped), sum(refused), sum(missing) FROM coverage JOIN process
	ON process.id = process WHERE pid IN ($runtime, $driver, $nccl) AND note = ''")" '3|0|0|0'
is "each op of the table has its site" "$(sql "SELECT sum(ops) FROM coverage JOIN process
	ON process.id = process WHERE pid IN ($runtime, $driver, $nccl)")" "$("$culprit" ops --json | jq length)"
