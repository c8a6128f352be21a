#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file system in a process: serves the files of a folder, read-only, straight on /dev/fuse.

With its fault it is slow to answer reads: it sleeps, computes, or reads from the disk again.
The kernel ends the connection when we die, and a helper then takes the mount away.
"""
import argparse
import ctypes
import errno
import os
import signal
import stat
import struct
import time

import loop as lab

# linux/fuse.h, version 7.31
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, INIT = 1, 2, 3, 14, 15, 18, 26
OPENDIR, READDIR, RELEASEDIR, INTERRUPT, DESTROY, BATCH_FORGET = 27, 28, 29, 36, 38, 42
SILENT = (FORGET, BATCH_FORGET, INTERRUPT)  # get no answer
MAJOR, MINOR, ROOT, KEEP_CACHE, FOREVER = 7, 31, 1, 2, 1 << 30
REQUEST = struct.Struct("=IIQQIIII")
ANSWER = struct.Struct("=IiQ")
ATTRIBUTES = struct.Struct("=6Q10I")
MS_RDONLY, MS_NOSUID, MS_NODEV, MNT_DETACH = 1, 2, 4, 2
UNIT = 128 << 10  # the largest read that the kernel asks for

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("source", help="folder with the files")
options.add_argument("mountpoint")
options.add_argument("--slow", choices=("sleep", "cpu", "disk"), default="sleep")
options.add_argument("--ms", type=float, default=20, help="of a read of 128 KB with the fault")
server = lab.Loop(options)
o = server.o
names = sorted(os.listdir(o.source))
paths = {ROOT + 1 + i: os.path.join(o.source, name) for i, name in enumerate(names)}


def attributes(node):
    """Of a node, as the kernel wants them."""
    mode, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else (
        stat.S_IFREG | 0o444, os.path.getsize(paths[node]))
    times = [0] * 6
    return ATTRIBUTES.pack(node, size, (size + 511) // 512, *times, mode, 1, 0, 0, 0, 4096, 0)


def lookup(_, body):
    name = body.rstrip(b"\0").decode()
    if name not in names:
        raise FileNotFoundError(errno.ENOENT, name)
    node = ROOT + 1 + names.index(name)
    return struct.pack("=4Q2I", node, 0, FOREVER, FOREVER, 0, 0) + attributes(node)


def getattr_(node, _):
    return struct.pack("=Q2I", FOREVER, 0, 0) + attributes(node)


def init(_, body):
    readahead = struct.unpack_from("=3I", body)[2]
    return struct.pack("=4I2H2I2H8I", MAJOR, MINOR, readahead, 0, 12, 9, UNIT, 1, 0, 0, *[0] * 8)


def open_(_, __):
    return struct.pack("=Q2I", 0, KEEP_CACHE, 0)


def readdir(_, body):
    offset = struct.unpack_from("=2Q", body)[1]
    entries = b""
    for i, name in enumerate(names[offset:], offset):
        raw = name.encode()
        entry = struct.pack("=2Q2I", ROOT + 1 + i, i + 1, len(raw), stat.S_IFREG >> 12) + raw
        entries += entry + bytes(-len(entry) % 8)
        if len(entries) > 3000:
            break
    return entries


def read(node, body):
    offset, size = struct.unpack_from("=QI", body, 8)
    ms = o.ms * size / UNIT
    fd = os.open(paths[node], os.O_RDONLY)
    try:
        if server.sick and o.slow == "disk":
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        elif server.sick and o.slow == "cpu":
            server.compute(ms)
        elif server.sick:
            time.sleep(ms / 1e3)
        return os.pread(fd, size, offset)
    finally:
        os.close(fd)


DONE = (lambda _, __: b"")
ANSWERS = {LOOKUP: lookup, GETATTR: getattr_, INIT: init, OPEN: open_, OPENDIR: open_, READ: read,
           READDIR: readdir, RELEASE: DONE, RELEASEDIR: DONE, DESTROY: DONE}


def answer(request):
    """The error and the contents of the answer."""
    _, op, _, node = REQUEST.unpack_from(request)[:4]
    if op not in ANSWERS:
        return errno.ENOSYS, b""
    try:
        return 0, ANSWERS[op](node, request[REQUEST.size:])
    except OSError as error:
        return error.errno, b""


def serve(device):
    while True:
        try:
            request = os.read(device, UNIT + 4096)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return  # not mounted any more
            if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                continue
            raise
        _, op, unique = REQUEST.unpack_from(request)[:3]
        if op not in SILENT:
            failed, body = answer(request)
            try:
                os.write(device, ANSWER.pack(ANSWER.size + len(body), -failed, unique) + body)
            except FileNotFoundError:
                pass  # who asked is gone


def take_away_later():
    """A process of its own that takes the mount away when this one ends, however it does."""
    ours, held = os.pipe()
    if os.fork():
        os.close(ours)
        return held
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.close(held)
    os.read(ours, 1)
    lab.libc.umount2(o.mountpoint.encode(), MNT_DETACH)
    os._exit(0)


lab.libc.prctl(lab.PR_SET_PDEATHSIG, signal.SIGKILL)  # with the scenario
end = take_away_later()
try:
    fuse = os.open("/dev/fuse", os.O_RDWR)
except OSError as error:
    raise SystemExit("skip: /dev/fuse: " + error.strerror) from error
told = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fuse
if lab.libc.mount(b"lab", o.mountpoint.encode(), b"fuse.lab",
                  ctypes.c_ulong(MS_RDONLY | MS_NOSUID | MS_NODEV), told.encode()):
    raise SystemExit("skip: cannot mount FUSE: " + os.strerror(ctypes.get_errno()))
server.ready()
serve(fuse)
