# SPDX-License-Identifier: Apache-2.0
"""Two tenants of one disk: `train` trains and saves a little now and then, `dump` writes all it can."""
import mmap
import os
import sys
import time

role, path = sys.argv[1:3]
if role == "train":
    import simgpu

    gpu = simgpu.Gpu(kernel_us=90, sync="block")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    print("ready", flush=True)
    step = 0
    while True:
        gpu.launch(8)
        gpu.sync(stream=0)
        time.sleep(0.002)
        step += 1
        if step % 40 == 0:
            os.pwrite(fd, os.urandom(64 << 10), 0)
            os.fsync(fd)
else:
    open("/proc/self/comm", "w").write("checkpointer")
    block = mmap.mmap(-1, 1 << 20)
    block.write(os.urandom(1 << 20))
    for _ in range(3):  # several at once, so that there is always a queue
        if os.fork() == 0:
            break
    fd = os.open(path + str(os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
    print("ready", flush=True)
    at = 0
    while True:
        os.pwrite(fd, block, at % (8 << 20))
        at += 1 << 20
