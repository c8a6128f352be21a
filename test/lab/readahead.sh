#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop reads from more files in turn than its memory can read ahead of: each is read from the disk again and again.
# cause: disk-read
# culprit: self
# line: memory.py:thrash
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
rnd 3
bps=$((30000000 + 10000000 * rnd))

disk data 160
files 220 512
group memory
limit_memory 45000000
inside "$group"
group io
inside "$group"
slow_disk read "$bps"
work "$cpu" memory thrash --path "$disk" ${sick:+"$sick"}
guilty "$training"
episode 4
