/* SPDX-License-Identifier: Apache-2.0 */
/* Who is who: threads by serial, processes by pid and start, and their rows in the store. */
#ifndef AGENT_ROSTER_H
#define AGENT_ROSTER_H

#include <stdint.h>

#include "store/store.h"
#include "wire/event.h"

struct roster;
struct tenants;
struct told_group;

struct roster *roster_new(struct store *store, struct tenants *tenants);
void roster_free(struct roster *r);

struct person {
	int64_t thread, process; /* rows; 0: the store refused */
	uint32_t pid, tid;
	char comm[COMM_LEN]; /* of the process */
};

/* The rows of a thread, made on first sight. */
const struct person *roster_thread(struct roster *r, uint32_t serial, const struct task_info *info);

/* The same without making one; NULL: never seen. */
const struct person *roster_find(const struct roster *r, uint32_t serial);

/* The row of a process that may have made no call yet. */
int64_t roster_process(struct roster *r, uint32_t pid, uint64_t start_ns, const char *comm);

/* The thread is gone; its last name and the time are noted. */
void roster_exit(struct roster *r, uint32_t serial, const struct task_info *info);

/* A process is in another control group now; one without a row is nobody's business here. */
int roster_moved(struct roster *r, uint32_t pid, const struct told_group *group);

/* Notice processes that changed their name (exec), and that containers are still there. */
void roster_refresh(struct roster *r);

int roster_processes(const struct roster *r);

#endif
