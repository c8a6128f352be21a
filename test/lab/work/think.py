#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop that makes itself wait: sleep, Python work, locks, garbage, its own helpers."""
import argparse
import collections
import ctypes
import gc
import hashlib
import os
import sys
import threading
import time

import loop as lab

MUTEX_BYTES = 64  # more than a pthread_mutex_t has


def move(loop):
    """This thread to the other CPU, where there is one."""
    if loop.o.other is not None:
        os.sched_setaffinity(0, {loop.o.other})


def well(loop):
    def step():
        loop.compute(loop.o.host_ms)
        loop.train()
    return step


def sleep(loop):
    """Somebody left a sleep in."""
    def step():
        loop.compute(loop.o.host_ms)
        if loop.sick:
            with loop.losing():
                time.sleep(loop.o.ms / 1e3)  # lab:line sleep
        loop.train()
    return step


def host(loop):
    """Pre-processing in Python takes many times what the GPU needs."""
    def step():
        with loop.beyond_normal():
            loop.compute(loop.o.ms if loop.sick else loop.o.host_ms)  # lab:line host
            loop.train()
    return step


def collect(loop):
    """Many objects that are searched for garbage again and again: by a call, or for new ones."""
    graph = [[i] for i in range(loop.o.objects)]
    new = collections.deque(maxlen=2)
    started = []

    def watch(phase, _):
        if phase == "start":
            started.append(time.monotonic())
        else:
            loop.lose(time.monotonic() - started.pop())

    def step():
        if loop.sick and loop.o.explicit:
            gc.collect()  # lab:line collect
        elif loop.sick:  # a quarter more: that is when Python searches them all
            new.append([[] for _ in range(loop.o.objects // 4)])  # lab:line rubbish
        loop.compute(loop.o.host_ms)
        loop.train()
        return graph

    gc.callbacks.append(watch)
    gc.set_threshold(700, 10, 2)
    return step


def gil(loop):
    """Another thread computes in Python: each return from a call waits for the interpreter lock."""
    def compute():
        move(loop)
        while True:
            if loop.sick:
                sum(i * i % 7 for i in range(20_000))  # lab:line hog
            else:
                time.sleep(0.01)

    def step():
        with loop.beyond_normal():
            loop.compute(loop.o.host_ms)
            loop.train()

    sys.setswitchinterval(loop.o.ms / 1e3)
    threading.Thread(target=compute, daemon=True).start()
    return step


def mutex(loop):
    """A thread of ours holds a native lock most of the time; neither side keeps the GIL for it."""
    lock = ctypes.create_string_buffer(MUTEX_BYTES)
    block = bytes(1 << 20)

    def hold():
        move(loop)
        while True:
            if not loop.sick:
                time.sleep(0.01)
                continue
            lab.libc.pthread_mutex_lock(lock)
            if loop.o.busy:
                end = time.monotonic() + loop.o.ms / 1e3
                while time.monotonic() < end:  # lab:line hold
                    hashlib.sha256(block)  # lab:line hold
            else:
                lab.libc.usleep(int(1e3 * loop.o.ms))  # lab:line hold
            lab.libc.pthread_mutex_unlock(lock)  # lab:line hold
            time.sleep(0.003)

    def step():
        loop.compute(loop.o.host_ms)
        with loop.beyond_normal("lock"):
            lab.libc.pthread_mutex_lock(lock)  # lab:line lock
        lab.libc.pthread_mutex_unlock(lock)
        loop.train()

    threading.Thread(target=hold, daemon=True).start()
    return step


def helpers(loop):
    """Processes that we forked ourselves prepare something on the CPU that we need."""
    def prepare():
        while True:
            if loop.sick:
                lab.busy(20_000)
            else:
                time.sleep(0.01)

    for _ in range(loop.o.helpers):
        lab.fork(prepare)
    return well(loop)


FAULTS = {f.__name__: f for f in (well, sleep, host, collect, gil, mutex, helpers)}
options = argparse.ArgumentParser(description=__doc__)
options.add_argument("fault", choices=FAULTS)
options.add_argument("--ms", type=float, default=20, help="how long it takes at a time")
options.add_argument("--objects", type=int, default=200_000)
options.add_argument("--explicit", action="store_true", help="collect by a call")
options.add_argument("--busy", action="store_true", help="who holds the lock computes")
options.add_argument("--helpers", type=int, default=2)
options.add_argument("--other", type=int, help="CPU for the thread that is not the loop")
training = lab.Loop(options)
training.run(FAULTS[training.o.fault](training))
