#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The control group of the training loop uses up its CPU limit; nobody is to blame.
# cause: cpu-quota
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
pct=$((6 + 4 * rnd)) # of a CPU: the loop needs some 20, less on a fast day
rnd 3
burst=$((rnd + 2))

group cpu
inside "$group"
work "$cpu" think well
truth=throttled
trace
sleep 2
limit_cpu $((pct * 1000))
sleep "$burst"
limit_cpu 0
sleep 1.5
untrace
answer
