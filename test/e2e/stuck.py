#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A loop whose child sends it each batch, and then no more.

usage: stuck.py ROUNDS
"""
import os
import sys
import time

import simgpu

gpu = simgpu.Gpu(kernel_us=500)
rounds = int(sys.argv[1])
batches, send = os.pipe()
begin, begun = os.pipe()
if os.fork() == 0:
    with open("/proc/self/comm", "w") as comm:
        comm.write("stuck-loader")
    os.read(begin, 1)
    for _ in range(rounds):
        time.sleep(0.015)
        os.write(send, b"x")
    time.sleep(1000)  # a lock, a lost server: it never comes back
    os._exit(0)
print("ready", flush=True)
sys.stdin.readline()
os.write(begun, b"x")
for i in range(rounds + 1):
    os.read(batches, 1)
    gpu.launch(8)
    gpu.sync()
