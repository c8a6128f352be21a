#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An inference server that is asked rarely and waits most of the time.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
pick accept epoll
wait=$picked
rnd 3
pause=$((600 + 300 * rnd))
work "$cpu" serve server "$dir/door" --wait "$wait" --host-ms 1
start "$other" serve client "$dir/door" --wave 1 --pause-ms "$pause"
healthy 6
