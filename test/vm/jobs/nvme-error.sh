# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A drive that fails to write one sector, which is in a checkpoint.
# bad-sector: yes
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
trace
loop direct /mnt/bad.pt 5 65536 >/tmp/worked 2>/tmp/worked.err
sleep 2
untrace
dmesg | grep -i "nvme0n1" | tail -n 3
culprit explain --db "$db" >/tmp/explained
culprit io report --db "$db" >/tmp/report
sed 's/^/     /' /tmp/report
has "the report names the file" /tmp/report "/mnt/bad.pt"
has "the writer was told" /tmp/worked.err "write: "
has "the failed requests are told, with their disk" /tmp/explained "requests of disk nvme0n1 failed"
