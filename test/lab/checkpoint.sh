#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same as fsync, and the loop says that its files are checkpoints, by an attribute of their folder.
# cause: checkpoint-stall
# culprit: self
# line: memory.py:fsync
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
every=$((5 + 5 * rnd))

disk ckpt 64
export LAB_LABEL=checkpoint_write/run42
group io
inside "$group"
slow_disk write 8000000 # an eighth of a second each
work "$cpu" memory checkpoint --path "$disk" --mb 1 --every "$every"
guilty "$training"
episode 4
