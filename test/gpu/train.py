# SPDX-License-Identifier: Apache-2.0
"""A small transformer trained in eager mode on a real GPU: many launches, a copy and a sync a step.

usage: train.py GO_FILE DONE_FILE STEPS ROUNDS SECONDS
Warms up, waits for GO_FILE, runs exactly STEPS steps, writes DONE_FILE and waits until it is removed;
then runs ROUNDS windows of SECONDS each, printing steps/s per window, so that a tracer can be switched
on and off between them.
"""
import os
import sys
import time

import torch
from torch import nn


def main():
    go, done, steps, rounds, seconds = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 4), nn.Linear(256, 10)).cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    data = [(torch.randn(16, 64, 256).pin_memory(), torch.randint(0, 10, (16, 64)))
            for _ in range(8)]

    def step(i):
        x, y = data[i % len(data)]
        x, y = x.cuda(non_blocking=True), y.cuda()
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()

    for i in range(30):
        step(i)
    torch.cuda.synchronize()
    print("warm", os.getpid(), flush=True)
    while not os.path.exists(go):
        time.sleep(0.01)
    start = time.perf_counter()
    for i in range(steps):
        step(i)
    torch.cuda.synchronize()
    print(f"steps {steps} in {time.perf_counter() - start:.3f} s", flush=True)
    open(done, "w").close()
    while os.path.exists(done):
        time.sleep(0.01)
    for r in range(rounds):
        start, n = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            step(n)
            n += 1
        rate = n / (time.perf_counter() - start)
        print(f"window {r} {rate:.3f}", flush=True)


if __name__ == "__main__":
    main()
