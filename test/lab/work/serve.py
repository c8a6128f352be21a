#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An inference server and the client whose requests come in waves, or rarely."""
import argparse
import selectors
import socket
import time

import loop as lab

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("role", choices=("server", "client"))
options.add_argument("path", help="of the socket")
options.add_argument("--wait", choices=("accept", "epoll"), default="epoll")
options.add_argument("--wave", type=int, default=30, help="requests one after another")
options.add_argument("--pause-ms", type=float, default=400, help="between waves")
side = lab.Loop(options)
o = side.o


def answer(peer):
    """One request; False where the client is gone."""
    if not peer.recv(64):
        return False
    side.compute(o.host_ms)
    side.train()
    peer.sendall(b"tokens")
    return True


def serve_accept(listening):
    """One connection for each request."""
    while True:
        peer, _ = listening.accept()
        with peer:
            answer(peer)


def serve_epoll(listening):
    with selectors.EpollSelector() as ready:
        ready.register(listening, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is listening:
                    peer, _ = listening.accept()
                    ready.register(peer, selectors.EVENT_READ)
                elif not answer(key.fileobj):
                    ready.unregister(key.fileobj)
                    key.fileobj.close()


def ask():
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(o.path)
    with peer:
        peer.sendall(b"prompt")
        peer.recv(64)


if o.role == "server":
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(o.path)
        door.listen(64)
        side.train()
        side.ready()
        (serve_accept if o.wait == "accept" else serve_epoll)(door)
else:
    side.ready()
    while True:
        for _ in range(o.wave):
            ask()
        time.sleep(o.pause_ms / 1e3)
