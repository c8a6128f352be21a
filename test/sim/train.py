#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop as most are: load a batch, copy it in, forward, backward, optimizer, loss."""
import argparse
import ctypes
import json
import time

import simgpu


def load_batch(samples=32):
    return [sum(i * i % 7 for i in range(2400)) for _ in range(samples)]


def train_step(gpu, layers=16, pageable=False):
    batch = load_batch()
    if pageable:
        gpu.set("pageable", True)
        gpu.copy_to_device(len(batch) * 1_000_000)
        gpu.set("pageable", False)
    else:
        gpu.copy_to_device(len(batch) * 100_000)
    gpu.launch(layers)  # forward
    gpu.launch(2 * layers)  # backward
    gpu.launch(layers // 2)  # optimizer
    gpu.copy_to_host(4)
    gpu.sync(stream=0)  # loss.item()


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--steps", type=int, default=300)
options.add_argument("--seconds", type=float, help="run this long instead of --steps")
options.add_argument("--kernel-us", type=float, default=90)
options.add_argument("--sync", choices=("spin", "block"), default="spin")
options.add_argument("--pageable-after", type=float, default=0, help="seconds")
options.add_argument("--pageable-for", type=float, default=0, help="seconds of larger batches, not pinned")
options.add_argument("--cold", help="kernels to load first; the simulated GPU has its own knob for that")
options.add_argument("--name", default="", help="of the process")
o = options.parse_args()
if o.name:
    ctypes.CDLL(None).prctl(15, o.name.encode(), 0, 0, 0)  # PR_SET_NAME
gpu = simgpu.Gpu(kernel_us=o.kernel_us, sync=o.sync)
ends = [time.monotonic()]
while ends[-1] - ends[0] < o.seconds if o.seconds else len(ends) <= max(o.steps, 1):
    age = ends[-1] - ends[0]
    train_step(gpu, pageable=o.pageable_after <= age < o.pageable_after + o.pageable_for)
    ends.append(time.monotonic())

wall = ends[-1] - ends[0]
ms = sorted(round(1e3 * (end - start), 3) for start, end in zip(ends, ends[1:]))
print("%.1f steps/s" % (len(ms) / wall))
print(json.dumps({"steps": len(ms), "wall_s": round(wall, 4),
                  "median_step_ms": ms[len(ms) // 2], "p99_step_ms": ms[len(ms) * 99 // 100]}))
