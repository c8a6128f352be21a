#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody spins on the CPU of the training loop.
# cause: cpu-contention
# culprit: the hog
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

pick spin block
sync=$picked
pick logrotate backup-sync node_exporter cron-scan kubelet-gc audit.d
name=$picked
rnd "$(nproc)"
cpu=$rnd
rnd 3
burst=$((rnd + 2))

# Both before others: on a busy machine, too, the hog is the one who takes the most.
renice -n -15 $$ >/dev/null
train "$cpu" 60 --sync "$sync"
trace
soon 10 trained
sleep 2
hog "$cpu" "$name"
echo "guilty: $name $hog"
sleep "$burst"
stop "$hog"
sleep 1.5
untrace
answer
