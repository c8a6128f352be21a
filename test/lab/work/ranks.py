#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training job of several ranks, one process each, that meet in an all-reduce at the end of each step.

This process is rank 0 and measures what it loses; the others are forked. One of them can be made late.
"""
import argparse
import os
import time

import loop as lab

GO = 32  # in the state: make the communicator now, and meet
FLOATS = 250_000


class Data:
    """Batches from a process of their own, which may be slow."""

    def __init__(self, loop, ms):
        self._read, write = os.pipe()

        def produce():
            while True:
                if loop.sick:
                    time.sleep(ms / 1e3)  # lab:line produce
                os.write(write, b"x" * 4096)

        lab.fork(produce, name="loader")
        os.close(write)

    def get(self):
        left = 4096
        while left:
            left -= len(os.read(self._read, left))  # lab:line get


def work(loop, rank, uid):
    """The steps of one rank."""
    o = loop.o
    late = rank == o.late
    data = Data(loop, o.ms) if o.fault == "data" and late else None
    comm = None

    def step():
        nonlocal comm
        if comm is None and (not o.when_told or loop.state[GO]):
            comm = loop.gpu.join(o.ranks, rank, uid, config=rank % 2 == 1)
        if data:
            data.get()
        loop.compute(o.ms if late and o.fault == "cpu" and loop.sick else o.host_ms)
        loop.gpu.launch(o.kernels)
        if comm is not None:
            loop.gpu.all_reduce(FLOATS, comm=comm)
        if rank:
            loop.gpu.sync(stream=0)  # lab:line wait
        else:
            with loop.beyond_normal("sync"):
                loop.gpu.sync(stream=0)  # lab:line wait
    return step


def follow(loop, rank, uid):
    step = work(loop, rank, uid)
    while True:
        step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fault", choices=("none", "cpu", "data"))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--late", type=int, default=1, help="which rank")
    parser.add_argument("--ms", type=float, default=10, help="how much")
    parser.add_argument("--when-told", action="store_true", help="make the communicator later")
    parser.add_argument("--cpus", type=int, nargs="+", help="of the ranks, in turn")
    loop = lab.Loop(parser)
    o = loop.o
    uid = lab.simgpu.Gpu(init_ms=1).unique_id()
    for rank in range(1, o.ranks):
        pid = lab.fork(lambda rank=rank: follow(loop, rank, uid), cpu=o.cpus[rank % len(o.cpus)],
                       name="rank%d" % rank)
        print("rank", rank, pid, flush=True)
    loop.run(work(loop, 0, uid))


main()
