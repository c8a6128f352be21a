// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the IOMMU refuse every device its memory for a while: it is told that its tables are elsewhere, where
 * none are, and then where they were. For QEMU's intel-iommu on q35; boot with iomem=relaxed.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNIT 0xfed90000
#define COMMAND 0x18
#define STATUS 0x1c
#define ROOT_TABLE 0x20
#define KEEP 0x96ffffffu /* of the status: what a command must repeat */
#define SET_ROOT_TABLE (1u << 30)
#define NOWHERE 0xfeb000000000ull /* above all memory: nothing there is present */

static void set_root(volatile char *unit, uint64_t root)
{
	*(volatile uint64_t *)(unit + ROOT_TABLE) = root;
	*(volatile uint32_t *)(unit + COMMAND) =
		(*(volatile uint32_t *)(unit + STATUS) & KEEP) | SET_ROOT_TABLE;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	int fd = open("/dev/mem", O_RDWR | O_SYNC);
	volatile char *unit =
		fd < 0 ? MAP_FAILED
		       : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, UNIT);
	uint64_t root;

	if (unit == MAP_FAILED || ms < 1 || ms > 10000) {
		perror("refuse: /dev/mem");
		return 1;
	}
	root = *(volatile uint64_t *)(unit + ROOT_TABLE);
	set_root(unit, NOWHERE);
	usleep((useconds_t)ms * 1000);
	set_root(unit, root);
	printf("refused for %ld ms; the tables are at %#llx\n", ms, (unsigned long long)root);
	return 0;
}
