#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A thread of the process holds a native lock that the loop takes in every step.
# cause: lock
# culprit: self
# line: think.py:lock
# culprit-line: think.py:hold
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
either --sick
sick=$chosen
either --busy
rnd 3
work "$cpu" think mutex --other "$other" --ms $((15 + 10 * rnd)) \
	${chosen:+"$chosen"} ${sick:+"$sick"}
guilty "$training"
episode 4
