// SPDX-License-Identifier: Apache-2.0
/*
 * What drivers write into the kernel's log when a device fails. Drivers have changed their words over the
 * years, so little of them is asked for: who speaks, at the beginning, and what has happened. Only what
 * the kernel itself has logged counts (facility 0): anybody may write the rest.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/util.h"
#include "capture/kmsg.h"

#define FACILITY(number) ((number) >> 3)
#define LINE_CAP 512
#define DISKS_MAX 64

/* "3,812,1234567,-;text\n KEY=value": the text, as a string. */
static bool text_of(const char *record, size_t len, char line[LINE_CAP])
{
	const char *body = memchr(record, ';', len), *end;
	unsigned number = 0;
	size_t n = 0;

	while (n < len && n < 6 && isdigit((unsigned char)record[n]))
		number = 10 * number + (unsigned)(record[n++] - '0');
	if (!body || !n || n == len || record[n] != ',' || FACILITY(number) != 0)
		return false;
	body++;
	end = memchr(body, '\n', len - (size_t)(body - record));
	n = (size_t)((end ? end : record + len) - body);
	n = min_u64(n, LINE_CAP - 1);
	memcpy(line, body, n);
	line[n] = '\0';
	return true;
}

static uint64_t number_after(const char *line, const char *word, int base)
{
	const char *at = strstr(line, word);

	return at ? strtoull(at + strlen(word), NULL, base) : 0;
}

/* ---- NVMe: "nvme nvme0: I/O tag 256 (2100) opcode 0x1 (I/O Cmd) QID 1 timeout, aborting ..." ---- */

static bool take_controller(const char *at, char *dst, size_t cap)
{
	size_t n = starts_with(at, "nvme") ? 4 : 0;

	while (n && n + 1 < cap && isdigit((unsigned char)at[n]))
		n++;
	if (n < 5 || at[n] != ':')
		return false;
	memcpy(dst, at, n);
	dst[n] = '\0';
	return true;
}

static bool is_nvme(const char *line, struct trouble *ret)
{
	bool reset = strstr(line, "reset controller") || strstr(line, "will reset") ||
		     strstr(line, "resetting controller") || strstr(line, "disable controller");

	if (!starts_with(line, "nvme ") ||
	    !take_controller(line + strlen("nvme "), ret->device, sizeof(ret->device)))
		return false;
	if (!reset && !strstr(line, " timeout, "))
		return false;
	ret->event = reset ? HOST_disk_reset : HOST_disk_timeout;
	ret->value = reset ? 0 : number_after(line, " size:", 10);
	return true;
}

/* ---- PCI devices ---- */

/* "00:02.0", "0000:00:02.0": always with its domain. */
static bool take_address(const char *at, char *dst, size_t cap)
{
	size_t n = 0, colons = 0;

	while (n < 12 && (isxdigit((unsigned char)at[n]) || at[n] == ':'))
		colons += at[n++] == ':';
	if (at[n] != '.' || !isxdigit((unsigned char)at[n + 1]) || n < 5 || n > 10 || colons < 1 ||
	    colons > 2)
		return false;
	n += 2;
	snprintf(dst, cap, "%s%.*s", colons == 1 ? "0000:" : "", (int)n, at);
	for (char *s = dst; *s; s++)
		*s = (char)tolower((unsigned char)*s);
	return true;
}

/* The address before a colon and a space, as all messages about a device begin: "nvme 0000:01:00.0: ..." */
static bool take_speaker(const char *line, char *dst, size_t cap)
{
	const char *space = strchr(line, ' ');

	return space && take_address(space + 1, dst, cap);
}

/* "DMAR: [DMA Read NO_PASID] Request device [00:02.0] fault addr 0x1234000 [fault reason 0x06] ..." */
static bool is_intel(const char *line, struct trouble *ret)
{
	static const char who[] = "Request device [";
	const char *at = strstr(line, who);

	if (!starts_with(line, "DMAR: ") || !at || !strstr(at, " fault addr ") ||
	    !take_address(at + strlen(who), ret->device, sizeof(ret->device)))
		return false;
	ret->value = number_after(at, " fault addr ", 16);
	return true;
}

/* "... AMD-Vi: Event logged [IO_PAGE_FAULT device=01:00.0 domain=0x0 address=0x12 ...", or its speaker's */
static bool is_amd(const char *line, struct trouble *ret)
{
	static const char who[] = " device=";
	const char *at = strstr(line, "AMD-Vi: Event logged [IO_PAGE_FAULT"), *device;

	if (!at)
		return false;
	device = strstr(at, who);
	if (device ? !take_address(device + strlen(who), ret->device, sizeof(ret->device))
		   : !take_speaker(line, ret->device, sizeof(ret->device)))
		return false;
	ret->value = number_after(at, " address=", 16);
	return true;
}

/* "nvme 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, ..." */
static bool is_pci(const char *line, struct trouble *ret)
{
	return strstr(line, ": PCIe Bus Error: severity=") &&
	       take_speaker(line, ret->device, sizeof(ret->device));
}

bool trouble_parse(const char *record, size_t len, struct trouble *ret)
{
	char line[LINE_CAP];

	*ret = (struct trouble){ .event = HOST_COUNT };
	if (!text_of(record, len, line))
		return false;
	if (is_nvme(line, ret))
		return true;
	if (is_intel(line, ret) || is_amd(line, ret))
		ret->event = HOST_iommu_fault;
	else if (is_pci(line, ret))
		ret->event = HOST_pci_error;
	return ret->event != HOST_COUNT;
}

/* ---- which disks that is ---- */

/* "nvme0n1" and "nvme0n1p2" of "nvme0": the length of the disk's own name; 0: another's. */
static size_t disk_of(const char *name, const char *controller)
{
	size_t n = strlen(controller);

	if (!starts_with(name, controller) || name[n] != 'n')
		return 0;
	for (n++; isdigit((unsigned char)name[n]); n++)
		;
	return name[n] == '\0' || name[n] == 'p' ? n : 0;
}

int trouble_disks(const char *controller, disk_fn fn, void *arg)
{
	DIR *dir = opendir("/sys/class/block");
	struct dirent *e;
	int found = 0;

	while (dir && found < DISKS_MAX && (e = readdir(dir))) {
		size_t n = disk_of(e->d_name, controller);
		char path[300], text[32], disk[32], *minor;
		uint64_t major;

		snprintf(path, sizeof(path), "/sys/class/block/%s/dev", e->d_name);
		if (!n || n >= sizeof(disk) || file_read(path, text, sizeof(text), NULL))
			continue;
		major = strtoull(text, &minor, 10);
		if (*minor != ':')
			continue;
		memcpy(disk, e->d_name, n);
		disk[n] = '\0';
		fn(disk, major << 20 | strtoull(minor + 1, NULL, 10), !e->d_name[n], arg);
		found++;
	}
	if (dir)
		closedir(dir);
	return found;
}

int trouble_pci_disks(const char *address, disk_fn fn, void *arg)
{
	char path[96];
	struct dirent *e;
	int found = 0;
	DIR *dir;

	if (strchr(address, '/') || address[0] == '.' || strlen(address) > 16)
		return 0;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/nvme", address);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir))) /* a function has one controller */
		if (starts_with(e->d_name, "nvme"))
			found = trouble_disks(e->d_name, fn, arg);
	if (dir)
		closedir(dir);
	return found;
}
