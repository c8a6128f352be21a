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
has "... and what the drive said" /tmp/report "failed on nvme0n1: .*/mnt/bad.pt .*, NVMe status 0x[0-9a-f]"
has "the writer was told" /tmp/worked.err "write: "
has "the failed requests are told, with their disk" /tmp/explained "requests of disk nvme0n1 failed"
at_least "... and in the rows" "$(query "SELECT count(*) FROM io_request JOIN string ON string.id = file
	WHERE text = '/mnt/bad.pt' AND error <> 0 AND nvme_status <> 0 AND nvme_retries >= 0")" 1
