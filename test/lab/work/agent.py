#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A monitoring agent that works a part of each period, without a GPU."""
import argparse
import time

import loop as lab

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--period-ms", type=float, default=500)
options.add_argument("--duty", type=float, default=60, help="percent of the period at work")
agent = lab.Loop(options)
agent.ready()
while True:
    period = agent.o.period_ms / 1e3
    work_until = time.monotonic() + period * agent.o.duty / 100
    while agent.sick and time.monotonic() < work_until:
        lab.busy(2_000)
    time.sleep(period * (1 - agent.o.duty / 100) if agent.sick else 0.02)
