#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What GPUs say of themselves is stored and shown; a throttled one is found if it costs time, and only
# then; a library that is not there, crashes, hangs, lies or scribbles costs its samples, nothing else.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

lib=$dir/libnvidia-ml.so.1
cp "$sim/libnvidia-ml.so.1" "$lib"

# gpu_says [LINE...]: from now on; see test/sim/nvml.c
gpu_says() {
	printf '%s\n' "$@" >"$lib.new"
	mv "$lib.new" "$lib.conf"
}

cat >"$dir/loop.py" <<'PY'
import os, sys, time
import simgpu
slow, seconds = sys.argv[1], float(sys.argv[2])
gpu = simgpu.Gpu(kernel_us=60)
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + seconds
n = 0
while time.monotonic() < end:
    gpu.set("kernel_us", 120 if os.path.exists(slow) else 60)
    gpu.launch(40)
    gpu.sync(stream=0)
    n += 40
print("cudaLaunchKernel", n)
PY

# looping SECONDS: the loop above, at work: $caller
looping() {
	waiting "$python" "$dir/loop.py" "$dir/slow" "$1"
}

# counted PID: not one of its launches is missing; the tracer has stopped
counted() {
	is "launches" "cudaLaunchKernel $(calls_of "$1" cudaLaunchKernel)" "$(tail -1 "$dir/out.$1")"
}

# helper_of PID: the program that asks NVML
helper_of() {
	for p in /proc/[0-9]*; do
		if [ "$(cat "$p/comm" 2>/dev/null)" = culprit-nvml ] &&
			[ "$(sed 's/.*) //' "$p/stat" | cut -d ' ' -f 2)" = "$1" ]; then
			basename "$p"
		fi
	done
}

echo "== no library is normal"
runs "check without NVML" 0 "$culprit" check --nvml "$dir/none.so"
has "check" "$dir/out" "no NVML: cannot be loaded"
runs "a relative path is refused" 2 "$culprit" trace --nvml x.so --duration 1 --db "$dir/no.db"

echo "== values"
gpu_says "util 21" "sm_active 8.5" "tensor 0.2" "dram 0.6" "sm_mhz 345" "sm_max_mhz 1980" \
	"power_mw 120000" "temp 35" "reasons 1" "replays 7" "mem_mhz -" "ecc_corrected -"
runs "check with NVML" 0 "$culprit" check --nvml "$lib"
has "check" "$dir/out" "driver 580.0.sim, 1 GPU"

looping 10
gpu_says "sm_mhz 1980" "pids $caller:5000000000"
trace_with --nvml "$lib" --pid "$caller"
go "$caller"
helper=$(helper_of "$tracer")
is "one helper" "$(echo "$helper" | wc -w)" 1
is "its priority" "$(sed 's/.*) //' "/proc/$helper/stat" | cut -d ' ' -f 17)" 19
is "its environment" "$(tr '\0' '\n' <"/proc/$helper/environ" | wc -l)" 0
at_most "its descriptors" "$(find "/proc/$helper/fd" -mindepth 1 | wc -l)" 5
sleep 3.2
: >"$dir/slow"
gpu_says "sm_mhz 990" "reasons 72" "temp 91" "power_mw 412000" "pids $caller:5000000000"
sleep 4
rm "$dir/slow"
gpu_says "sm_mhz 1980" "pids $caller:5000000000"
sleep 1.2
ends "$caller"
untrace
counted "$caller"
is "the helper ends with the tracer" "$(helper_of "$tracer")$([ -e "/proc/$helper" ] && echo "$helper")" ""
"$culprit" explain --db "$db" --json >"$dir/json"
findings_of "$caller" | jq -c 'map(select(.cause != "cpu-contention"))' >"$dir/found" # a busy machine
is "cause" "$(jq -c '[.[].cause]' "$dir/found")" '["gpu-throttled"]'
is "evidence" "$(jq -r '.[0].evidence.class' "$dir/found")" observed
"$culprit" explain --db "$db" >"$dir/text"
has "title" "$dir/text" "too hot (hardware slowdown)"
has "object" "$dir/text" "gpu 0 at 00000000:1B:00.0, 91 C, 412 of 700 W"
has "the GPU's line" "$dir/text" "GPU 0 Simulated GPU: utilisation 21 %, SMs active 8.5 %, tensor cores 0.2 %, DRAM 0.6 %"
# Half of the time of each step, less where others take the CPU meanwhile: the lab knows the truth.
at_least "lost, percent of the time" "$(jq '.[0].lost_pct | floor' "$dir/found")" 10
at_most "lost, percent of the time" "$(jq '.[0].lost_pct | floor' "$dir/found")" 52
is "who is on it" "$(sql "SELECT count(*), max(mem_used) FROM gpu_process WHERE pid = $caller")" "1|5000000000"
at_least "samples" "$(sql 'SELECT count(*) FROM gpu_second')" 8
is "throttled" "$(jq -r '.gpus[0].throttled_by' "$dir/json")" "too hot (hardware slowdown)"

echo "== as hot and as slow by its clocks, but no time is lost; what it does not tell is not known"
db=$dir/same.db
looping 7
gpu_says "sm_mhz 1980" "pids $caller:1"
trace_with --nvml "$lib" --pid "$caller"
go "$caller"
sleep 2.5
gpu_says "sm_mhz 990" "reasons 32" "temp 91" "ecc_corrected -" "util -" "pids $caller:-"
ends "$caller"
untrace
counted "$caller"
is "findings" "$(findings_of "$caller" | jq -c '[.[].cause] - ["cpu-contention"]')" "[]"
is "the last sample" "$(sql 'SELECT util_pct IS NULL, ecc_corrected IS NULL, ecc_uncorrected, temp_c
	FROM gpu_second ORDER BY at_ns DESC LIMIT 1')" "1|1|0|91"

# bad MODE SECONDS WORDS: the library does that; the loop is counted all the same.
bad_library() {
	echo "== a library that does this: $1"
	db=$dir/$1.db
	looping "$2"
	gpu_says "mode $1"
	trace_with --nvml "$lib" --pid "$caller"
	go "$caller"
	ends "$caller"
	left=$(helper_of "$tracer")
	untrace
	counted "$caller"
	has "$1" "$trace_out" "$3"
	for pid in $left; do
		soon 5 gone "$pid" || bad "helper of $1" "$pid" "to be gone"
	done
}
bad_library crash 3 "its helper died"
bad_library scribble 3 "talked nonsense"
bad_library lies 3 "NVML: driver"
is "lies are not stored" "$(sql 'SELECT count(*), count(util_pct), count(temp_c), count(power_w), count(sm_active_pct)
	FROM gpu_second' | sed 's/^[1-9][0-9]*/some/')" "some|0|0|0|0"
has_not "no escapes" "$trace_out" "$(printf '\033')"

echo "== a library that hangs in the middle"
db=$dir/hang.db
looping 15
gpu_says "sm_mhz 1980"
trace_with --nvml "$lib" --pid "$caller"
go "$caller"
sleep 1.5
hung=$(helper_of "$tracer")
gpu_says "mode hang"
soon 14 gone "$hung" || bad "hung helper" "$hung" "to be ended"
gpu_says "sm_mhz 1111"
ends "$caller"
untrace
counted "$caller"
has "hang" "$trace_out" "hung 1"
is "samples again" "$(sql 'SELECT sm_mhz FROM gpu_second ORDER BY at_ns DESC LIMIT 1')" 1111

echo "== nobody asks; what somebody writes into the kernel's log is not the kernel's word"
db=$dir/off.db
trace_with --nvml "$lib" --gpu-samples=false --pid $$
is "no helper" "$(helper_of "$tracer")" ""
if [ -w /dev/kmsg ]; then
	echo '<0>NVRM: Xid (PCI:0000:1b:00): 79, pid=1, name=init, GPU has fallen off the bus.' >/dev/kmsg
	sleep 1.5
else
	note "/dev/kmsg cannot be written here"
fi
untrace
is "no samples" "$(sql 'SELECT count(*) FROM gpu')" 0
is "forged errors" "$(sql 'SELECT count(*) FROM gpu_error')" 0

echo "== nobody is left when the tracer is killed"
db=$dir/killed.db
trace_with --nvml "$lib" --pid $$
helper=$(helper_of "$tracer")
at_least "a helper" "${helper:-0}" 1
kill -KILL "$tracer"
soon 5 gone "$helper" || bad "helper" "$helper" "to be gone with the tracer"
