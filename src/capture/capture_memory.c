// SPDX-License-Identifier: Apache-2.0
/* The part of a capture that is about the memory of processes. */
#include <bpf/bpf.h>

#include "base/util.h"
#include "capture/capture_int.h"

void capture_each_memory(struct capture *c, memory_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.memories);
	struct memory_key key, last, *prev = NULL;
	struct memory_count count;

	while (!bpf_map_get_next_key(fd, prev, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &count))
			fn(&key, &count, arg);
		last = key;
		prev = &last;
	}
}

/* Delete all entries of a map whose keys begin with that owner. */
static void forget(int fd, void *key, void *next, size_t size, const struct memory_owner *owner)
{
	bool more = !bpf_map_get_next_key(fd, NULL, next);

	for (int i = 0; more && i < 2 * ALLOCS; i++) {
		memcpy(key, next, size);
		more = !bpf_map_get_next_key(fd, key, next);
		if (!memcmp(key, owner, sizeof(*owner)))
			bpf_map_delete_elem(fd, key);
	}
}

void capture_forget_memory(struct capture *c, const struct memory_owner *owner)
{
	struct memory_key memory[2];
	struct alloc_key alloc[2];

	forget(bpf_map__fd(c->probe->maps.memories), &memory[0], &memory[1], sizeof(memory[0]),
	       owner);
	forget(bpf_map__fd(c->probe->maps.allocs), &alloc[0], &alloc[1], sizeof(alloc[0]), owner);
}

_Static_assert(offsetof(struct memory_key, owner) == 0, "forget()");
_Static_assert(offsetof(struct alloc_key, owner) == 0, "forget()");
