/* SPDX-License-Identifier: Apache-2.0 */
/* Whose processes were, out of a trace. */
#ifndef STORE_READ_TENANT_H
#define STORE_READ_TENANT_H

#include "store/store.h"

/* Every container of the trace; row.identity is NULL. A file without this table has none. */
struct container_info {
	int64_t id;
	struct container_row row;
	uint64_t first_ns, last_ns;
};
int store_each_container(struct store *s, int (*fn)(const struct container_info *, void *),
			 void *arg);

int store_each_disk_user(struct store *s, struct window w,
			 int (*fn)(uint64_t at_ns, const struct disk_user_row *, void *),
			 void *arg);

/* Where traced processes were before the end of the window, by pid, then time. */
struct stay_row {
	int64_t process, container; /* container 0: none */
	uint32_t pid;
	uint64_t from_ns;
	const char *cgroup;
};
int store_each_stay(struct store *s, struct window w, int (*fn)(const struct stay_row *, void *),
		    void *arg);

#endif
