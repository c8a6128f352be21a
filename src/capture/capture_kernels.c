// SPDX-License-Identifier: Apache-2.0
/* The part of a capture that is about kernels: which are launched, and what they are called. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/capture_int.h"

static int on_name(void *ctx, void *data, size_t len)
{
	struct capture *c = ctx;

	if (c->name_fn)
		c->name_fn(data, len, c->name_arg);
	return 0;
}

int capture_open_kernels(struct capture *c)
{
	c->kernel_names =
		ring_buffer__new(bpf_map__fd(c->probe->maps.kernel_names), on_name, c, NULL);
	return c->kernel_names ? 0 : fail(-errno, "map the ring of names: %s", strerror(errno));
}

void capture_kernel_names(struct capture *c, capture_fn fn, void *arg)
{
	c->name_fn = fn;
	c->name_arg = arg;
	(void)ring_buffer__consume(c->kernel_names); /* what is left is taken at the next visit */
}

void capture_learn_kernels(struct capture *c, bool on)
{
	if (c->libs)
		libs_learn(c->libs, on);
}

void capture_each_kernel(struct capture *c, cell_fn fn, void *arg)
{
	for (uint32_t i = 0; i < KERNEL_CELLS; i++) {
		struct kernel_cell *cell = &c->cells[i];

		if (!__atomic_load_n(&cell->serial, __ATOMIC_ACQUIRE) || !fn(cell, arg))
			continue;
		cell->flags = 0;
		cell->handle = cell->count = cell->site = 0;
		__atomic_store_n(&cell->serial, 0, __ATOMIC_RELEASE); /* last: then it is taken */
	}
}

void capture_each_pair(struct capture *c, pair_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.kernel_pairs);
	struct kernel_pair_key key, next;
	bool more = !bpf_map_get_next_key(fd, NULL, &next);
	struct kernel_pair pair;

	for (int i = 0; more && i < KERNEL_PAIRS; i++) {
		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (!bpf_map_lookup_elem(fd, &key, &pair))
			fn(&key, &pair, arg);
		bpf_map_delete_elem(fd, &key);
	}
}
