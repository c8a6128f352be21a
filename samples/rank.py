#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of a training job on its own node: the ranks find each other by TCP, as NCCL's do.

rank.py RANK RANKS ADDRESS LOADER_MS: rank 0 listens there and hands out the unique id. Then every rank says
"ready", and takes a batch from its loader, computes, launches and all-reduces until it gets another line.
"""
import os
import select
import socket
import struct
import sys
import time

import simgpu

PORT = 29500
FLOATS = 250_000
BATCH = 65536  # what a pipe holds: no more than one lies ready


def rendezvous(rank, ranks, address, gpu):
    """The unique id of the communicator."""
    if rank == 0:
        uid = bytes(gpu.unique_id())
        with socket.create_server((address, PORT), backlog=ranks) as server:
            print("listening", flush=True)
            for _ in range(ranks - 1):
                peer, _ = server.accept()
                with peer:
                    peer.sendall(struct.pack("!I", len(uid)) + uid)
        return uid
    while True:
        try:
            with socket.create_connection((address, PORT), timeout=10) as peer:
                size, = struct.unpack("!I", peer.recv(4, socket.MSG_WAITALL))
                return peer.recv(size, socket.MSG_WAITALL)
        except ConnectionRefusedError:
            time.sleep(0.05)


def start_loader(ms):
    """A process that makes a batch in so many milliseconds; where to read them."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        with open("/proc/self/comm", "w") as name:
            name.write("loader")
        try:
            while True:
                time.sleep(ms / 1e3)
                os.write(write, b"x" * BATCH)
        except BrokenPipeError:
            os._exit(0)
    os.close(write)
    return read


def take_batch(loader):
    left = BATCH
    while left:
        left -= len(os.read(loader, left))


def compute(seconds):
    """Work of the host that takes so much time of a CPU."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def main():
    rank, ranks, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    loader = start_loader(float(sys.argv[4]))
    gpu = simgpu.Gpu(init_ms=1, kernel_us=300, sync="block")
    gpu.launch(1)  # with the next line: the libraries are mapped, so that a tracer finds them
    gpu.unique_id()
    uid = rendezvous(rank, ranks, address, gpu)
    print("ready", flush=True)
    sys.stdin.readline()
    comm = gpu.join(ranks, rank, uid)
    while not select.select([sys.stdin], [], [], 0)[0]:
        take_batch(loader)
        compute(0.001)
        gpu.launch(10)
        gpu.all_reduce(FLOATS, comm=comm)
        gpu.sync(stream=0)


main()
