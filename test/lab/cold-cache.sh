#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop reads its samples itself, from a slow disk and not from memory.
# cause: disk-read
# culprit: self
# line: memory.py:read
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
either direct
way=${chosen:-read}
rnd 3
kb=$((128 + 128 * rnd))

disk data 96
files 40 "$kb"
group io
inside "$group"
slow_disk read $((kb * 1024 * 25))
work "$cpu" memory read --path "$disk" --way "$way" ${sick:+"$sick"}
guilty "$training"
episode 4
