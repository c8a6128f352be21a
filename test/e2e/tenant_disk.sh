#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two containers on one slow disk: the checkpoints of one delay those of the other, and both are named.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=test/tenants.sh
. "$(dirname "$0")/../tenants.sh"

limit=/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device
[ -w "$limit" ] || skip "the root group's disk cannot be limited (control groups of version 1 can)"
hierarchy any

# The disk that both see stands on one that is slow for everybody, so that their requests wait for each other.
truncate -s 128M "$dir/image"
slow=$(losetup --show -f "$dir/image" 2>/dev/null) || skip "no loop device"
undo="losetup -d $slow; $undo"
shared=$(losetup --show --direct-io=on -f "$slow" 2>/dev/null) || skip "no second loop device"
undo="losetup -d $shared; $undo"
mkfs.ext4 -q -b 4096 -O ^has_journal "$shared" >/dev/null 2>&1 || skip "no ext4"
mkdir "$dir/disk"
mount "$shared" "$dir/disk" || skip "cannot mount a loop device"
undo="umount $dir/disk; $undo"
number=$(cat "/sys/block/${slow#/dev/}/dev")
echo "$number 12000000" >"$limit" || skip "cannot limit a disk"
undo="echo $number 0 >$limit; $undo"

id_of trains
victim=$id victim_short=$(echo "$id" | cut -c1-12)
group "docker/$victim"
victim_group=$group
id_of dumps
other=$id other_short=$(echo "$id" | cut -c1-12)
group "docker/$other"
other_group=$group

(inside "$victim_group" "$python" "$(dirname "$0")/tenant_disk.py" train "$dir/disk/model") >"$dir/train" 2>&1 &
training=$!
started="$started $training"
soon 20 grep -qs ready "$dir/train" || die "the loop does not start: $(cat "$dir/train")"
trace_with --slow 1ms
sleep 4
(inside "$other_group" "$python" "$(dirname "$0")/tenant_disk.py" dump "$dir/disk/dump") >"$dir/dump" 2>&1 &
dumping=$!
sleep 6
dumpers=$(cat "$other_group/cgroup.procs")
for pid in $dumpers; do
	kill -KILL "$pid" 2>/dev/null
done
wait "$dumping" 2>/dev/null
sleep 1
untrace
stop "$training"

"$culprit" explain --db "$db" --json >"$dir/json"
jq -c '[.findings[] | select(.cause == "disk-write")][0]' "$dir/json" >"$dir/found"
is "whose it is" "$(jq -r .where.container "$dir/found")" "$victim_short"
jq -c '[.culprits[] | select(.beside)][0]' "$dir/found" >"$dir/beside"
is "who was beside" "$(jq -r .comm "$dir/beside")" checkpointer
is "whose that is" "$(jq -r .container "$dir/beside")" "$other_short"
is "title" "$(jq -r .title "$dir/found" | sed 's/.*; //')" "tenant $other_short delayed tenant $victim_short"
is "how sure" "$(jq -r .evidence.class "$dir/found")" inferred
jq -r '.fix[]' "$dir/found" >"$dir/fix"
has "fix" "$dir/fix" "hold back tenant $other_short for tenant $victim_short"
"$culprit" explain --db "$db" >"$dir/text"
has "text" "$dir/text" "meanwhile checkpointer"
