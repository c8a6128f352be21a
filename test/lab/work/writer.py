#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes to a file and waits until it is on the disk, over and over, without a GPU."""
import argparse
import os
import time

import loop as lab

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("path")
options.add_argument("--mb", type=int, default=1, help="at a time")
writer = lab.Loop(options)
block = os.urandom(writer.o.mb << 20)
fd = os.open(writer.o.path, os.O_WRONLY | os.O_CREAT)
writer.ready()
while True:
    if writer.sick:
        os.pwrite(fd, block, 0)
        os.fsync(fd)
    else:
        time.sleep(0.02)
