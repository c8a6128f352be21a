// SPDX-License-Identifier: Apache-2.0
/* What happened on the host meanwhile and may or may not have to do with it: told, not blamed. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/util.h"
#include "explain/explain_int.h"

/* Everybody forks, and a disk whose queue is full takes requests later; that is no news. */
static bool is_news(enum host_event event)
{
	return event == HOST_oom_kill || event == HOST_retransmit || event == HOST_disk_slow ||
	       event == HOST_disk_error || event == HOST_bounce || event == HOST_iommu_fault ||
	       event == HOST_disk_timeout || event == HOST_disk_reset || event == HOST_pci_error;
}

static struct happening *find(struct explanation *e, const struct host_facts *h)
{
	for (int i = 0; i < e->happenings; i++) {
		struct happening *to = &e->happening[i];

		if (to->event == h->event && to->pid == h->pid && streq(to->name, h->name) &&
		    streq(to->cgroup, h->cgroup))
			return to;
	}
	return NULL;
}

static void add(struct explanation *e, const struct host_facts *h)
{
	struct happening *to = find(e, h);

	if (!to) {
		e->happening =
			xrealloc(e->happening, (size_t)e->happenings + 1, sizeof(*e->happening));
		to = &e->happening[e->happenings++];
		*to = (struct happening){ .event = h->event,
					  .pid = h->pid,
					  .first_ns = h->first_ns,
					  .value = h->event == HOST_bounce ? 0 : h->value };
		memcpy(to->name, h->name, sizeof(to->name));
		memcpy(to->comm, h->comm, sizeof(to->comm));
		memcpy(to->cgroup, h->cgroup, sizeof(to->cgroup));
	}
	to->count += h->count;
	to->ns += h->ns;
	to->value += h->event == HOST_bounce ? h->value : 0;
	to->first_ns = min_u64(to->first_ns, h->first_ns);
	to->last_ns = max_u64(to->last_ns, h->at_ns);
}

/* What is rare says more: kills, faults and errors before packets. */
static int by_weight(const void *x, const void *y)
{
	const struct happening *a = x, *b = y;
	bool p = a->event == HOST_retransmit, q = b->event == HOST_retransmit;

	if (p != q)
		return p ? 1 : -1;
	return a->count > b->count ? -1 : a->count < b->count;
}

void add_happenings(const struct facts *f, struct explanation *e)
{
	for (int i = 0; i < f->events; i++)
		if (is_news(f->event[i].event))
			add(e, &f->event[i]);
	if (e->happenings)
		qsort(e->happening, (size_t)e->happenings, sizeof(*e->happening), by_weight);
}

void happening_what(const struct happening *h, char *dst, size_t cap)
{
	const char *name = h->name[0] ? h->name : "not known";
	char n[UNITS_CAP], more[UNITS_CAP];

	format_count(n, sizeof(n), h->count);
	switch (h->event) {
	case HOST_oom_kill:
		snprintf(dst, cap, "the kernel killed %s (pid %u) for want of memory", h->comm,
			 h->pid);
		break;
	case HOST_retransmit:
		snprintf(dst, cap, "%s TCP segments were sent again to %s", n, name);
		break;
	case HOST_disk_slow:
		snprintf(dst, cap, "%s requests of disk %s took 10 s or more, %s in all", n, name,
			 format_ns(more, sizeof(more), h->ns));
		break;
	case HOST_disk_error:
		snprintf(dst, cap, "%s requests of disk %s failed", n, name);
		break;
	case HOST_disk_requeue:
		snprintf(dst, cap, "%s requests were given to disk %s again", n, name);
		break;
	case HOST_bounce:
		snprintf(dst, cap, "%s of device %s were copied through bounce buffers",
			 format_bytes(more, sizeof(more), h->value), name);
		break;
	case HOST_iommu_fault:
		snprintf(dst, cap, "device %s was refused its memory %s times, first at 0x%llx",
			 name, n, (unsigned long long)h->value);
		break;
	case HOST_disk_timeout:
		snprintf(dst, cap, "disk %s did not answer %s requests in time", name, n);
		break;
	case HOST_disk_reset:
		snprintf(dst, cap, "the controller of disk %s was reset %s times", name, n);
		break;
	case HOST_pci_error:
		snprintf(dst, cap, "the PCIe link of device %s reported %s errors", name, n);
		break;
	default:
		snprintf(dst, cap, "%s", "");
	}
}
