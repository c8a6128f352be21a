#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop whose batches come from processes of its own, asked for ahead of time."""
import argparse
import ctypes
import itertools
import multiprocessing
import os
import threading
import time

import loop as lab
import memory

MUTEX_BYTES = 64


class Worker:
    """A process that answers requests with batches, by a pipe or by a queue with its thread."""

    def __init__(self, loop, make, via, cpu):
        context = multiprocessing.get_context("fork")
        if via == "queue":
            self._ask, self._answers = context.Queue(), context.Queue()
            self._receive, self._send = self._ask.get, self._answers.put
            self.ask, self._get = self._ask.put, self._answers.get
        else:
            ours, theirs = context.Pipe()
            self._receive, self._send = theirs.recv, theirs.send
            self.ask, self._get = ours.send, ours.recv
        self._timeout = via == "queue" and loop.o.timeout
        self.pid = lab.fork(lambda: self._serve(loop, make), cpu)
        if via == "pipe":
            theirs.close()

    def _serve(self, loop, make):
        produce = make(loop)
        while True:
            self._receive()
            produce()
            self._send(bytes(loop.o.batch_kb << 10))

    def get(self):
        """The next batch. EOFError where there is nobody to send it."""
        if self._timeout:
            return self._get(timeout=self._timeout)  # lab:line get
        return self._get()  # lab:line get


# ---- what a worker does for a batch: normally, and with its fault

def cpu(loop):
    return lambda: loop.compute(loop.o.ms if loop.sick else loop.o.worker_ms)  # lab:line cpu


def sleep(loop):
    def produce():
        loop.compute(loop.o.worker_ms)
        if loop.sick:
            time.sleep(loop.o.ms / 1e3)  # lab:line sleep
    return produce


def disk(loop):
    paths = memory.samples(loop.o.path)
    turn = itertools.cycle(paths)

    def produce():
        memory.read_file(next(turn) if loop.sick else paths[0], loop.sick, loop.o.way)
        loop.compute(loop.o.worker_ms)
    return produce


def mutex(loop):
    """A native lock that another thread of the worker holds most of the time."""
    lock = ctypes.create_string_buffer(MUTEX_BYTES)
    return _locked(loop, lambda: lab.libc.pthread_mutex_lock(lock),
                   lambda: lab.libc.pthread_mutex_unlock(lock))


def semaphore(loop):
    """The same, with the lock of multiprocessing: a semaphore that says not who holds it."""
    lock = multiprocessing.get_context("fork").Lock()
    return _locked(loop, lock.acquire, lock.release)


def _locked(loop, acquire, release):
    def hold():
        while True:
            if loop.sick:
                acquire()
                lab.libc.usleep(int(1e3 * loop.o.ms))  # lab:line hold
                release()  # lab:line hold
            time.sleep(0.002)

    def produce():
        acquire()
        release()
        loop.compute(loop.o.worker_ms)

    threading.Thread(target=hold, daemon=True).start()
    return produce


def leak(loop):
    """Keeps what it loads, in a control group that is too small for it; begins with a long look."""
    with open(os.path.join(loop.o.group, "cgroup.procs"), "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    kept = []
    loop.compute(loop.o.ms)

    def produce():
        loop.compute(loop.o.worker_ms)
        if loop.sick:
            kept.append(memory.Region(loop.o.leak_mb))
            kept[-1].write()
    return produce


MAKERS = {f.__name__: f for f in (cpu, sleep, disk, mutex, semaphore, leak)}
options = argparse.ArgumentParser(description=__doc__)
options.add_argument("fault", choices=MAKERS)
options.add_argument("--workers", type=int, default=1)
options.add_argument("--cpu", type=int, help="of the workers")
options.add_argument("--via", choices=("pipe", "queue"), default="pipe")
options.add_argument("--timeout", type=float, default=0, help="of a queue, as PyTorch has it")
options.add_argument("--prefetch", type=int, default=2)
options.add_argument("--batch-kb", type=int, default=64)
options.add_argument("--worker-ms", type=float, default=2, help="of a batch, normally")
options.add_argument("--ms", type=float, default=25, help="of a batch with the fault")
memory.read_options(options)
options.add_argument("--group", help="control group of a worker that leaks")
options.add_argument("--leak-mb", type=int, default=8)
training = lab.Loop(options)
workers = []


def hire(i):
    worker = Worker(training, MAKERS[training.o.fault], training.o.via, training.o.cpu)
    workers[i:i + 1] = [worker]
    for _ in range(training.o.prefetch):
        worker.ask(None)


def next_batch(i):
    """Asks for another one, too. A worker that is gone is replaced."""
    while True:
        try:
            batch = workers[i].get()
            workers[i].ask(None)
            return batch
        except (EOFError, ConnectionError):
            os.waitpid(workers[i].pid, 0)
            hire(i)


def step():
    with training.beyond_normal("batch"):
        next_batch(next(turn))
    training.compute(training.o.host_ms)
    training.train()


turn = itertools.cycle(range(training.o.workers))
for n in range(training.o.workers):
    hire(n)
training.run(step)
