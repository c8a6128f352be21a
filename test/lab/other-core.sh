#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody spins, but on another CPU: innocent.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
pick logrotate backup-sync node_exporter cron-scan kubelet-gc audit.d
name=$picked
train "$cpu" 60 --sync spin
renice -n -20 "$training" >/dev/null
soon 10 trained
trace
sleep 1
hog "$other" "$name"
alone 4 1 || skip "others took the CPU of the loop"
stop "$hog"
sleep 1
untrace
answer
