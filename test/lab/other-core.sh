#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody spins, but on another CPU: innocent.
# cause: none
# culprit: nobody
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

[ "$(nproc)" -gt 1 ] || skip "one CPU only"
pick logrotate backup-sync node_exporter cron-scan kubelet-gc audit.d
name=$picked
rnd "$(nproc)"
cpu=$rnd
rnd 3
burst=$((rnd + 2))

train "$cpu" 60 --sync spin
renice -n -20 "$training" >/dev/null
trace
soon 10 trained
sleep 1
hog $(((cpu + 1) % $(nproc))) "$name"
alone "$burst" 1 || skip "others took the CPU of the loop"
stop "$hog"
sleep 1
untrace
answer
