#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The server of the batches takes its time.
# cause: network-peer
# culprit: the server
# line: remote.py:receive
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
either --sick
sick=$chosen
either --busy
rnd 3
ms=$((20 + 15 * rnd))
rnd 3
kb=$((64 + 64 * rnd))

network
in_network "$far"
start "$other" remote server "$far_ip" --name feature-store --kb "$kb" --ms "$ms" --pace cubic \
	${chosen:+"$chosen"}
server=$worker
in_network "$near"
work "$cpu" remote loop "$far_ip" --kb "$kb"
guilty "$server"
if [ -n "$sick" ]; then
	fault "$server" "$training"
	sleep 0.3
	trace
	sleep 4
else
	trace
	sleep 2
	fault "$server" "$training"
	sleep 4
	mend "$server" "$training"
	sleep 1
fi
echo "segments sent again: $(retransmits "$far")"
untrace
answer
