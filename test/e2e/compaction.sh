#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A thread that has to move memory for itself: how often, how long, and whose time it was.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

[ -w /proc/sys/vm/compact_memory ] || skip "this kernel does not compact on demand"
trace_with --record-all --ring 64m
# Memory in pieces of which every second one is free, so that there is something to move.
cat >"$dir/compact.py" <<'EOT'
import ctypes
import mmap
import os
import time

import simgpu

PAIR, PAGE = 2 * mmap.PAGESIZE, mmap.PAGESIZE
gpu = simgpu.Gpu(kernel_us=20)
memory = mmap.mmap(-1, 64 << 20)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
memory.madvise(15)  # MADV_NOHUGEPAGE
ctypes.memset(address, 1, 64 << 20)
for at in range(0, 64 << 20, PAIR):
    memory.madvise(mmap.MADV_DONTNEED, at, PAGE)


def quick():
    for _ in range(40):
        gpu.launch(2)
        gpu.sync(stream=0)


time.sleep(1)
quick()
start = time.time_ns()
# A write of the thread itself: it compacts all zones before it returns.
fd = os.open("/proc/sys/vm/compact_memory", os.O_WRONLY)
os.write(fd, b"1")
os.close(fd)
end = time.time_ns()
quick()
print(os.getpid(), start, end)
EOT
"$python" "$dir/compact.py" >"$dir/truth" || die "the loop failed"
sleep 1
untrace
read -r pid start end <"$dir/truth"
echo "compacted for $(((end - start) / 1000)) us"

of="FROM host_event WHERE event = 'compaction' AND pid = $pid"
at_least "compactions of the thread" "$(sql "SELECT ifnull(sum(count), 0) $of")" 1
is "of nobody else's" "$(sql "SELECT count(*) FROM host_event WHERE event = 'compaction' AND
	pid <> $pid AND comm = (SELECT comm $of LIMIT 1)")" 0
is "compactions have a length" "$(sql "SELECT count(*) $of AND ns <= 0")" 0
is "compactions have their time" "$(sql "SELECT count(*) $of AND
	(first_ns < $start OR at_ns > $end + 1000000 OR first_ns > at_ns)")" 0
at_most "they took no longer than the write, ns" "$(sql "SELECT sum(ns) $of")" $((end - start))
at_least "and most of it, ns" "$(sql "SELECT sum(ns) $of")" $(((end - start) / 4))

# In the split of the gap it is time for memory, but for what others took of it.
gap="FROM every_call JOIN op ON op.id = op JOIN thread ON thread.id = thread WHERE class = 'gap' AND
	tid = $pid AND start_ns < $end AND start_ns + dur_ns > $start ORDER BY dur_ns DESC LIMIT 1"
at_least "of the gap, ns" "$(sql "SELECT reclaim_ns + reclaim_wait_ns $gap")" 1000
at_least "and with the wait for a CPU, ns" "$(sql "SELECT reclaim_ns + reclaim_wait_ns + preempted_ns +
	wake_ns + steal_ns + irq_ns $gap")" $(((end - start) / 2))
