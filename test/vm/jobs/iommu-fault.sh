# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A device asks for memory that the IOMMU does not give it.
# append: intel_iommu=on
# qemu: -device intel-iommu,intremap=off -device edu
# shellcheck source=test/vm/lib.sh
. /lib.sh

trace
loop fsync /tmp/file 6 4096 >/tmp/worked &
worker=$!
sleep 2
edu 0x1234000
wait $worker
sleep 2
untrace
dmesg | grep -i DMAR | tail -n 3
culprit explain --db "$db" >/tmp/explained
has "the fault is told, its device and its address" /tmp/explained \
	"device 0000:00:0[0-9a-f].0 was refused its memory 1 times, first at 0x1234000"
