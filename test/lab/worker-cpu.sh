#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The worker that makes the batches needs more CPU than there is time.
# cause: data-loader
# culprit: a worker
# line: loader.py:get
# culprit-line: loader.py:cpu loop.py:busy
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
either --sick
sick=$chosen
pick pipe queue
via=$picked
rnd 3
work "$cpu" loader cpu --via "$via" --cpu "$other" --timeout "$rnd" --ms $((25 + 10 * rnd)) \
	${sick:+"$sick"}
# shellcheck disable=SC2046 # words
guilty $(children_of "$training")
episode 4
