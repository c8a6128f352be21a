#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The worker that makes the batches reads files from a slow disk.
# cause: disk-read
# culprit: the worker
# line: loader.py:get
# culprit-line: memory.py:read
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
either --sick
sick=$chosen
either direct
way=${chosen:-read}
pick pipe queue
via=$picked
rnd 3
kb=$((128 + 128 * rnd))

disk data 96
files 40 "$kb"
group io
inside "$group"
slow_disk read $((kb * 1024 * 25)) # 25 of them a second
work "$cpu" loader disk --path "$disk" --via "$via" --cpu "$other" \
	--way "$way" ${sick:+"$sick"}
# shellcheck disable=SC2046 # words
guilty $(children_of "$training")
episode 4
