#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody else works on the same GPU, in bursts.
# cause: gpu-shared
# culprit: the other tenant
# line: loop.py:sync
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
rnd 3
pause=$((10 + 10 * rnd))
pick jupyter-kernel batch-infer embed-job
name=$picked
export SIM_SHARE="$shm/device"
work "$cpu" device shared
start "$other" device tenant --name "$name" --sync block --kernels 30 --kernel-us 500 \
	--pause-ms "$pause"
tenant=$worker
guilty "$tenant"
trace
sleep 2
fault "$tenant" "$training"
sleep 4
mend "$tenant" "$training"
sleep 1
untrace
answer
