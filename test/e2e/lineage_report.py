# SPDX-License-Identifier: Apache-2.0
"""A training loop that reads its samples, from a disk or from memory, or writes checkpoints: WHICH FOLDER SECONDS."""
import os
import sys
import time

import simgpu

which, folder, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
gpu = simgpu.Gpu(kernel_us=60, sync="block")
BYTES = 256 << 10


def read_sample(n):
    fd = os.open("%s/shard.%d" % (folder, n % 8), os.O_RDONLY)
    if which == "read":
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    data = os.read(fd, BYTES)
    os.close(fd)
    return data


def save(n):
    with open("%s/step%d.pt" % (folder, n), "wb") as file:
        file.write(b"x" * (2 << 20))
        file.flush()
        os.fsync(file.fileno())


end, n = time.monotonic() + seconds, 0
while time.monotonic() < end:
    if which in ("read", "cached") and n % 10 == 0:
        read_sample(n // 10)
    if which == "write" and n % 40 == 0:
        save(n)
    gpu.copy_to_device(100000)
    gpu.launch(40)
    gpu.sync(stream=0)
    n += 1
print(n, "steps")
