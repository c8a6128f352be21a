# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names from and for those who source it
# A file system that is a process of ours.

# fuse CPU FOLDER OPTION...: its files, served by a process: $fuse (where), $server (who)
fuse() {
	[ -c /dev/fuse ] || skip "no /dev/fuse"
	fuse=$dir/fuse
	on=$1 from=$2
	shift 2
	mkdir "$fuse"
	# Whoever still waits for it must not hold up the clean-up.
	later "unfuse $fuse"
	start "$on" fuse "$from" "$fuse" "$@"
	server=$worker
}

# unfuse FOLDER: whoever waits for an answer gets an error, and the mount is gone
unfuse() {
	connection=$(awk -v at="$1" '$5 == at { sub(/.*:/, "", $3); print $3; exit }' /proc/self/mountinfo)
	[ -n "$connection" ] || return 0
	abort=/sys/fs/fuse/connections/$connection/abort
	[ ! -w "$abort" ] || echo 1 >"$abort"
	umount -l "$1" 2>/dev/null # its helper may be first
}
