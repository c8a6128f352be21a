#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An inference server whose requests come in waves; between them there is nothing to do.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
pick accept epoll
wait=$picked
rnd 3
pause=$((300 + 200 * rnd))
work "$cpu" serve server "$dir/door" --wait "$wait" --host-ms 1
start "$other" serve client "$dir/door" --wave $((20 + 10 * rnd)) --pause-ms "$pause"
healthy 6
