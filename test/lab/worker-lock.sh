#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The worker that makes the batches waits for a lock that another of its threads holds.
# cause: lock
# culprit: the worker
# line: loader.py:get
# culprit-line: loader.py:hold
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
either --sick
sick=$chosen
pick pipe queue
via=$picked
pick mutex semaphore
kind=$picked
rnd 3
work "$cpu" loader "$kind" --via "$via" --cpu "$other" --ms $((30 + 10 * rnd)) ${sick:+"$sick"}
# shellcheck disable=SC2046 # words
guilty $(children_of "$training")
episode 4
