#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody spins on the CPU where the loop spins, too, waiting for long kernels.
# cause: cpu-contention
# culprit: the hog
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
pick logrotate backup-sync cron-scan audit.d
name=$picked
rnd 3
work "$cpu" think well --sync spin --kernel-us $((250 + 100 * rnd)) --host-ms 1
truth= # what the CPU was taken for is not what was lost: the GPU went on
trace
sleep 2
hog "$cpu" "$name"
guilty "$hog"
sleep 4
stop "$hog"
sleep 1
untrace
answer
