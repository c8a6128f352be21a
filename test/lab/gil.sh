#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Another thread of the process computes in Python and holds the interpreter lock.
# cause: gil
# culprit: self
# line: loop.py:train loop.py:busy
# culprit-line: think.py:hog
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
either --sick
sick=$chosen
either block
rnd 3
work "$cpu" think gil --other "$other" --ms $((rnd * 2 + 1)) --kernels 10 --kernel-us 400 \
	--sync "${chosen:-spin}" ${sick:+"$sick"}
[ -n "$chosen" ] && truth= || truth=blocked # when it spins it blocks for nothing else
guilty "$training"
episode 4
