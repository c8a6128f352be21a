#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A monitoring agent works in bursts on the CPU of the training loop.
# cause: cpu-contention
# culprit: the agent
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
pick dcgm-exporter node_exporter telegraf otelcol
name=$picked
rnd 4
duty=$((55 + 5 * rnd))
rnd 3
period=$((300 + 200 * rnd))

work "$cpu" think well
truth=run_delay
start "$cpu" agent --name "$name" --duty "$duty" --period-ms "$period"
guilty "$worker"
trace
sleep 2
fault "$worker"
sleep 4
mend "$worker"
sleep 1
untrace
answer
