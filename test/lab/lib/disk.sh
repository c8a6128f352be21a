# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names from and for those who source it
# Disks of our own: loop devices with a file system, and swap in compressed memory.

# image NAME MB: a new loop device: $loop; $disk is where it will be mounted
image() {
	need losetup mkfs.ext4
	disk=$dir/$1
	mkdir "$disk"
	truncate -s "$2M" "$disk.image"
	loop=$(losetup --show -f "$disk.image" 2>/dev/null) || skip "no loop device"
	later "losetup -d $loop"
}

# mounted OPTION...: a file system on $loop
mounted() {
	mkfs.ext4 -q -b 4096 "$@" "$loop" >"$dir/mkfs" 2>&1 ||
		skip "no file system: $(tail -1 "$dir/mkfs")"
	mount "$loop" "$disk" || skip "cannot mount a loop device"
	later "soon 5 umount $disk"
}

# disk NAME MB: a new one: $disk (where it is mounted), $device (its number)
disk() {
	image "$1" "$2"
	pick "-O ^has_journal" "-J size=4"
	# shellcheck disable=SC2086 # words
	mounted $picked
	device=$(cat "/sys/block/${loop#/dev/}/dev")
}

# slow_disk read|write BYTES_PER_SECOND: for who is in $group, on $device; 0 for no limit
slow_disk() {
	if [ "$version" -eq 1 ]; then
		echo "$device $2" >"$group/blkio.throttle.$1_bps_device"
	else
		[ "$2" -ne 0 ] || set -- "$1" max
		echo "$device $(echo "$1" | cut -c1)bps=$2" >"$group/io.max"
	fi || skip "cannot limit a disk"
}

# one_slow_disk NAME MB write BYTES_PER_SECOND: like disk, but slow for everybody together, so that their requests
# wait for each other: it stands on another one, which the root group's limit holds back
one_slow_disk() {
	limit=/sys/fs/cgroup/blkio/blkio.throttle.$3_bps_device
	[ -w "$limit" ] || skip "the root group has no limit for disks (control groups of version 1 have one)"
	image "$1" "$2"
	below=$loop
	loop=$(losetup --show --direct-io=on -f "$below" 2>/dev/null) || skip "no second loop device"
	later "losetup -d $loop"
	mounted -O ^has_journal
	number=$(cat "/sys/block/${below#/dev/}/dev")
	later "echo $number 0 >$limit"
	echo "$number $4" >"$limit" || skip "cannot limit a disk"
}

# files COUNT KB: on $disk, with contents; not in the page cache
files() {
	"$python" - "$disk" "$1" "$2" <<'EOF'
import os
import sys

where, count, kb = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for i in range(count):
    with open("%s/sample.%d" % (where, i), "wb") as file:
        file.write(os.urandom(kb << 10))
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
EOF
}

# swap MB: swap in a compressed memory device of our own
swap() {
	need mkswap swapon
	[ -e /sys/class/zram-control ] || modprobe zram num_devices=0 2>/dev/null
	number=$(cat /sys/class/zram-control/hot_add 2>/dev/null) || skip "no zram"
	later "echo $number >/sys/class/zram-control/hot_remove"
	zram=/dev/zram$number
	soon 5 test -b "$zram" || mknod "$zram" b "$(cut -d: -f1 "/sys/block/zram$number/dev")" "$number"
	echo "$1M" >"/sys/block/zram$number/disksize" || skip "no zram of $1 MB"
	mkswap "$zram" >/dev/null 2>&1 || skip "no mkswap"
	swapon -p 100 "$zram" || skip "no swapon"
	later "soon 5 swapoff $zram"
}
