#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop writes a checkpoint every few steps and waits until a slow disk has it.
# cause: disk-write
# culprit: self
# line: memory.py:fsync
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
every=$((5 + 5 * rnd))
rnd 2
mb=$((rnd + 1))

disk ckpt 64
group io
inside "$group"
slow_disk write $((mb * 8000000)) # an eighth of a second each
work "$cpu" memory checkpoint --path "$disk" --mb "$mb" --every "$every"
guilty "$training"
episode 4
