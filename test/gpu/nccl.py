# SPDX-License-Identifier: Apache-2.0
"""torch.distributed on one GPU: `run GO PASSED` makes the calls, `check DB PASSED` compares the trace."""
import ctypes
import json
import os
import sqlite3
import sys
import time

TYPES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8, "int32": 4, "int64": 8, "uint8": 1, "int8": 1}
REDOPS = ("sum", "prod", "max", "min")
BROADCASTS = ["ncclBroadcast", "ncclBcast"]
NUMBER = {"int8": 0, "uint8": 1, "int32": 2, "int64": 4, "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9}


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


def direct(say):
    """The library's own functions, those too that torch does not call with one rank."""
    import torch

    nccl = ctypes.CDLL("libnccl.so.2")
    stream = torch.cuda.Stream()
    queue = ctypes.c_void_p(stream.cuda_stream)
    unique, comm = UniqueId(), ctypes.c_void_p()
    nccl.ncclCommInitRank.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int]
    assert not nccl.ncclGetUniqueId(ctypes.byref(unique))
    assert not nccl.ncclCommInitRank(ctypes.byref(comm), 1, unique, 0)
    memory = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    a, b = ctypes.c_void_p(memory.data_ptr()), ctypes.c_void_p(memory.data_ptr() + (1 << 19))
    for n, name in enumerate(TYPES):
        count, kind = ctypes.c_size_t(1 << n), NUMBER[name]
        redop = REDOPS[n % len(REDOPS)]
        number = REDOPS.index(redop)
        assert not nccl.ncclAllReduce(a, b, count, kind, number, comm, queue)
        say(["ncclAllReduce"], name, redop, None, 1 << n)
        assert not nccl.ncclReduce(a, b, count, kind, number, 0, comm, queue)
        say(["ncclReduce"], name, redop, 0, 1 << n)
        assert not nccl.ncclReduceScatter(a, b, count, kind, number, comm, queue)
        say(["ncclReduceScatter"], name, redop, None, 1 << n)
        assert not nccl.ncclAllGather(a, b, count, kind, comm, queue)
        say(["ncclAllGather"], name, "", None, 1 << n)
        assert not nccl.ncclBroadcast(a, b, count, kind, 0, comm, queue)
        say(["ncclBroadcast"], name, "", 0, 1 << n)
        assert not nccl.ncclGroupStart()
        assert not nccl.ncclSend(a, count, kind, 0, comm, queue)
        say(["ncclSend"], name, "", 0, 1 << n)
        assert not nccl.ncclRecv(b, count, kind, 0, comm, queue)
        say(["ncclRecv"], name, "", 0, 1 << n)
        assert not nccl.ncclGroupEnd()
    stream.synchronize()
    assert not nccl.ncclCommDestroy(comm)


def run(go, passed):
    import torch
    import torch.distributed as dist

    torch.zeros(1, device="cuda")
    print("ready", flush=True)
    while not os.path.exists(go):
        time.sleep(0.05)
    dist.init_process_group("nccl", rank=0, world_size=1)
    rows = []

    def say(ops, name, redop, root, count):
        rows.append({"ops": ops, "type": name, "redop": redop, "root": root, "count": count,
                     "bytes": count and count * TYPES[name]})

    for n in range(50):
        name = list(TYPES)[n % len(TYPES)]
        redop = REDOPS[n % len(REDOPS)]
        count = 1 << (n % 20)
        tensor = torch.ones(count, dtype=getattr(torch, name), device="cuda")
        op = {"sum": dist.ReduceOp.SUM, "prod": dist.ReduceOp.PRODUCT, "max": dist.ReduceOp.MAX,
              "min": dist.ReduceOp.MIN}[redop]
        dist.all_reduce(tensor, op=op)
        say(["ncclAllReduce"], name, redop, None, count)
    big = torch.ones(4096, device="cuda")
    small = torch.empty(4096, device="cuda")
    dist.broadcast(big, src=0)
    say(BROADCASTS, "float32", "", 0, 4096)
    dist.all_gather_into_tensor(small, big)
    say(["ncclAllGather"], "float32", "", None, 4096)
    torch.cuda.synchronize()
    waits = []
    for n in range(10):  # work in front of the collective, so that there is something to wait for
        for _ in range(40):
            big2 = torch.ones(4096, 4096, device="cuda") @ torch.ones(4096, 4096, device="cuda")
        dist.all_reduce(big2)
        say(["ncclAllReduce"], "float32", "sum", None, 4096 * 4096)
        start = time.monotonic_ns()
        torch.cuda.synchronize()
        waits.append(time.monotonic_ns() - start)
    dist.barrier()
    torch.cuda.synchronize()
    dist.destroy_process_group()
    say(["ncclAllReduce"], None, None, None, None)  # what the barrier does
    direct(say)
    with open(passed, "w", encoding="utf-8") as file:
        json.dump({"pid": os.getpid(), "rows": rows, "waits": waits, "torch": torch.__version__,
                   "nccl": ".".join(map(str, torch.cuda.nccl.version()))}, file)


def check(path, passed):
    with open(passed, encoding="utf-8") as file:
        told = json.load(file)
    db = sqlite3.connect(path)
    failed = []

    def test(what, good, detail=""):
        print("ok  " if good else "FAIL", what, detail if detail or not good else "")
        if not good:
            failed.append(what)

    print("torch %(torch)s, NCCL %(nccl)s" % told)
    events = db.execute("SELECT op, datatype, reduce_op, root, count, bytes, seq, rank, world_size, comm_hash, joined, "
                        "waited_ns, duration_ns FROM nccl_events WHERE pid = ? AND op NOT LIKE 'ncclGroup%' "
                        "ORDER BY time_ns", (told["pid"],)).fetchall()
    test("calls seen", len(events) == len(told["rows"]), "%d, passed %d" % (len(events), len(told["rows"])))
    bad = 0
    for want, got in zip(told["rows"], events):
        same = want["count"] is None and got[0] in want["ops"] or (
                got[0] in want["ops"] and got[1] == want["type"] and got[2] == want["redop"] and
                got[3] == want["root"] and got[4] == want["count"] and got[5] == want["bytes"])
        if not same:
            bad += 1
            if bad <= 5:
                print("     passed", want, "traced", got[:6])
    test("operation, datatype, reduction, root, elements, bytes", not bad, "%d of %d differ" % (bad, len(told["rows"])))
    comms = list(dict.fromkeys(row[9] for row in events))
    test("two communicators, named", len(comms) == 2 and None not in comms, str(comms))
    test("rank 0 of 1", {(row[7], row[8]) for row in events} == {(0, 1)})
    for comm in comms:
        numbers = [row[6] for row in events if row[9] == comm and row[0] not in ("ncclSend", "ncclRecv")]
        test("sequence numbers 1 to n", numbers == list(range(1, len(numbers) + 1)), "n = %d" % len(numbers))
    made = db.execute("SELECT symbol, gone_ns > made_ns FROM communicator JOIN op ON op.id = made_by "
                      "JOIN process ON process.id = process WHERE pid = ?", (told["pid"],)).fetchall()
    test("made and gone", made and all(row[1] for row in made), str(made))
    at = [n for n, row in enumerate(told["rows"]) if row["count"] == 4096 * 4096][0]
    waited = [(row[10], row[11]) for row in events[at:at + 10]]
    # The device's end is waited for: at least 90 % of what the program measured, within 2 ms.
    close = sum(how == "device" and abs(got - want) < max(2e6, want / 10)
                for (how, got), want in zip(waited, told["waits"]))
    test("waits as measured", close >= 9, "%d of 10; %s against %s us" % (
        close, [got and got // 1000 for _, got in waited], [ns // 1000 for ns in told["waits"]]))
    ops = dict(db.execute("SELECT op, sum(calls) FROM op_totals WHERE pid = ? AND op LIKE 'nccl%' GROUP BY op", (told["pid"],)))
    # ncclBcast calls ncclBroadcast
    test("counted", sum(ops.get(op, 0) for op in ("ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast",
                                                  "ncclReduce", "ncclSend", "ncclRecv")) == len(events), str(ops))
    loss = db.execute("SELECT reason, sum(count) FROM loss GROUP BY reason").fetchall()
    test("nothing lost of NCCL", not [row for row in loss if row[0] in ("no_comm", "no_collective")], str(loss))
    test("call takes, us", True, str(sorted(row[12] // 1000 for row in events)[:: max(1, len(events) // 8)]))
    print("nccl:", "all ok" if not failed else "%d failed: %s" % (len(failed), ", ".join(failed)))
    return 1 if failed else 0


if sys.argv[1] == "run":
    run(*sys.argv[2:])
else:
    sys.exit(check(*sys.argv[2:]))
