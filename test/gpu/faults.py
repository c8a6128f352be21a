# SPDX-License-Identifier: Apache-2.0
"""Faults in a real PyTorch loop, one per run: what should explain say of it?

usage: faults.py FAULT SECONDS FILE     prints "ready PID", then trains with the fault
A line that ends in "# fault: NAME" is where the time of that fault is lost.
"""
import ctypes
import gc
import os
import sys
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    """Batches whose making takes a worker longer than a step takes the GPU."""

    def __len__(self):
        return 1 << 30

    def __getitem__(self, i):
        end = time.perf_counter() + 0.04
        while time.perf_counter() < end:
            pass
        return torch.randn(64, 256), torch.randint(0, 10, (64,))


def endless(batch):
    while True:
        yield batch


def work_in_python():
    while True:
        sum(i * i for i in range(10000))


def hog():
    """A process of another name on our CPU."""
    cpu = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"backup-agent", 0, 0, 0)  # PR_SET_NAME
        ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL
        while True:
            pass


MORE = bytes(64 << 20)


def checkpoint(model, file):
    with open(file, "wb") as f:
        torch.save(model.state_dict(), f)
        f.write(MORE)
        f.flush()
        os.fsync(f.fileno())  # fault: disk-write


def forward(model, x, fault):
    for layer in model:
        x = layer(x)
        if fault == "sync-too-often":
            x.sum().item()  # fault: sync-too-often
    return x


def main():
    fault, seconds, file = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    torch.manual_seed(0)
    # The GPU has something to do while the host goes on.
    width = {"sync-too-often": 1536, "alloc-churn": 2048}.get(fault, 256)
    model = nn.Sequential(nn.Linear(256, width), *[nn.Linear(width, width) for _ in range(8)],
                          nn.Linear(width, 10)).cuda()
    opt = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = 64 if fault == "alloc-churn" else 16
    fixed = torch.randn(batch, 64, 256), torch.randint(0, 10, (batch, 64))
    batches = endless(fixed)
    if fault == "data-loader":
        batches = iter(DataLoader(Slow(), batch_size=16 // 8, num_workers=1))
    big = torch.empty(256 << 20, dtype=torch.uint8)
    graph = [[] for _ in range(2000000)] if fault == "python-gc" else []
    for x, y in batches:
        break
    model(x.cuda()).sum().item()
    print("ready", os.getpid(), flush=True)
    if fault == "cpu-contention":
        hog()
    if fault == "gil":
        threading.Thread(target=work_in_python, daemon=True).start()
    end = time.perf_counter() + seconds
    for x, y in batches:  # fault: data-loader
        if time.perf_counter() > end:
            break
        x, y = x.cuda(), y.cuda()
        if fault == "copy-bound":
            big.cuda()  # fault: copy-bound
        loss = nn.functional.cross_entropy(forward(model, x, fault).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        loss.item()
        if fault == "self-sleep":
            time.sleep(0.02)  # fault: self-sleep
        if fault == "python-gc":
            gc.collect()  # fault: python-gc
        if fault == "alloc-churn":
            del x, y, loss
            opt.zero_grad()
            # Memory is asked for in the next step again, but that takes less time.
            torch.cuda.empty_cache()  # fault: alloc-churn
        if fault == "disk-write":
            checkpoint(model, file)
        if fault == "none":  # the GPU has enough to do
            for _ in range(20):
                torch.mm(heavy(), heavy())
            torch.cuda.synchronize()
    del graph


def heavy(cache=[]):
    if not cache:
        cache.append(torch.randn(8192, 8192, device="cuda"))
    return cache[0]


if __name__ == "__main__":
    main()
