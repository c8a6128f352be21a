# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# append: preempt=full
# Where the kernel takes the CPU away in the middle of a program, launches in a row are neither lost nor counted twice.
# shellcheck source=test/vm/lib.sh
. /lib.sh

mkfifo /tmp/go1 /tmp/go2
export SIM_LAUNCH_US=0 SIM_KERNEL_US=0
taskset 1 storm --mixed 8 0 </tmp/go1 >/tmp/storm1 &
first=$!
taskset 1 storm --uneven 8 0 </tmp/go2 >/tmp/storm2 &
second=$!
exec 3>/tmp/go1 4>/tmp/go2
trace
sleep 2
echo go >&3
echo go >&4
wait $first $second
sleep 1
untrace
made=$(cat /tmp/storm1 /tmp/storm2 | awk '/^total/ { n += $2 } END { print n }')
at_least "launches" "$made" 20000
is "each is counted" "$(query "SELECT sum(calls) FROM op_second JOIN op ON op.id = op WHERE class = 'launch'")" "$made"
is "... once for its kernel" "$(query "SELECT sum(launches) FROM kernel_second")" "$made"
