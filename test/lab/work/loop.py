# SPDX-License-Identifier: Apache-2.0
"""What the lab's workloads share: a training loop that can be made ill, and measures how much.

The shell reads and writes its state through a descriptor of fixed number: a page of 64-bit numbers
in memory, which forked workers share. See ../lib/lab.sh, which has the same offsets.
"""
import argparse
import contextlib
import ctypes
import functools
import mmap
import os
import signal
import struct
import time

import simgpu

STATE_FD = 9
LOST_NS, STEPS, FAULT, READY = 0, 8, 16, 24
PR_SET_PDEATHSIG = 1
KEPT = 200  # healthy times that make up what is normal
libc = ctypes.CDLL(None, use_errno=True)


class State:
    """The numbers that the shell sees."""

    def __init__(self):
        fd = os.memfd_create("lab")
        os.ftruncate(fd, mmap.PAGESIZE)
        os.dup2(fd, STATE_FD, inheritable=False)
        os.close(fd)
        self._page = mmap.mmap(STATE_FD, mmap.PAGESIZE)

    def __getitem__(self, offset):
        return struct.unpack_from("q", self._page, offset)[0]

    def __setitem__(self, offset, value):
        struct.pack_into("q", self._page, offset, value)


class Loop:
    """The options that all share, the device, the state, and the measure of the time lost."""

    def __init__(self, parser=None, argv=None):
        parser = parser or argparse.ArgumentParser()
        parser.add_argument("--seconds", type=float, default=60)
        parser.add_argument("--sync", choices=("spin", "block"), default="spin")
        parser.add_argument("--kernel-us", type=float, default=90)
        parser.add_argument("--kernels", type=int, default=56, help="in a step")
        parser.add_argument("--host-ms", type=float, default=3, help="Python in a step")
        parser.add_argument("--name", default="", help="of the process")
        parser.add_argument("--sick", action="store_true", help="with the fault from the start")
        self.o = parser.parse_args(argv)
        if self.o.name:
            call_me(self.o.name)
        self.state = State()
        self._normal = {}
        self._per_ms = max(_speed() for _ in range(3))

    @functools.cached_property
    def gpu(self):
        """Only who uses it has its library."""
        return simgpu.Gpu(kernel_us=self.o.kernel_us, sync=self.o.sync)

    @property
    def sick(self):
        return self.state[FAULT] != 0

    def compute(self, ms):
        """Python work: a count that takes so long on a free CPU, and longer on a busy one."""
        busy(int(ms * self._per_ms))

    def train(self):
        """One healthy step of the GPU."""
        o = self.o
        self.gpu.copy_to_device(1_000_000)  # lab:line train
        self.gpu.launch(o.kernels)  # lab:line train
        self.gpu.copy_to_host(4)  # lab:line train
        self.gpu.sync(stream=0)  # lab:line train sync

    def lose(self, seconds):
        self.state[LOST_NS] += int(1e9 * seconds)

    @contextlib.contextmanager
    def losing(self):
        """The time inside is lost, all of it."""
        start = time.monotonic()
        yield
        self.lose(time.monotonic() - start)

    @contextlib.contextmanager
    def beyond_normal(self, what="step"):
        """While the loop is ill, what the inside takes longer than its healthy median is lost."""
        sick, start = self.sick, time.monotonic()
        yield
        took = time.monotonic() - start
        healthy = self._normal.setdefault(what, [])
        if not (sick or self.sick):
            healthy.append(took)
            del healthy[:-KEPT]
        elif healthy:
            self.lose(took - sorted(healthy)[len(healthy) // 2])

    def ready(self):
        self.state[READY] = 1

    def run(self, step):
        """Until the time is over. The first steps are healthy, and before anybody looks."""
        for _ in range(30):
            step()
        self.state[FAULT] = int(self.o.sick)
        if self.o.sick:
            step()
        self.ready()
        end = time.monotonic() + self.o.seconds
        while time.monotonic() < end:
            step()
            self.state[STEPS] += 1


def busy(count):
    """Pure Python, holding the interpreter lock."""
    total = 0
    for i in range(count):  # lab:line busy
        total += i * i % 7  # lab:line busy
    return total


def _speed():
    start = time.thread_time()
    busy(100_000)
    return 100_000 / (1e3 * (time.thread_time() - start))


def call_me(name):
    with open("/proc/self/comm", "w", encoding="utf-8") as file:
        file.write(name)


def fork(target, cpu=None, name=""):
    """A process of its own that runs target and does not outlive us. Returns its id."""
    parent = os.getpid()
    child = os.fork()
    if child:
        print("forked", child, flush=True)
        return child
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        if os.getppid() == parent:
            if cpu is not None:
                os.sched_setaffinity(0, {cpu})
            if name:
                call_me(name)
            target()
    finally:
        os._exit(0)
    return 0
