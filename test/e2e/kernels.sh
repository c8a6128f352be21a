#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every launch is counted under its kernel, with its name and the library that launches it; what cannot
# be known is not made up.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

export SIM_KERNEL_US=1 SIM_LAUNCH_US=0 SIM_DRIVER=1 SIM_INIT_MS=0
# kernels_of PID: "name library launches", by name
kernels_of() {
	sql "SELECT kernel, replace(replace(library, rtrim(library, replace(library, '/', '')), ''), ' ', ''),
		sum(launches) FROM kernel_totals WHERE pid = $1 GROUP BY 1, 2 ORDER BY 1, 2"
}

waiting "$sim/kernels" --warm 350
warm=$caller
export SIM_DRIVER=0
waiting "$sim/kernels" --plain 100
plain=$caller
export SIM_DRIVER=1
waiting "$sim/kernels_static" --warm 350
static=$caller
waiting "$sim/kernels" --warm --handles 350
handles=$caller
trace
waiting "$sim/kernels" 150
fresh=$caller
sleep 1
go "$warm" "$plain" "$fresh" "$static" "$handles"
for caller in "$plain" "$fresh" "$warm" "$static" "$handles"; do
	ends "$caller"
done
untrace

is "started before: by symbol and pairing, or not at all" "$(kernels_of "$warm" | tr '\n' ' ')" \
	"|kernels|700 |libcublasLt.so.13|1750 at::native::relu|kernels|1050 axpy_kernel|kernels|2450 "
is "started after: by look-ups of the driver" "$(kernels_of "$fresh" | tr '\n' ' ')" \
	"|libcublasLt.so.13|150 at::native::relu|kernels|450 axpy_kernel|kernels|1050 gemm_128x128_tn|libcublasLt.so.13|600 triton_poi_fused_add_0|kernels|300 "
is "the runtime linked in" "$(kernels_of "$static" | tr '\n' ' ')" \
	"|kernels_static|700 |libcublasLt.so.13|1750 at::native::relu|kernels_static|1050 axpy_kernel|kernels_static|2450 "
is "by handle: the kernel of a stub, and of nothing else" "$(kernels_of "$handles" | tr '\n' ' ')" \
	"|kernels|350 at::gelu|kernels|700 at::native::softmax<4>|kernels|1050 "
is "... and its coverage" "$(sql "SELECT count(*) FROM coverage JOIN process ON process.id = process
	JOIN string ON string.id = library WHERE pid = $static AND text LIKE '%kernels_static' AND ops > 100")" 1
is "without a driver" "$(kernels_of "$plain" | tr '\n' ' ')" \
	"at::native::relu|kernels|300 axpy_kernel|kernels|700 "
is "each launch has its kernel" "$(sql "SELECT sum(launches) FROM kernel_totals WHERE
	pid IN ($warm, $fresh, $plain, $static)")" "$(sql "SELECT sum(calls) FROM op_totals JOIN op ON op.symbol = op
	WHERE class = 'launch' AND pid IN ($warm, $fresh, $plain, $static)")"
is "how the names are known" "$(sql "SELECT group_concat(DISTINCT source) FROM (SELECT source FROM kernel
	JOIN process ON process.id = process WHERE pid = $fresh AND source <> '' ORDER BY source)")" \
	"library,module"
is "... and before" "$(sql "SELECT group_concat(DISTINCT source) FROM kernel
	JOIN process ON process.id = process WHERE pid = $warm AND source <> ''")" symbol
is "... and by handle" "$(sql "SELECT group_concat(DISTINCT source) FROM kernel
	JOIN process ON process.id = process WHERE pid = $handles AND source <> ''")" stub
is "no cell was missing" "$(sql "SELECT count(*) FROM loss WHERE reason LIKE 'no_kernel%'")" 0

"$culprit" explain --db "$db" --pid "$fresh" --per-process >"$dir/said"
has "explain: libraries" "$dir/said" "launches: 71 % kernels, 29 % libcublasLt; 94.1 % of 2,550 have a kernel's name"
has "explain: the most frequent one" "$dir/said" "axpy_kernel"
is "as JSON" "$("$culprit" explain --db "$db" --pid "$fresh" --json |
	jq -c '.processes[0].kernels | [.launches, .named, .by_kernel[0].name, .by_library[1].name]')" \
	'[2550,2400,"axpy_kernel","libcublasLt"]'

# Started before, and in a storm, whose launches are seen for a small part of the time.
export SIM_KERNEL_US=0 SIM_LAUNCH_US=2
waiting "$sim/kernels" --warm --storm 10000000
storm=$caller
go "$storm"
budget=1
trace
named() {
	[ "$(sql "SELECT count(*) FROM kernel_totals WHERE pid = $storm AND kernel IN ('axpy_kernel', 'at::native::relu')
		AND library LIKE '%/kernels'")" -eq 2 ]
}
soon 60 named || die "the kernels of a storm have no names: $(kernels_of "$storm" | tr '\n' ' ')"
untrace
stop "$storm"
at_least "launches that were not looked at meanwhile" "$(sql "SELECT sum(calls) FROM shed WHERE what = 'launches'")" 1000
