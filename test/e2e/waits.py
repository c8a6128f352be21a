#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits of every kind, each between two calls of a loop that is otherwise quick.

usage: waits.py FILE_ON_DISK        prints "NAME START_NS END_NS" per wait, wall clock
"""
import ctypes
import gc
import mmap
import os
import select
import socket
import subprocess
import sys
import threading
import time

import simgpu

gpu = simgpu.Gpu(kernel_us=20)
path = sys.argv[1]
WAIT = 0.03
SYNC_FILE_RANGE_WRITE = 2
libc = ctypes.CDLL(None, use_errno=True)


def quick(n=1):
    for _ in range(n):
        gpu.launch(2)
        gpu.sync(stream=0)


def later(action):
    thread = threading.Thread(target=lambda: (time.sleep(WAIT), action()))
    thread.start()
    return thread


def wait(name, action, before=lambda: None):
    """A slow one among many quick ones, so that it is told as slow."""
    quick(40)
    before()
    quick()
    start = time.time_ns()
    action()
    quick()
    print(name, start, time.time_ns(), flush=True)


def pipe():
    r, w = os.pipe()
    if not os.fork():
        time.sleep(WAIT)
        os.write(w, b"x")
        os._exit(0)
    os.read(r, 1)
    os.wait()


def unix_socket():
    a, b = socket.socketpair()
    later(lambda: b.send(b"x"))
    a.recv(1)


def connection():
    listener = socket.create_server(("127.0.0.1", 0))
    a = socket.create_connection(listener.getsockname())
    b, _ = listener.accept()
    return a, b


def tcp():
    a, b = connection()
    later(lambda: b.send(b"x"))
    a.recv(1)


def epoll():
    a, b = connection()
    e = select.epoll()
    e.register(a, select.EPOLLIN)
    later(lambda: b.send(b"x"))
    e.poll()


def lock():
    held = threading.Lock()
    held.acquire()
    later(held.release)
    held.acquire()


def cold():
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    return fd


def read():
    fd = cold()
    while os.read(fd, 1 << 20):
        pass


def fault():
    fd = cold()
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as data:
        sum(data[i] for i in range(0, len(data), 65536))


def fsync():
    fd = os.open(path + ".out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(4):
        os.write(fd, b"x" * (4 << 20))
        os.fsync(fd)


def written():
    """A file that is on its way to the disk."""
    fd = os.open(path + ".cut", os.O_WRONLY | os.O_CREAT)
    for _ in range(16):
        os.write(fd, b"x" * (4 << 20))
    libc.sync_file_range(fd, ctypes.c_int64(0), ctypes.c_int64(0), SYNC_FILE_RANGE_WRITE)
    os.close(fd)


def cut():
    os.close(os.open(path + ".cut", os.O_WRONLY | os.O_TRUNC))


def interpreter():
    stop = []

    def work():
        while not stop:
            sum(range(1000))

    thread = threading.Thread(target=work)
    thread.start()
    end = time.time() + 0.2
    while time.time() < end:
        time.sleep(0)  # gives the lock away, and has to get it back
    stop.append(1)
    thread.join()


def collect():
    global garbage
    garbage = [[i] for i in range(400000)]
    gc.collect()


time.sleep(1)
gc.disable()
quick(200)
for name, action in (("pipe", pipe), ("sleep", lambda: time.sleep(WAIT)), ("socket", unix_socket),
                     ("tcp", tcp), ("poll", epoll), ("futex", lock), ("read", read), ("fault", fault),
                     ("fsync", fsync), ("gil", interpreter),
                     ("child", lambda: subprocess.run(["sleep", str(WAIT)], check=True)),
                     ("gc", collect)):
    wait(name, action)
wait("cut", cut, written)
