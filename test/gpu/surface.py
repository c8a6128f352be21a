# SPDX-License-Identifier: Apache-2.0
"""Eager training, a CUDA graph and torch.compile on a real GPU, one after the other.

usage: surface.py GO_FILE [warm]
Prints "ready PID", waits for GO_FILE, works, then prints one line of JSON per part: launches are for the
tracer to count, memory is what PyTorch itself has. With "warm" everything has run once before.
"""
import json
import os
import sys
import time

import torch
from torch import nn


def build():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, dropout=0.0)
    return nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Linear(256, 10)).cuda()


def eager(model, opt, x, y, steps):
    for _ in range(steps):
        opt.zero_grad()
        nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
        opt.step()
    torch.cuda.synchronize()


class Graphed:
    """A forward pass, recorded once and launched as a whole."""

    def __init__(self, model, x):
        self.graph = torch.cuda.CUDAGraph()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), torch.no_grad():
            for _ in range(3):
                model(x)
        torch.cuda.current_stream().wait_stream(stream)
        with torch.cuda.graph(self.graph), torch.no_grad():
            self.out = model(x)

    def run(self, n):
        for _ in range(n):
            self.graph.replay()
        torch.cuda.synchronize()


def say(part, **more):
    print(json.dumps({"part": part, **more}), flush=True)


def main():
    go, warm = sys.argv[1], "warm" in sys.argv[2:]
    model = build()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    x, y = torch.randn(16, 64, 256).cuda(), torch.randint(0, 10, (16, 64)).cuda()
    fused = torch.compile(lambda t: (torch.nn.functional.gelu(t) * 2 + 1).relu().sum(-1))
    graphed = None
    if warm:
        eager(model, opt, x, y, 10)
        graphed = Graphed(model, x)
        fused(x)
        torch.cuda.synchronize()
    print("ready", os.getpid(), flush=True)
    while not os.path.exists(go):
        time.sleep(0.01)
    end = time.time() + 12
    steps = replays = compiled = 0
    graphed = graphed or Graphed(model, x)
    while time.time() < end:
        eager(model, opt, x, y, 10)
        graphed.run(20)
        for _ in range(10):
            fused(x)
        torch.cuda.synchronize()
        steps, replays, compiled = steps + 10, replays + 20, compiled + 10
    say("done", steps=steps, graph_launches=replays, compiled_calls=compiled,
        reserved=torch.cuda.memory_reserved(), max_reserved=torch.cuda.max_memory_reserved())
    free, total = torch.cuda.mem_get_info()
    say("device", used=total - free)
    while os.path.exists(go):
        time.sleep(0.05)


if __name__ == "__main__":
    main()
