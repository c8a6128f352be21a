#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The worker that makes the batches sleeps, as one does that keeps to a rate.
# cause: data-loader
# culprit: a worker
# line: loader.py:get
# culprit-line: loader.py:sleep
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
either --sick
sick=$chosen
pick pipe queue
via=$picked
rnd 2
workers=$((rnd + 1))
rnd 3
work "$cpu" loader sleep --via "$via" --cpu "$other" --workers "$workers" \
	--ms $(((25 + 10 * rnd) * workers)) ${sick:+"$sick"}
# shellcheck disable=SC2046 # words
guilty $(children_of "$training")
episode 4
