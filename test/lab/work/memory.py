#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop that waits for disks and for memory by itself."""
import argparse
import collections
import ctypes
import glob
import itertools
import mmap
import os
import random
import signal
import time

import loop as lab

PAGE = mmap.PAGESIZE
MADV_NOHUGEPAGE = 15


class Region:
    """Anonymous memory in small pages, written at the speed of C."""

    def __init__(self, mb):
        self.bytes = mb << 20
        self.map = mmap.mmap(-1, self.bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.map.madvise(MADV_NOHUGEPAGE)
        self._view = ctypes.c_char.from_buffer(self.map)
        self.address = ctypes.addressof(self._view)

    def write(self, offset=0, length=None):
        ctypes.memset(self.address + offset, 1, length or self.bytes)  # lab:line write

    def close(self):
        del self._view
        self.map.close()


def read(loop):
    """Reads its samples itself, from files that are not in the page cache."""
    paths = samples(loop.o.path)
    turn = itertools.cycle(paths)

    def step():
        with loop.beyond_normal("read"):
            read_file(next(turn) if loop.sick else paths[0], loop.sick, loop.o.way)
        loop.compute(loop.o.host_ms)
        loop.train()
    return step


PIECE = 16 << 10


def thrash(loop):
    """Little pieces of many files in turn, with less memory than what is read ahead of all of them."""
    files = [os.open(path, os.O_RDONLY) for path in samples(loop.o.path)]
    end = os.fstat(files[0]).st_size
    at = [0] * len(files)
    turn = itertools.cycle(range(len(files)))

    def step():
        with loop.beyond_normal("read"):
            for _ in range(4):
                i = next(turn) if loop.sick else 0
                os.pread(files[i], PIECE, at[i])  # lab:line thrash
                at[i] = (at[i] + PIECE) % end
        loop.compute(loop.o.host_ms)
        loop.train()
    return step


def samples(where):
    return sorted(glob.glob(os.path.join(where, "sample.*")))


def read_file(path, cold, way="read"):
    """Its size. Cold: from the disk, past the page cache or after emptying it of this file."""
    size = os.path.getsize(path)
    direct = cold and way == "direct"
    fd = os.open(path, os.O_RDONLY | (os.O_DIRECT if direct else 0))
    if cold and not direct:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    if direct:
        buffer = mmap.mmap(-1, size)
        os.readv(fd, [buffer])  # lab:line read
        buffer.close()
    elif way == "map":
        with mmap.mmap(fd, size, prot=mmap.PROT_READ) as contents:
            for at in range(0, size, PAGE):  # lab:line read
                contents[at]  # lab:line read
    else:
        os.read(fd, size)  # lab:line read
    os.close(fd)
    return size


def read_options(parser):
    parser.add_argument("--path", default=".")
    parser.add_argument("--way", choices=("read", "direct", "map"), default="read",
                        help="to read a file: as usual, past the page cache, by page faults")


def checkpoint(loop):
    """Writes its weights and waits until they are on the disk. Says what they are, if it is told to."""
    label = os.environ.get("LAB_LABEL", "")
    weights = os.urandom(int(loop.o.mb * (1 << 20)))
    path = os.path.join(loop.o.path, "checkpoint")
    nth = itertools.count()

    def step():
        loop.compute(loop.o.host_ms)
        loop.train()
        if next(nth) % loop.o.every == 0 and loop.sick:
            if label and not os.path.exists(path):
                os.setxattr(loop.o.path, "user.ai.checkpoint", label.encode())
                time.sleep(0.3)  # an agent hears of it
            with loop.losing():
                fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.write(fd, weights)
                os.fsync(fd)  # lab:line fsync
                os.close(fd)
    return step


def fresh(loop):
    """Buffers that are mapped anew in every step: each page of them is a fault."""
    kept = Region(loop.o.mb)

    def step():
        with loop.beyond_normal("write"):
            region = Region(loop.o.mb) if loop.sick else kept
            region.write()
            if loop.sick:
                region.close()
        loop.compute(loop.o.host_ms)
        loop.train()
    return step


def cow(loop):
    """Forks a child to save what it has, then writes to it: each page is copied."""
    region = Region(loop.o.mb)
    region.write()
    children = []

    def step():
        while children:
            os.kill(children[-1], signal.SIGKILL)
            os.waitpid(children.pop(), 0)
        with loop.beyond_normal("write"):
            if loop.sick:
                children.append(lab.fork(signal.pause))
            region.write()
        loop.compute(loop.o.host_ms)
        loop.train()
    return step


def replace(loop):
    """New shared memory in each step for the oldest; room must be made for it when much is kept."""
    contents = os.urandom(PAGE // 4) * (4 * (loop.o.mb << 20) // PAGE)
    kept = collections.deque()

    def step():
        with loop.beyond_normal("replace"):
            kept.append(os.memfd_create("batch"))
            os.write(kept[-1], contents)  # lab:line replace
            while len(kept) * loop.o.mb > (loop.o.total_mb if loop.sick else loop.o.well_mb):
                os.close(kept.popleft())
        loop.compute(loop.o.host_ms)
        loop.train()
    return step


def touch(loop):
    """Uses a part of what it has in memory, then all of it: the rest was swapped out."""
    region = Region(loop.o.total_mb)
    region.write()
    order = random.Random(1)

    def step():
        pages = ((loop.o.total_mb if loop.sick else loop.o.well_mb) << 20) // PAGE
        with loop.beyond_normal("touch"):
            for _ in range(loop.o.count):
                at = order.randrange(pages) * PAGE
                region.map[at] = region.map[at] + 1 & 127  # lab:line touch
        loop.compute(loop.o.host_ms)
        loop.train()

    region.write(0, loop.o.well_mb << 20)
    return step


FAULTS = {f.__name__: f for f in (read, thrash, checkpoint, fresh, cow, replace, touch)}
options = argparse.ArgumentParser(description=__doc__)
options.add_argument("fault", choices=FAULTS)
read_options(options)
options.add_argument("--mb", type=int, default=8, help="at a time")
options.add_argument("--total-mb", type=int, default=160, help="with the fault")
options.add_argument("--well-mb", type=int, default=50, help="without it")
options.add_argument("--every", type=int, default=5, help="steps between checkpoints")
options.add_argument("--count", type=int, default=500, help="pages in a step")
if __name__ == "__main__":
    training = lab.Loop(options)
    training.run(FAULTS[training.o.fault](training))
