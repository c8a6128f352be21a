#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop whose batches come over the network, and the server that has them."""
import argparse
import contextlib
import socket
import time

import loop as lab

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("role", choices=("server", "loop"))
options.add_argument("address")
options.add_argument("--port", type=int, default=7700)
options.add_argument("--kb", type=int, default=256, help="of a sample")
options.add_argument("--samples", type=int, default=1, help="of a batch, asked for one by one")
options.add_argument("--ms", type=float, default=30, help="of the server's answer with its fault")
options.add_argument("--busy", action="store_true", help="the server computes instead of sleeping")
options.add_argument("--pace", help="TCP's way to find it, where the kernel has that")
side = lab.Loop(options)
o = side.o


def serve():
    sample = bytes(o.kb << 10)
    with socket.create_server((o.address, o.port)) as listening:
        if o.pace:
            with contextlib.suppress(OSError):
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, o.pace.encode())
        side.ready()
        peer, _ = listening.accept()
        while peer.recv(1):
            if side.sick and o.busy:
                side.compute(o.ms)
            elif side.sick:
                time.sleep(o.ms / 1e3)
            peer.sendall(sample)


def fetch(peer, buffer):
    peer.sendall(b"n")
    left = memoryview(buffer)
    while left:
        left = left[peer.recv_into(left):]  # lab:line receive


def step():
    with side.beyond_normal("batch"):
        for _ in range(o.samples):
            fetch(server, sample)
    side.compute(o.host_ms)
    side.train()


if o.role == "server":
    serve()
else:
    sample = bytearray(o.kb << 10)
    server = socket.create_connection((o.address, o.port))
    side.run(step)
