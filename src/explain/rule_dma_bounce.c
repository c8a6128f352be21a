// SPDX-License-Identifier: Apache-2.0
/*
 * dma-bounce: a device cannot reach the memory that it is given, and the kernel copies the data there
 * and back. How much is counted; how long that takes is estimated, and only believed as far as the
 * thread spent that time in copies to the GPU, or waiting for a disk, whichever bounces.
 */
#include <string.h>

#include "base/units.h"
#include "base/util.h"
#include "explain/measure.h"

#define BYTES_PER_NS 8 /* a fast copy: what it takes at least */

static uint64_t bounced(const struct facts *f, const struct second *s, const char *kind)
{
	uint64_t bytes = 0;

	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (e->event == HOST_bounce && e->at_ns > second_start(s) && e->at_ns <= s->at_ns &&
		    strstr(e->name, kind))
			bytes += e->value;
	}
	return bytes;
}

static uint64_t copying(const struct facts *f, const struct thread_facts *t, const struct second *s)
{
	uint64_t disk = 0;

	(void)t;
	for (int i = 0; i < s->waits; i++)
		if (s->wait[i].verdict.cause == CAUSE_disk_read ||
		    s->wait[i].verdict.cause == CAUSE_disk_write)
			disk += s->wait[i].ns;
	return min_u64(bounced(f, s, DEVICE_GPU) / BYTES_PER_NS, s->class[CLASS_COPY].ns) +
	       min_u64(bounced(f, s, DEVICE_DISK) / BYTES_PER_NS, disk);
}

/* The device with most of it. */
static const struct host_facts *top_device(const struct facts *f, const struct finding *found,
					   uint64_t *ret_bytes)
{
	const struct host_facts *top = NULL;

	*ret_bytes = 0;
	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (e->event != HOST_bounce || e->at_ns < found->first_ns ||
		    e->at_ns > found->last_ns)
			continue;
		*ret_bytes += e->value;
		if (!top || e->value > top->value)
			top = e;
	}
	return top;
}

bool rule_dma_bounce(const struct facts *f, const struct thread_facts *first, int n,
		     struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_dma_bounce,
					   .own_ns = copying,
					   .no_waits = true,
					   .states = ~0u,
					   .places = 1u << CLASS_COPY | 1u << CLASS_GAP };
	const struct host_facts *device;
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	char size[UNITS_CAP];
	uint64_t bytes;

	if (found) {
		measured_finding(f, &q, &m, ret);
		ret->evidence = EVIDENCE_INFERRED;
		ret->gain_low_pct = 0;
		device = top_device(f, ret, &bytes);
		snprintf(ret->title, sizeof(ret->title),
			 "Bounce buffers: data of %s is copied on its way to %.40s",
			 m.thread->process_comm, device ? device->name : "a device");
		snprintf(
			ret->basis, sizeof(ret->basis),
			"%s went through bounce buffers in these seconds; the time is that of a fast "
			"copy of as much, at most what was spent in such transfers",
			format_bytes(size, sizeof(size), bytes));
		add_fix(ret,
			"let %.40s reach all memory: no swiotlb=force, IOMMU on (intel_iommu=on, "
			"amd_iommu=on), a driver that asks for 64-bit DMA",
			device ? device->name : "the device");
		add_fix(ret,
			"in a confidential or 32-bit-limited guest: fewer, larger transfers from "
			"pinned memory, and a larger swiotlb=");
	}
	measured_release(&m);
	return found;
}
