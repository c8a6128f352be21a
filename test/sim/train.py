#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop as most are: load a batch, copy it in, forward, backward, optimizer, loss."""
import argparse
import json
import time

import simgpu


def load_batch(samples=32):
    return [sum(i * i % 7 for i in range(2400)) for _ in range(samples)]


def train_step(gpu, layers=16):
    gpu.copy_to_device(len(load_batch()) * 100_000)
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
o = options.parse_args()
gpu = simgpu.Gpu(kernel_us=o.kernel_us, sync=o.sync)
ends = [time.monotonic()]
while ends[-1] - ends[0] < o.seconds if o.seconds else len(ends) <= max(o.steps, 1):
    train_step(gpu)
    ends.append(time.monotonic())

wall = ends[-1] - ends[0]
ms = sorted(round(1e3 * (end - start), 3) for start, end in zip(ends, ends[1:]))
print("%.1f steps/s" % (len(ms) / wall))
print(json.dumps({"steps": len(ms), "wall_s": round(wall, 4),
                  "median_step_ms": ms[len(ms) // 2], "p99_step_ms": ms[len(ms) * 99 // 100]}))
