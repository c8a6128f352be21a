# SPDX-License-Identifier: Apache-2.0
"""The loops of test/gpu/overhead, and what their windows say.

usage: overhead.py launch-bound|gpu-bound STEPS     works until it is stopped; a line "START SECONDS" for each
                                                    step goes to the file STEPS
       overhead.py report STEPS WINDOWS KIND        WINDOWS has lines "VARIANT FROM TO"
       overhead.py turns STEPS TURNS WHAT           TURNS has lines "on|off FROM TO", shorter than a second, or is a
                                                    trace in which launches were shed in turns
"""
import bisect
import random
import sqlite3
import statistics
import sys
import time


def launch_bound():
    """A small transformer, eager, with an unfused optimizer: tens of thousands of launches a second."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 4), nn.Linear(256, 10)).cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    data = [(torch.randn(16, 64, 256).pin_memory(), torch.randint(0, 10, (16, 64)).pin_memory())
            for _ in range(8)]

    def step(i):
        x, y = (t.cuda(non_blocking=True) for t in data[i % len(data)])
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()

    return step, 30


def gpu_bound():
    """Large matrix products, one synchronisation each fifty."""
    import torch

    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)

    def step(_):
        c = b
        for _ in range(50):
            c = torch.nn.functional.normalize(a @ c, dim=0)
        return c[0, 0].item()

    return step, 4


def run(kind, path):
    step, warm = {"launch-bound": launch_bound, "gpu-bound": gpu_bound}[kind]()
    for i in range(warm):
        step(i)
    print("warm", flush=True)
    with open(path, "w", buffering=1 << 16) as out:
        told = i = 0
        while True:
            at, start = time.time(), time.perf_counter()
            step(i)
            out.write(f"{at:.6f} {time.perf_counter() - start:.7f}\n")
            i += 1
            if at - told > 0.5:
                out.flush()
                told = at


def step_time(took):
    """The mean, since a limit that is kept by looking now and then shows in some steps only; but not of steps
    that take much longer than the quick ones: the machine has a slower speed, too, and a hit costs a few
    percent of a step at most."""
    most = 1.15 * statistics.quantiles(took, n=10)[0]
    return statistics.fmean(t for t in took if t <= most)


def interval(values):
    """The median and its 95 % interval, by drawing again."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(4000))
    return statistics.median(values), medians[100], medians[3899]


def read_steps(path):
    at, took = [], []
    for line in open(path):
        if len(line.split()) == 2 and line.endswith("\n"):
            a, t = map(float, line.split())
            at.append(a)
            took.append(t)
    return at, took


def read_windows(steps, windows):
    at, took = read_steps(steps)
    rows = []
    for variant, start, end in (line.split() for line in open(windows)):
        part = took[bisect.bisect(at, float(start)):bisect.bisect(at, float(end)) - 1]
        if len(part) > 1:
            rows.append((variant, step_time(part)))
    return rows


def calm(rows, base):
    """The machine is slower now and then, for seconds: an untraced window of such a time tells nothing."""
    kept = []
    for n, i in enumerate(base):
        near = sorted(rows[b][1] for b in base[max(0, n - 4):n + 5])
        if rows[i][1] <= SLOWER * near[len(near) // 4]:
            kept.append(i)
    return kept


SLOWER = 1.05
ILL = 25  # percent: no probe of ours costs that, so the machine was slow meanwhile


def report(steps, windows, kind):
    rows = read_windows(steps, windows)
    every = [i for i, row in enumerate(rows) if row[0] == "nothing"]
    base = calm(rows, every)
    print(f"== {kind}: {1e3 * statistics.median(rows[i][1] for i in base):.3f} ms a step untraced, "
          f"{len(base)} windows of {len(every)}: the machine was slower in the others")
    dearer, dropped = {}, 0
    for i, (variant, took) in enumerate(rows):
        if variant == "nothing":
            continue
        beside = [b for b in (i - 1, i + 1) if b in base]
        if not beside or took > (1 + ILL / 100) * (off := statistics.fmean(rows[b][1] for b in beside)):
            dropped += 1
        else:
            dearer.setdefault(variant, []).append(100 * (took / off - 1))
    print(f"{dropped} traced windows left out: beside none that tells, or {ILL} % slower")
    for variant, values in dearer.items():
        print("{:10} step time {:+6.2f} %  (95 % interval {:+.2f} .. {:+.2f}, {} windows)".format(
            variant, *interval(values), len(values)))
    noise = [100 * (rows[b][1] / statistics.fmean((rows[a][1], rows[c][1])) - 1)
             for a, b, c in zip(base, base[1:], base[2:])]
    if len(noise) > 1:
        print("nothing    beside nothing {:+.2f} %  ({:+.2f} .. {:+.2f}): the noise".format(*interval(noise)))
    for ours, floor, what in ("no-limit", "empty", "an empty probe at launches"), (
            "no-limit", "same", "an empty probe at all functions of ours"), ("no-limit", "session", "an empty session"):
        if ours in dearer and floor in dearer:
            a, b = interval(dearer[ours])[0], interval(dearer[floor])[0]
            print(f"{ours} against {what}: " + (f"{a / b:.2f} times" if b > 0.5 else
                                                "not to be told, that costs less than the noise"))


def read_turns(path):
    if not path.endswith(".db"):
        return [(how, float(a), float(b)) for how, a, b in (line.split() for line in open(path) if line[0] == "o")]
    shed = [(a / 1e9, b / 1e9) for a, b in sqlite3.connect(path).execute(
        "SELECT from_ns, to_ns FROM shed WHERE what = 'launches' ORDER BY 1")]
    turns = []
    for (a, b), (c, _) in zip(shed, shed[1:]):
        turns += [("off", a, b), ("on", b, c)]
    return turns


def turns(steps, path, what):
    """The machine's speed changes from second to second: each turn is compared with those beside it."""
    at, took = read_steps(steps)
    means = []
    for how, start, end in read_turns(path):
        part = took[bisect.bisect(at, start + TURN_EDGE):bisect.bisect(at, end - TURN_EDGE)]
        means.append((how, statistics.median(part) if len(part) > 4 else None))
    values = []
    for (_, a), (how, b), (_, c) in zip(means, means[1:], means[2:]):
        if how == "on" and a and b and c:
            values.append(100 * (2 * b / (a + c) - 1))
    print("{:10} step time {:+6.2f} %  (95 % interval {:+.2f} .. {:+.2f}, {} turns)".format(what, *interval(values), len(values)))


TURN_EDGE = 0.02  # seconds, in which probes come and go


if __name__ == "__main__":
    if sys.argv[1] == "turns":
        turns(*sys.argv[2:5])
    elif sys.argv[1] == "report":
        report(*sys.argv[2:5])
    else:
        run(sys.argv[1], sys.argv[2])
