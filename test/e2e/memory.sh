#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a process has from CUDA: each allocation once, what failed, what could not be freed, what was there
# before; and the line of the allocation that failed.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$dir/memory.py" <<'END'
import ctypes, sys, time
import simgpu

MIB = 1 << 20
gpu = simgpu.Gpu(alloc_us=0)
early = gpu.malloc(3 * MIB)


def call(name, *args):
    return gpu._bind(gpu._runtime, name, len(args))(*args)


def allocate(name, nbytes, *more):
    address = ctypes.c_long()
    call(name, ctypes.addressof(address), nbytes, *more)
    return address.value


def big_batch():
    return gpu.malloc(4096 * MIB)


print("ready", flush=True)
sys.stdin.readline()
gpu.free(early)
blocks = [gpu.malloc(MIB) for _ in range(100)]
for block in blocks[40:]:
    gpu.free(block)
call("cudaSetDevice", 1)
for _ in range(3):
    gpu.malloc(5 * MIB)
allocate("cudaHostAlloc", 8 * MIB, 0)
call("cudaHostRegister", 0x7000000, 2 * MIB, 0)
call("cudaHostUnregister", 0x7000000)
pool = [allocate("cudaMallocAsync", MIB, 0) for _ in range(10)]
for block in pool:
    call("cudaFreeAsync", block, 0)
gpu.set("fail", "cudaMalloc:1:2")
try:
    big_batch()
except simgpu.GpuError:
    pass
gpu.free(blocks[39])
gpu.set("fail", "cudaFree:1:700")
try:
    gpu.free(blocks[38])
except simgpu.GpuError:
    pass
gpu.set("fail", "")
gpu.free(big_batch())
time.sleep(1.2)
END
# balance PID KIND: device, bytes now and at most, allocations, frees, failed, retried, of others
balance() {
	sql "SELECT device, current / 1048576, high / 1048576, allocs, frees, failed, retried, strangers
		FROM memory_second m JOIN process ON process.id = process WHERE pid = $1 AND kind = '$2' AND
		at_ns = (SELECT max(at_ns) FROM memory_second b WHERE b.process = m.process AND b.kind = m.kind
		AND b.device = m.device) ORDER BY device" | tr '\n' ' '
}

check() {
	is "$1: device memory" "$(balance "$caller" device)" "-1|39|100|100|61|0|0|1 1|15|4111|4|1|1|1|0 "
	is "$1: pinned memory" "$(balance "$caller" pinned)" "-1|8|8|1|0|0|0|0 "
	is "$1: registered memory" "$(balance "$caller" registered)" "-1|0|2|1|1|0|0|0 "
	is "$1: memory from a pool" "$(balance "$caller" pool)" "1|0|10|10|10|0|0|0 "
}

waiting "$python" "$dir/memory.py"
trace
go "$caller"
ends "$caller"
untrace
check "runtime alone"
line=$(grep -n '_check(self._malloc' "$sim/simgpu.py" | cut -d: -f1)
"$culprit" explain --db "$db" --pid "$caller" >"$dir/said"
has "explain: what is left" "$dir/said" "memory: device memory: 39 MiB now, 100 MiB at most, 100 allocations"
has "explain: of the other device" "$dir/said" "memory: device memory of GPU 1: 15 MiB now"
has "explain: what failed" "$dir/said" "1 failed, the last of 4 GiB, 1 went well after frees"
has "explain: where" "$dir/said" "last failure: cudaMalloc of 4 GiB, error 2, Gpu.malloc() at simgpu.py:$line"
is "as JSON" "$("$culprit" explain --db "$db" --pid "$caller" --json | jq -c '.processes[0] |
	[.failed_allocation.line, ([.memory[] | select(.kind == "device")] | length)]')" "[$line,2]"

db=$dir/nested.db
export SIM_DRIVER=1
waiting env LD_PRELOAD="$sim/libcuda.so.1" "$python" "$dir/memory.py"
trace
go "$caller"
ends "$caller"
untrace
check "runtime and driver"
at_least "driver calls inside" "$(calls_of "$caller" cuMemAlloc_v2)" 100
is "no allocation was missed" "$(sql "SELECT count(*) FROM loss WHERE reason = 'no_alloc'")" 0
