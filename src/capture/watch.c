// SPDX-License-Identifier: Apache-2.0
/* New executable mappings, from one perf ring per CPU. */
#include "capture/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/maps.h"

#define DATA_PAGES 32 /* a power of two; 128 KiB hold more than a thousand mappings */

struct cpu_ring {
	int fd;
	struct perf_event_mmap_page *meta; /* followed by DATA_PAGES of records */
};

struct watch {
	int epoll;
	int cpus;
	size_t page;
	struct cpu_ring *ring;
};

/* As perf lays it out; the name follows. */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char name[];
};

static int open_cpu(struct watch *w, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.mmap = 1, /* executable mappings only: data has a flag of its own */
		.mmap2 = 1,
		.watermark = 1, /* wakeup_events counts samples, and these are none */
		.wakeup_watermark = 1,
	};
	struct epoll_event ready = { .events = EPOLLIN };
	struct cpu_ring *ring = &w->ring[cpu];

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return -errno;
	ring->meta = mmap(NULL, (1 + DATA_PAGES) * w->page, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring->fd, 0);
	if (ring->meta == MAP_FAILED) {
		ring->meta = NULL;
		return -errno;
	}
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, ring->fd, &ready) ? -errno : 0;
}

int watch_open(struct watch **ret)
{
	struct watch *w = xcalloc(1, sizeof(*w));
	int err = 0;

	w->page = (size_t)sysconf(_SC_PAGESIZE);
	w->cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	w->ring = xcalloc((size_t)w->cpus, sizeof(*w->ring));
	for (int i = 0; i < w->cpus; i++)
		w->ring[i].fd = -1;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; !err && i < w->cpus; i++) {
		err = open_cpu(w, i);
		if (err == -ENODEV)
			err = 0; /* an offline CPU: the slow rescan is its net */
	}
	if (err) {
		fail(err, "perf mmap records: %s", strerror(-err));
		watch_close(w);
		return err;
	}
	*ret = w;
	return 0;
}

void watch_close(struct watch *w)
{
	if (!w)
		return;
	for (int i = 0; i < w->cpus; i++) {
		if (w->ring[i].meta)
			munmap(w->ring[i].meta, (1 + DATA_PAGES) * w->page);
		if (w->ring[i].fd >= 0)
			close(w->ring[i].fd);
	}
	if (w->epoll >= 0)
		close(w->epoll);
	free(w->ring);
	free(w);
}

int watch_fd(const struct watch *w)
{
	return w->epoll;
}

/* Copy out of the ring, whose end may come in the middle. */
static void ring_copy(const struct watch *w, const struct cpu_ring *r, uint64_t at, void *dst,
		      size_t len)
{
	const char *data = (const char *)r->meta + w->page;
	size_t size = DATA_PAGES * w->page, pos = at % size, first = size - pos;

	if (first > len)
		first = len;
	memcpy(dst, data + pos, first);
	memcpy((char *)dst + first, data, len - first);
}

static int drain_cpu(struct watch *w, struct cpu_ring *r,
		     void (*fn)(const struct mapping *, void *), void *arg)
{
	uint64_t head = __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = r->meta->data_tail;
	union {
		struct mmap2_record mmap;
		char bytes[sizeof(struct mmap2_record) + 4096 + 64];
	} rec;
	int lost = 0;

	while (at < head) {
		size_t len;

		ring_copy(w, r, at, &rec, sizeof(rec.mmap.header));
		len = rec.mmap.header.size;
		if (len < sizeof(rec.mmap.header) || len > head - at) {
			lost = 1; /* not what perf promises: start over behind it */
			break;
		}
		if (rec.mmap.header.type == PERF_RECORD_LOST)
			lost = 1;
		if (rec.mmap.header.type == PERF_RECORD_MMAP2 && len > sizeof(rec.mmap)) {
			size_t take = len < sizeof(rec) ? len : sizeof(rec) - 1;

			ring_copy(w, r, at, &rec, take);
			rec.bytes[take] = '\0';
			if (maps_lib(rec.mmap.name) >= 0) {
				struct mapping m = { (int)rec.mmap.pid, rec.mmap.inode,
						     rec.mmap.name };

				fn(&m, arg);
			}
		}
		at += len;
	}
	__atomic_store_n(&r->meta->data_tail, head, __ATOMIC_RELEASE);
	return lost;
}

int watch_drain(struct watch *w, void (*fn)(const struct mapping *m, void *arg), void *arg)
{
	int lost = 0;

	for (int i = 0; i < w->cpus; i++)
		if (w->ring[i].meta)
			lost |= drain_cpu(w, &w->ring[i], fn, arg);
	return lost;
}
