#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first call opens the device and loads code, which takes long; then all is well.
# cause: cold-start
# culprit: self
# line: device.py:first
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
export SIM_DRIVER=1 SIM_INIT_MS=$((700 + 300 * rnd))
trace
work "$cpu" device cold
attached
lost_from=0
guilty "$training"
sleep 3
untrace
answer
