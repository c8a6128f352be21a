#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A loop that leaves the GPU idle in a known way: it sleeps, works, and waits for a child.

usage: idle.py ROUNDS       prints the nanoseconds of each kind, and of the idle time as a whole
"""
import os
import sys
import time

import simgpu

gpu = simgpu.Gpu(kernel_us=200)
rounds = int(sys.argv[1])
clock = time.monotonic_ns
spent = {"sleep": 0, "work": 0, "child": 0, "idle": 0}

ask, asked = os.pipe()
answer, answered = os.pipe()
if os.fork() == 0:
    os.close(asked)
    while os.read(ask, 1):
        time.sleep(0.02)
        os.write(answered, b"x")
    os._exit(0)
os.close(ask)


def sleep():
    time.sleep(0.03)


def work():
    end = clock() + 10_000_000
    while clock() < end:
        pass


def child():
    os.write(asked, b"x")
    os.read(answer, 1)


print("ready", flush=True)
sys.stdin.readline()
for i in range(rounds):
    gpu.launch(3)
    if i % 2:
        gpu.sync()
    else:
        gpu.sync(stream=0)
    synced = clock()
    for kind in (sleep, work, child):
        start = clock()
        kind()
        spent[kind.__name__] += clock() - start
    spent["idle"] += clock() - synced
# Work on another stream is not waited for by this: none of it is idle.
gpu.launch(1, stream=7)
gpu.sync(stream=0)
time.sleep(0.3)
gpu.launch(1)
gpu.sync()
for name, ns in spent.items():
    print(name, ns, flush=True)
sys.stdin.readline()
