#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One shard in ten is on a slow disk, the others on a quick one: the worker is late now and then.
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
rnd 3
kb=$((128 + 128 * rnd))

disk data 96
files 36 "$kb"
quick=$disk
disk shard 32
files 4 "$kb"
for i in 0 1 2 3; do
	ln -s "$disk/sample.$i" "$quick/sample.${i}5x"
done
group io
inside "$group"
slow_disk read $((kb * 1024 * 4)) # a quarter of a second each
work "$cpu" loader disk --path "$quick" --cpu "$other" --way "$way" ${sick:+"$sick"}
# shellcheck disable=SC2046 # words
guilty $(children_of "$training")
episode 4
