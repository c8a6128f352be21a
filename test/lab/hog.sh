#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody spins on the CPU of the training loop.
# cause: cpu-contention
# culprit: the hog
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

pick spin block
sync=$picked
pick logrotate backup-sync node_exporter cron-scan kubelet-gc audit.d
name=$picked
cpus
rnd 3
burst=$((rnd + 2))

either early

train "$cpu" 60 --sync "$sync"
soon 10 trained
truth=run_delay
if [ -n "$chosen" ]; then
	hog "$cpu" "$name"
	trace
else
	trace
	sleep 2
	hog "$cpu" "$name"
fi
guilty "$hog"
sleep "$burst"
stop "$hog"
sleep 1.5
untrace
answer
