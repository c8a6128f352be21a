/* SPDX-License-Identifier: Apache-2.0 */
/* Whose processes are: control groups to containers, and their rows in the store. */
#ifndef AGENT_TENANTS_H
#define AGENT_TENANTS_H

#include <stdint.h>

#include "capture/capture.h"
#include "store/store.h"

struct tenants;

/* Both are borrowed. kubelet: its URL; NULL: it is not asked. */
struct tenants *tenants_new(struct capture *capture, struct store *store, const char *kubelet);
void tenants_free(struct tenants *t);

/* What was written may be undone: tell it again when it is next seen. */
void tenants_forget(struct tenants *t);

/* Where a process is, or was when it ended; start_ns 0: whichever had that pid. False: not known. */
bool tenants_find(struct tenants *t, uint32_t pid, uint64_t start_ns, struct told_group *ret);

/* Has a process with that pid ended since then? Its number may be somebody else's now. */
bool tenants_ended(struct tenants *t, uint32_t pid, uint64_t since_ns);

/* The container of a group, written on first sight; 0: none. id 0: looked up. */
int64_t tenants_container(struct tenants *t, const char *cgroup, uint64_t id, uint64_t now);

/* A process is in that group from then on. */
int tenants_join(struct tenants *t, uint32_t pid, int64_t process, const struct told_group *group,
		 uint64_t now);

/* It is still there. */
int tenants_seen(struct tenants *t, const char *cgroup, uint64_t now);

/* What people call the container of a process, "" where it is in none. Borrowed until the next call. */
const char *tenants_label(struct tenants *t, uint32_t pid);

/* Hears what the kubelet has said, if it was asked. Often. */
void tenants_poll(struct tenants *t, uint64_t now);

/* Processes whose group could not be found out, so far. */
uint64_t tenants_unknown(const struct tenants *t);

#endif
