# SPDX-License-Identifier: Apache-2.0
"""Ranks that call everything of NCCL with arguments that are known, and print what they passed.

usage: nccl.py RANKS DIR [early]

One line for each call: "rank op seq datatype redop root count bytes stream", as the trace should have it,
and for each synchronisation "wait rank seq ns": its own measure. `early`: the communicator is there
before "ready" is printed.
"""
import ctypes
import os
import sys
import time

import simgpu

TYPES = [("int8", 1), ("uint8", 1), ("int32", 4), ("uint32", 4), ("int64", 8), ("uint64", 8), ("float16", 2),
         ("float32", 4), ("float64", 8), ("bfloat16", 2), ("float8e4m3", 1), ("float8e5m2", 1)]
REDOPS = ["sum", "prod", "max", "min", "avg"]
STREAM = 0x7f00_1234_5678
BUF = 0x3000
LATE_S = 0.03


class Rank:
    def __init__(self, gpu, rank, comm, out):
        self.gpu, self.rank, self.comm, self.out = gpu, rank, comm, out
        self.seq = self.p2p = 0

    def say(self, op, seq, number, redop, root, count):
        name, size = TYPES[number]
        print(self.rank, op, seq, name, REDOPS[redop] if redop is not None else "-",
              root if root is not None else "-", count, count * size, STREAM + self.rank, file=self.out)

    def call(self, op, *args):
        self.gpu.nccl(op, *args, self.comm, STREAM + self.rank)

    def all_ops(self, n):
        """Every operation once; types, reductions, roots and counts differ from round to round."""
        number, redop, root, count = n % len(TYPES), n % len(REDOPS), n % self.gpu.ranks, 1000 + 7 * n
        for op, args, has_op, has_root in (
                ("ncclAllReduce", (BUF, BUF, count, number, redop), True, False),
                ("ncclBroadcast", (BUF, BUF, count, number, root), False, True),
                ("ncclBcast", (BUF, count, number, root), False, True),
                ("ncclReduce", (BUF, BUF, count, number, redop, root), True, True),
                ("ncclAllGather", (BUF, BUF, count, number), False, False),
                ("ncclReduceScatter", (BUF, BUF, count, number, redop), True, False),
                ("ncclAlltoAll", (BUF, BUF, count, number), False, False),
                ("ncclGather", (BUF, BUF, count, number, root), False, True),
                ("ncclScatter", (BUF, BUF, count, number, root), False, True)):
            self.seq += 1
            self.call(op, *args)
            self.say(op, self.seq, number, redop if has_op else None, root if has_root else None, count)
        peer = (self.rank + 1) % self.gpu.ranks
        self.gpu.nccl("ncclGroupStart")
        for op in ("ncclSend", "ncclRecv"):
            self.p2p += 1
            self.call(op, BUF, count, number, peer)
            self.say(op, self.p2p, number, None, peer, count)
        self.gpu.nccl("ncclGroupEnd")

    def meet(self, late):
        """An all-reduce to which the last rank may come late, and the wait for it."""
        if late and self.rank == self.gpu.ranks - 1:
            time.sleep(LATE_S)
        self.seq += 1
        self.call("ncclAllReduce", BUF, BUF, 4096, 7, 0)
        self.say("ncclAllReduce", self.seq, 7, 0, None, 4096)
        start = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.gpu.sync(stream=STREAM + self.rank)
        print("wait", self.rank, self.seq, time.clock_gettime_ns(time.CLOCK_BOOTTIME) - start, file=self.out)


def run(rank, ranks, uid, folder, early):
    gpu = simgpu.Gpu(sync="block", kernel_us=20)
    gpu.ranks = ranks
    comm = gpu.join(ranks, rank, uid, config=rank % 2 == 1) if early else None
    if early:
        gpu.all_reduce(1, comm=comm)
        gpu.sync()
    while not os.path.exists(folder + "/go"):
        time.sleep(0.01)
    if comm is None:
        comm = gpu.join(ranks, rank, uid, config=rank % 2 == 1)
    with open("%s/rank.%d" % (folder, rank), "w", encoding="utf-8") as out:
        me = Rank(gpu, rank, comm, out)
        for n in range(12):
            me.all_ops(n)
            me.gpu.sync()
        for n in range(20):
            me.meet(n % 2 == 1)
        child = gpu.split(comm, rank % 2, -rank)
        gpu.all_reduce(10, comm=child, stream=5)
        gpu.sync(stream=5)
        gpu.nccl("ncclCommDestroy", child)
        mine = gpu.join_all(2)
        gpu.nccl("ncclGroupStart")
        for one in mine:
            gpu.all_reduce(11, comm=one, stream=6)
        gpu.nccl("ncclGroupEnd")
        gpu.sync()
        gpu.nccl("ncclCommAbort", mine[0])
        gpu.nccl("ncclCommFinalize", comm)
    gpu.nccl("ncclCommDestroy", comm)


def main(ranks, folder, early):
    uid = simgpu.Gpu(init_ms=1).unique_id()
    words = (ctypes.c_uint64 * 16).from_buffer_copy(uid)
    value = 0x6e63636c2d696400
    for word in words:
        value = (value ^ word) * 0x9e3779b97f4a7c15 & (1 << 64) - 1
        value ^= value >> 29
    children = []
    for rank in range(ranks):
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank))
        pid = os.fork()
        if not pid:
            os.execv(sys.executable, [sys.executable, __file__, "--rank", str(rank), str(ranks), folder,
                                      "early" if early else "late", uid.hex()])
        children.append(pid)
    print("hash", value if value < 1 << 63 else value - (1 << 64))
    print("pids", *children)
    if early:
        time.sleep(1)  # they meet
    print("ready", flush=True)
    sys.exit(any(os.waitpid(pid, 0)[1] for pid in children))


if sys.argv[1] == "--rank":
    run(int(sys.argv[2]), int(sys.argv[3]), bytes.fromhex(sys.argv[6]), sys.argv[4], sys.argv[5] == "early")
else:
    main(int(sys.argv[1]), sys.argv[2], len(sys.argv) > 3)
