#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop's checkpoints, small and quick by themselves, wait behind what somebody else writes to the same disk.
# cause: disk-write
# culprit: beside
# line: memory.py:fsync
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
pick rsync pg_basebackup fluent-bit
name=$picked
rnd 3
mb=$((8 + 4 * rnd))

one_slow_disk shared 128 write 60000000
work "$cpu" memory checkpoint --path "$disk" --mb 1 --every 10 --sick
truth= # some of each wait is the loop's own
start "$other" writer "$disk/dump" --name "$name" --mb "$mb"
guilty "$worker"
trace
sleep 3
fault "$worker"
sleep 5
mend "$worker"
sleep 1
untrace
answer
