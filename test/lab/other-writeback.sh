#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody writes to a disk of its own, slow and waiting for it: innocent.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
pick rsync pg_basebackup fluent-bit
name=$picked
disk backup 64
group io
work "$cpu" think well --sync block
renice -n -20 "$training" >/dev/null
truth=
inside "$group"
slow_disk write 8000000
start "$other" writer "$disk/dump" --name "$name"
trace
sleep 1
fault "$worker"
alone 4 1 || skip "others took the CPU of the loop"
mend "$worker"
sleep 1
untrace
answer
