# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The IOMMU refuses a drive the memory of one request: a drive that checks what it reads has all of it in hand before
# it asks for memory, and this one is slow, so that it has the command by then. The address is the request's own.
# append: intel_iommu=on iomem=relaxed nvme_core.io_timeout=1
# qemu: -device intel-iommu,intremap=off
# namespace: ,ms=8,pi=1
# drive: ,throttling.bps-read=218453
# shellcheck source=test/vm/lib.sh
. /lib.sh

mke2fs /dev/nvme0n1 >/dev/null
mount -t ext4 -o noatime /dev/nvme0n1 /mnt
dd if=/dev/urandom of=/mnt/checkpoint.pt bs=64k count=64 oflag=direct 2>/dev/null
trace
culprit tag set restore/run42 /mnt
sync # a write in between would bring the drive's answers with it, which it could not give
loop fsync /tmp/before.pt 4 0 >/tmp/before
# It ends with the read that is refused: Linux 6.1 on this drive often loses the first requests after a reset.
loop read /mnt/checkpoint.pt 5 65536 >/tmp/worked &
worker=$!
sleep 4
refuse 400
wait $worker
cat /tmp/worked
sleep 2
untrace
dmesg | grep -E 'DMAR.*fault|nvme.*(timeout|reset)' | tail -n 6

culprit io report --db "$db" >/tmp/report
sed 's/^/     /' /tmp/report
has "the memory is that of one request: its file, owner and tag" /tmp/report \
	"IOMMU fault: 0000:00:0[0-9a-f].0 (disk) was refused 0x[0-9a-f]*: memory of a read of 64 KiB of /mnt/checkpoint.pt at offset [0-9]*, data of loop (pid [0-9]*), tag restore/run42$"
has "... is the cause" /tmp/report "the IOMMU refused nvme0n1 its memory [1-9][0-9]* times, at 0x"
culprit io report --db "$db" --json >/tmp/json
has "... as JSON" /tmp/json '"iommu_faults": *\[{"device": *"0000:.*"hit": *"address", *"requests": *1,.*"file": *"/mnt/checkpoint.pt"'
at_least "the log's address is in the range of a row of that time that was tried again" "$(query "SELECT count(*) AS n FROM io_request, host_event
	JOIN string ON string.id = file WHERE text = '/mnt/checkpoint.pt' AND event = 'iommu_fault' AND host_event.count > 0
	AND value >= iova AND value < iova + iova_bytes AND requeues > 0
	AND done_ns >= first_ns AND done_ns - total_ns <= at_ns")" 1
culprit explain --db "$db" >/tmp/explained
has "the wait is explained by it" /tmp/explained \
	"IOMMU: 0000:00:0[0-9a-f].0 (disk) was refused its memory while loop waited for it"
