// SPDX-License-Identifier: Apache-2.0
/* Flips a bit of a file on its disk, below the file system: flip FILE DISK */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BLOCK 4096

int main(int argc, char **argv)
{
	union {
		struct fiemap map;
		char room[sizeof(struct fiemap) + sizeof(struct fiemap_extent)];
	} u = { .map = { .fm_length = BLOCK, .fm_flags = FIEMAP_FLAG_SYNC, .fm_extent_count = 1 } };
	int file = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	int disk = argc == 3 ? open(argv[2], O_RDWR | O_DIRECT) : -1;
	char *block;
	off_t at;

	if (file < 0 || disk < 0 || ioctl(file, FS_IOC_FIEMAP, &u.map) ||
	    !u.map.fm_mapped_extents) {
		perror("flip");
		return 1;
	}
	at = (off_t)u.map.fm_extents[0].fe_physical;
	block = aligned_alloc(BLOCK, BLOCK);
	if (!block || pread(disk, block, BLOCK, at) != BLOCK)
		return 1;
	block[100] ^= 4;
	if (pwrite(disk, block, BLOCK, at) != BLOCK)
		return 1;
	return posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}
