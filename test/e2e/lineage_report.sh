#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The I/O stall report: a slow disk is blamed with its file, owner and line; a fast one below a limit of the
# control group is not; and a healthy run has no stall.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

here=$(dirname "$0")
shm=$(mktemp -d -p /dev/shm) || exit 1
undo="rm -rf $shm"
later() {
	undo="$1; $undo"
}
# shellcheck source=test/lab/lib/cgroup.sh
. "$here/../lab/lib/cgroup.sh"
# shellcheck source=test/lab/lib/disk.sh
. "$here/../lab/lib/disk.sh"

# loop_disk FOLDER MB: a disk of the image FOLDER/image: $loop, mounted at FOLDER/m
loop_disk() {
	truncate -s "$2m" "$1/image"
	loop=$(losetup --show -f "$1/image") || skip "no loop device"
	later "losetup -d $loop"
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$loop" || die mkfs
	mkdir "$1/m"
	mount "$loop" "$1/m" || skip "cannot mount a loop device"
	later "soon 10 umount $1/m"
}

# Two disks, one in the other: what slows the lower one down makes requests of the upper one slow.
mkdir "$shm/low"
loop_disk "$shm/low" 300
low=${loop#/dev/}
device=$(cat "/sys/block/$low/dev")
mkdir "$shm/low/m/high"
loop_disk "$shm/low/m/high" 200
high=${loop#/dev/}
data=$shm/low/m/high/m
for i in 0 1 2 3 4 5 6 7; do
	head -c 256k /dev/urandom >"$data/shard.$i"
done
sync
group io
lib=$dir/libnvidia-ml.so.1
cp "$sim/libnvidia-ml.so.1" "$lib"
echo "sm_active 17" >"$lib.conf"

# loops WHICH FOLDER SECONDS: traced: $looping
loops() {
	db=$dir/$1.$serial.db
	trace_with --slow 1ms --nvml "$lib"
	"$python" "$here/lineage_report.py" "$@" >"$dir/loop.out" 2>&1 &
	looping=$!
	started="$started $looping"
	echo "$looping" >"$group/cgroup.procs" || skip "cannot move a process"
	# Something must go to a disk, or there is nothing to report.
	[ "$1" != cached ] || dd if="$2/shard.0" of=/dev/null bs=256k iflag=direct 2>/dev/null
	soon 60 gone "$looping" || die "the loop does not end"
	reap "$looping"
	is "loop's exit" "$status_of" 0
	untrace
	"$culprit" io report --db "$db" --json >"$dir/report" || die "no report: $?"
	"$culprit" io report --db "$db" >"$dir/report.txt" || die "no report in words"
}

told() {
	jq -r "$1" "$dir/report"
}

# ---- a disk that is slow
echo 3 >/proc/sys/vm/drop_caches
slow_disk read 2000000
loops read "$data" 5
slow_disk read 0
sed 's/^/     /' "$dir/report.txt"
is "slow disk: verdict" "$(told .verdict)" disk-slow
is "slow disk: the one" "$(told .lineage.disk)" "$high"
is "slow disk: the file" "$(told .lineage.file | sed 's/[0-9]$/N/')" "$data/shard.N"
is "slow disk: who waited" "$(told .lineage.waiter_pid)" "$looping"
is "slow disk: owner" "$(told .lineage.owner_pid)" "$looping"
is "slow disk: the line" "$(told .lineage.func)" read_sample
is "slow disk: the other one is not blamed" "$(told "[.disks[] | select(.blamed) | .disk] | join(\" \")")" "$high"
at_least "slow disk: time lost, ms" "$(told '.storage_wait_ns / 1000000 | floor')" 300
has "slow disk: in words" "$dir/report.txt" "$high is slow"

"$culprit" explain --db "$db" --json >"$dir/explained" || die "no explanation"
found() {
	jq -r "[.findings[] | select(.cause == \"disk-read\" and .where.pid == $looping)][0] | $1" "$dir/explained"
}
is "slow disk: explain has the device" "$(found .object.device)" "$high"
is "slow disk: explain has the owner" "$(found .object.owner_pid)" "$looping"
is "slow disk: explain has the line" "$(found .where.func)" read_sample
is "slow disk: the chain ends at the device" "$(found '.chain[-1].device')" "$high"

# ---- the disk is fast, the control group is not allowed more
device=$(cat "/sys/block/$high/dev")
slow_disk write 8000000
loops write "$data" 5
slow_disk write 0
sed 's/^/     /' "$dir/report.txt"
is "limit: verdict" "$(told .verdict)" before-disk
is "limit: the file" "$(told .lineage.file | sed 's/[0-9]*\.pt$/N.pt/')" "$data/stepN.pt"
is "limit: what the GPU did meanwhile" "$(told '.gpus[0] | "\(.measure) \(.during)"')" "sm_active_pct 17"
is "limit: the line" "$(told .lineage.func)" save
is "limit: no disk is blamed" "$(told "[.disks[] | select(.blamed) | .disk] | join(\" \")")" ""

# ---- nothing is wrong
cat "$data"/shard.* >/dev/null
loops cached "$data" 3
is "healthy: verdict" "$(told .verdict)" no-stall
runs "no such time" 3 "$culprit" io report --db "$db" --to @1000
runs "two ways to say when" 2 "$culprit" io report --db "$db" --since 5m --from -5m
