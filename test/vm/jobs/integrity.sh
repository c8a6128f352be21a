# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Checkpoints on the drive, good and damaged: each is told by its reason.
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
mkdir /mnt/ckpt
trace
culprit tag set --checkpoint checkpoint_write/run42/step1 /mnt/ckpt >/dev/null
is "the folder is tagged" $? 0
sleep 2

save() { # NAME, options of dd
	dd if=/dev/urandom of="/mnt/ckpt/$1" bs=64k count=8 ${2:+"$2"} 2>/dev/null
}

# verify NAME CODE STATUS
verify() {
	culprit io verify --db "$db" --json "/mnt/ckpt/$1" >/tmp/verdict 2>&1
	is "$1: exit" $? "$3"
	has "$1: $2" /tmp/verdict "\"$2\""
}

hashed() { # COUNT: so many have a digest
	for _ in $(seq 300); do
		[ "$(culprit query --db "$db" --format csv \
			"SELECT count(*) AS n FROM checkpoint WHERE sha256 IS NOT NULL" 2>/dev/null | tail -n 1)" -ge "$1" ] && return
		sleep 0.2
	done
	echo "FAIL no $1 digests"
	cat /tmp/err
}

save good conv=fsync
save renamed.tmp conv=fsync
mv /mnt/ckpt/renamed.tmp /mnt/ckpt/renamed
sync
save no-fsync
save truncated conv=fsync
save flipped conv=fsync
sh -c 'exec 5>/mnt/ckpt/killed; head -c 100000 /dev/zero | tr "\0" x >&5; echo more >&5; kill -9 $$' 2>/dev/null
hashed 5
truncate -s 1000 /mnt/ckpt/truncated
sleep 2
verify good complete 0
verify renamed complete 0
verify no-fsync no-fsync 3
verify truncated truncated 4
verify killed killed 4
untrace
flip /mnt/ckpt/flipped /dev/nvme0n1
is "a bit is flipped" $? 0
verify flipped silent 5
verify good complete 0
