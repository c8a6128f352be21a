#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop that uses the GPU badly, well, or together with others."""
import argparse
import itertools
import threading
import time

import loop as lab


def sync(loop):
    """Waits for every kernel, so that what could go on beside it comes after it."""
    def step():
        with loop.beyond_normal():
            for _ in range(loop.o.kernels):
                loop.compute(loop.o.host_ms / loop.o.kernels)
                loop.gpu.launch()
                if loop.sick:
                    loop.gpu.sync(stream=0)  # lab:line sync
            loop.gpu.sync(stream=0)
    return step


def launch(loop):
    """Thousands of tiny kernels, one by one; when it is well they are a graph."""
    gpu = loop.gpu
    gpu.set("graph_kernels", loop.o.kernels)

    def step():
        with loop.beyond_normal():
            loop.compute(loop.o.host_ms)
            if loop.sick:
                gpu.launch(loop.o.kernels)  # lab:line launch
            else:
                gpu.launch_graph()
            gpu.sync(stream=0)
    return step


def alloc(loop):
    """Asks for its buffers anew in every step, and gives them back."""
    def step():
        with loop.beyond_normal():
            loop.compute(loop.o.host_ms)
            buffers = [loop.gpu.malloc(1 << 20)  # lab:line alloc
                       for _ in range(loop.o.count * loop.sick)]
            loop.train()
            for buffer in buffers:
                loop.gpu.free(buffer)  # lab:line alloc
    return step


def copy(loop):
    """Batches go to the device from pageable memory, so every copy blocks."""
    gpu = loop.gpu
    nbytes = int(loop.o.mb * 1e6)

    def step():
        loop.compute(loop.o.host_ms)
        gpu.set("pageable", loop.sick)
        with loop.beyond_normal("copy"):
            for _ in range(loop.o.count):
                gpu.copy_to_device(nbytes, stream=0 if loop.sick else 1)  # lab:line copy
        gpu.set("pageable", False)
        loop.train()
    return step


def cold(loop):
    """Nothing but a long first call, which the environment makes long."""
    gpu = loop.gpu  # the library is there
    loop.compute(700)  # imports, the model
    with loop.losing():
        gpu.launch()  # lab:line first

    def step():
        loop.compute(loop.o.host_ms)
        loop.train()
    return step


def deep(loop):
    """The GPU is never idle: launches wait for a place in its queue, few steps are awaited."""
    nth = itertools.count(1)
    loop.gpu.set("queue", loop.o.count)

    def step():
        loop.compute(loop.o.host_ms)
        loop.gpu.launch(loop.o.kernels)
        if next(nth) % 25 == 0:
            loop.gpu.sync(stream=0)
    return step


def threads(loop):
    """Many threads, each with a stream of its own and long kernels."""
    def serve(stream):
        while True:
            loop.compute(0.2)
            loop.gpu.launch(2, stream)
            loop.gpu.sync(stream)

    for stream in range(1, loop.o.count):
        threading.Thread(target=serve, args=(stream,), daemon=True).start()

    def step():
        loop.compute(0.2)
        loop.gpu.launch(2)
        loop.gpu.sync(stream=0)
    return step


def tenant(loop):
    """Somebody else on the same GPU: idle, then bursts of long work."""
    def step():
        if not loop.sick:
            time.sleep(0.01)
            return
        for _ in range(3):
            loop.gpu.launch(loop.o.kernels)
            loop.gpu.sync(stream=0)
        time.sleep(loop.o.pause_ms / 1e3)
    return step


def shared(loop):
    """A step with a measure of how much longer its GPU part takes than when it is alone."""
    def step():
        loop.compute(loop.o.host_ms)
        with loop.beyond_normal("gpu"):
            loop.train()
    return step


def clocked(loop):
    """A GPU whose kernels take longer while its clocks are low."""
    gpu, kernel_us = loop.gpu, loop.o.kernel_us

    def step():
        gpu.set("kernel_us", kernel_us * (loop.o.slower if loop.sick else 1))
        loop.compute(loop.o.host_ms)
        with loop.beyond_normal("gpu"):
            loop.train()
    return step


USES = {f.__name__: f for f in (sync, launch, alloc, copy, cold, deep, threads, tenant, shared, clocked)}
options = argparse.ArgumentParser(description=__doc__)
options.add_argument("use", choices=USES)
options.add_argument("--count", type=int, default=8, help="buffers, copies, queue places, threads")
options.add_argument("--mb", type=float, default=4, help="of a copy")
options.add_argument("--slower", type=float, default=2, help="kernels at low clocks")
options.add_argument("--pause-ms", type=float, default=30)
training = lab.Loop(options)
training.run(USES[training.o.use](training))
