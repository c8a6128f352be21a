// SPDX-License-Identifier: Apache-2.0
/* Tells QEMU's "edu" device to read memory at an address that the IOMMU does not know. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PCI "/sys/bus/pci/devices"
#define EDU "0x11e8"
#define COMMAND 4 /* in the configuration space */
#define MEMORY_AND_MASTER 6
#define DMA_FROM 0x80
#define DMA_TO 0x88
#define DMA_COUNT 0x90
#define DMA_COMMAND 0x98
#define OWN_BUFFER 0x40000
#define START 1

static int open_of(const char *device, const char *file, int flags)
{
	char path[600];

	(void)snprintf(path, sizeof(path), PCI "/%s/%s", device, file);
	return open(path, flags);
}

static int is_edu(const char *device)
{
	char text[16] = "";
	int fd = open_of(device, "device", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && strncmp(text, EDU, strlen(EDU)) == 0;
}

static void store(volatile char *base, int at, uint64_t value)
{
	*(volatile uint64_t *)(base + at) = value;
}

static int read_from(const char *device, uint64_t address)
{
	int config = open_of(device, "config", O_RDWR), memory;
	uint16_t command = 0;
	volatile char *base;

	if (config < 0 || pread(config, &command, sizeof(command), COMMAND) != sizeof(command))
		return 1;
	command |= MEMORY_AND_MASTER;
	if (pwrite(config, &command, sizeof(command), COMMAND) != sizeof(command))
		return 1;
	memory = open_of(device, "resource0", O_RDWR | O_SYNC);
	base = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (base == MAP_FAILED)
		return 1;
	store(base, DMA_FROM, address);
	store(base, DMA_TO, OWN_BUFFER);
	store(base, DMA_COUNT, 64);
	store(base, DMA_COMMAND, START);
	usleep(500000);
	printf("edu %s\n", device);
	return 0;
}

int main(int argc, char **argv)
{
	DIR *dir = opendir(PCI);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (is_edu(e->d_name))
			return read_from(e->d_name,
					 argc > 1 ? strtoull(argv[1], NULL, 0) : 0x1234000);
	(void)fputs("edu: no such device\n", stderr);
	return 1;
}
