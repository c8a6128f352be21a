#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packets between the loop and the server of its batches get lost.
# cause: network-retransmit
# culprit: nobody
# line: remote.py:receive
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
rnd 2
pct=$((rnd + 2))
rnd 3
kb=$((24 + 12 * rnd))
pick cubic reno

need tc
network
small_packets
in_network "$far"
start "$other" remote server "$far_ip" --kb "$kb" --pace "$picked"
in_network "$near"
work "$cpu" remote loop "$far_ip" --kb "$kb" --samples 12
trace
sleep 2
lossy "$pct"
fault "$training"
sleep 4
mend "$training"
lossless
sleep 1
echo "segments sent again: $(retransmits "$far")"
untrace
answer
