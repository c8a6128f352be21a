/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's log, and what it says of devices that failed. */
#ifndef CAPTURE_KMSG_H
#define CAPTURE_KMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct kmsg;

/* From now on. NULL: the kernel's log cannot be read here, and why() says why. */
struct kmsg *kmsg_open(void);
struct kmsg *kmsg_from(int fd); /* one record for each read; takes fd over */
void kmsg_close(struct kmsg *k);

/* Every record that is there, borrowed for the call. False: there may be more, left for the next time. */
typedef void (*kmsg_fn)(const char *record, size_t len, void *arg);
bool kmsg_poll(struct kmsg *k, kmsg_fn fn, void *arg);

/* ---- trouble.c ---- */

/* A device that did not do what it should, as its driver tells. */
struct trouble {
	enum host_event event; /* disk_timeout, disk_reset, iommu_fault, pci_error */
	char device[32]; /* "nvme0", "0000:00:02.0" */
	uint64_t
		value; /* of a timeout the bytes that were asked for, of a fault its address; 0: not told */
};

/* A record as /dev/kmsg gives it. False: something else, or not written by the kernel. */
bool trouble_parse(const char *record, size_t len, struct trouble *ret);

/*
 * The disks of a controller and their partitions, each one's number with the name of its disk. Returns how
 * many there are.
 */
typedef void (*disk_fn)(const char *disk, uint64_t dev, bool whole, void *arg);
int trouble_disks(const char *controller, disk_fn fn, void *arg);

/* ... and those of a PCI device; 0: it is no NVMe drive. */
int trouble_pci_disks(const char *address, disk_fn fn, void *arg);

#endif
