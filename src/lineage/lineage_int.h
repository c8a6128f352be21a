/* SPDX-License-Identifier: Apache-2.0 */
/* Inside lineage/: the parts that know nothing of the kernel's side, and are tested and fuzzed alone. */
#ifndef LINEAGE_LINEAGE_INT_H
#define LINEAGE_LINEAGE_INT_H

#include "lineage/lineage.h"

/* ---- records of the ring ---- */

/* A record of that kind and size, its text ended; -EBADMSG: it is none. */
int lineage_check(void *bytes, size_t len);

/* ---- the accounts ---- */

struct flows;

/* LINEAGE_FLOWS of each, which the kernel writes; `maps` NULL: nothing is known of mapping. */
struct flows *flows_new(struct lineage_flow *shared, struct lineage_maps *maps);
void flows_free(struct flows *f);
void flows_take(struct flows *f, flow_fn fn, void *arg);

/* ---- NVMe ---- */

struct nvme_kernel {
	bool there; /* there is a driver, that may have the tracepoints */
	uint32_t status, retries; /* from the beginning of a request on; 0: not known */
};

void nvme_kernel(struct nvme_kernel *ret);

/* ---- names ---- */

struct paths;

struct paths *paths_new(void);
void paths_free(struct paths *p);
void paths_add(struct paths *p, const struct lineage_name *name);

/* False, and dst "": nobody told its name. */
bool paths_find(struct paths *p, const struct lineage_key *key, char *dst, size_t cap);

/* The number that marks its file system; 0: not known. */
uint32_t paths_magic(const struct paths *p, const struct lineage_key *key);

/* A line of /proc/PID/mountinfo. */
struct mount {
	uint32_t dev; /* as the kernel numbers it */
	char root[256], at[256];
};

/* -EINVAL: no such line. Longer paths are cut, which makes them useless: -ENAMETOOLONG. */
int mount_parse(const char *line, struct mount *ret);

#endif
