# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A device asks for memory that the IOMMU does not give it; a drive for memory that it is given.
# append: intel_iommu=on
# qemu: -device intel-iommu,intremap=off -device edu
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
trace
loop fsync /tmp/file 6 4096 >/tmp/worked &
worker=$!
sleep 2
dd if=/dev/zero of=/mnt/mapped bs=64k count=4 conv=fsync 2>/dev/null
edu 0x1234000
wait $worker
sleep 2
untrace
dmesg | grep -i DMAR | tail -n 3
culprit explain --db "$db" >/tmp/explained
has "the fault is told, its device and its address" /tmp/explained \
	"device 0000:00:0[0-9a-f].0 was refused its memory 1 times, first at 0x1234000"
at_least "mappings that the IOMMU was given for a file" "$(query "SELECT sum(iommu_maps) FROM io_second
	JOIN string ON string.id = file WHERE text = '/mnt/mapped'")" 1
culprit io report --db "$db" >/tmp/report
has "the report has them" /tmp/report "DMA mapping on nvme0n1: .* mappings of the IOMMU a request"
