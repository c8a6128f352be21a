#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The control group of the training loop uses up its CPU limit; nobody is to blame.
# cause: cpu-quota
# culprit: nobody
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

pick spin block
sync=$picked
rnd "$(nproc)"
cpu=$rnd
rnd 3
pct=$((20 + 10 * rnd)) # of a CPU
rnd 3
burst=$((rnd + 2))

# A group of our own: $group, and how it is limited.
v1=/sys/fs/cgroup/cpu
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -w "$v1/cgroup.procs" ]; then
	group=$v1/culprit-lab.$$
	limit() {
		echo "$1" >"$group/cpu.cfs_quota_us"
	}
	none=-1
elif grep -qw cpu "${v2:-/none}/cgroup.subtree_control" 2>/dev/null; then
	group=$v2/culprit-lab.$$
	limit() {
		echo "$1 100000" >"$group/cpu.max"
	}
	none=max
else
	skip "no cpu controller to write to, neither cgroup v1 nor v2"
fi
mkdir "$group" 2>/dev/null || skip "cannot make a control group in ${group%/*}"
# shellcheck disable=SC2034 # the library's clean-up
undo="rmdir $group"

train "$cpu" 60 --sync "$sync"
renice -n -20 "$training" >/dev/null
echo "$training" >"$group/cgroup.procs" || skip "cannot move a process into $group"
trace
soon 10 trained
sleep 2
limit $((pct * 1000)) || skip "cannot limit $group"
sleep "$burst"
limit $none
sleep 1.5
untrace
stop "$training"
answer
