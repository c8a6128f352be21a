#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody spins on the CPU of one rank; the other one, on a CPU of its own, waits for it.
# cause: straggler
# culprit: the rank that is robbed
# because: cpu-contention
# line: ranks.py:wait
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
pick logrotate backup-sync node_exporter kubelet-gc
name=$picked
job none 2 1 --host-ms 8 --kernel-us 300
trace
tell_ranks
sleep 2
hog "$other" "$name"
set_state "$training" "$STATE_FAULT" 1 # for its own measure
sleep 4
stop "$hog"
set_state "$training" "$STATE_FAULT" 0
sleep 1
untrace
answer
