// SPDX-License-Identifier: Apache-2.0
/* Threads and processes to rows. A process is its pid and its start: pids come back. */
#include "agent/roster.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/tenants.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/host.h"

struct process_key {
	uint64_t start_ns;
	uint32_t pid, pad;
};

struct process {
	int64_t row;
	char comm[COMM_LEN];
	char cmdline[512];
	char cgroup[256];
	uint32_t threads; /* known and alive */
	/*
	 * 0: it runs, as far as we know. Else it is forgotten at the second refresh: of one that lives for a
	 * moment, a thread may have been met and buried before another is met.
	 */
	uint32_t ended;
};

struct member {
	struct person person;
	struct process_key process;
};

struct roster {
	struct store *store;
	struct tenants *tenants;
	struct hash *threads; /* serial -> struct member */
	struct hash *processes; /* struct process_key -> struct process */
	int seen;
};

struct roster *roster_new(struct store *store, struct tenants *tenants)
{
	struct roster *r = xcalloc(1, sizeof(*r));

	r->store = store;
	r->tenants = tenants;
	r->threads = hash_new(sizeof(uint32_t), sizeof(struct member));
	r->processes = hash_new(sizeof(struct process_key), sizeof(struct process));
	return r;
}

void roster_free(struct roster *r)
{
	if (!r)
		return;
	hash_free(r->threads);
	hash_free(r->processes);
	free(r);
}

int roster_processes(const struct roster *r)
{
	return r->seen;
}

/* The start time in /proc is coarse; a pid that came back differs by far more. */
static bool came_back(const struct proc_info *info, const struct process_key *key)
{
	return info->start_ns > key->start_ns + 1000000000ull;
}

/* A process that is gone already is stored with what the kernel side knows. */
static void add_process(struct roster *r, const struct process_key *key, uint32_t ppid,
			const char *comm, struct process *p)
{
	struct proc_info info = { 0 };
	struct told_group group;
	char python[16] = "";
	struct process_row row;
	int err;

	if (proc_read((int)key->pid, &info) || came_back(&info, key)) {
		info = (struct proc_info){ .ppid = (int)ppid };
		str_copy(info.comm, sizeof(info.comm), comm);
	} else {
		/* "" when it is not */
		(void)python_version((int)key->pid, python, sizeof(python));
	}
	(void)tenants_find(r->tenants, key->pid, key->start_ns, &group); /* "": counted there */
	row = (struct process_row){
		.pid = key->pid,
		.ppid = (uint32_t)info.ppid,
		.start_boot_ns = key->start_ns,
		.comm = info.comm,
		.cmdline = info.cmdline,
		.exe = info.exe,
		.cgroup = group.path,
		.python = python,
	};
	str_copy(p->comm, sizeof(p->comm), info.comm);
	str_copy(p->cmdline, sizeof(p->cmdline), info.cmdline);
	str_copy(p->cgroup, sizeof(p->cgroup), group.path);
	err = store_process(r->store, &row, &p->row);
	if (!err)
		err = tenants_join(r->tenants, key->pid, p->row, &group, key->start_ns);
	if (err)
		log_warn("process %u: %s", key->pid, why(err));
	r->seen++;
}

static struct process *process_of(struct roster *r, const struct process_key *key, uint32_t ppid,
				  const char *comm)
{
	struct process *p = hash_get(r->processes, key);

	if (!p) {
		p = hash_put(r->processes, key);
		add_process(r, key, ppid, comm, p);
	}
	return p;
}

int64_t roster_process(struct roster *r, uint32_t pid, uint64_t start_ns, const char *comm)
{
	struct process_key key = { .pid = pid, .start_ns = start_ns };

	return process_of(r, &key, 0, comm)->row;
}

const struct person *roster_find(const struct roster *r, uint32_t serial)
{
	struct member *m = hash_get(r->threads, &serial);

	return m ? &m->person : NULL;
}

const struct person *roster_thread(struct roster *r, uint32_t serial, const struct task_info *info)
{
	struct process_key key = { .pid = info->pid, .start_ns = info->start_ns };
	struct member *m = hash_get(r->threads, &serial);
	char comm[COMM_LEN];
	struct process *p;
	int err;

	if (m)
		return &m->person;
	str_copy(comm, sizeof(comm), info->comm);
	p = process_of(r, &key, info->ppid, comm);
	p->threads++;
	m = hash_put(r->threads, &serial);
	m->process = key;
	m->person = (struct person){ .process = p->row, .pid = info->pid, .tid = info->tid };
	memcpy(m->person.comm, p->comm, sizeof(m->person.comm));
	err = store_thread(r->store, p->row, info->tid, comm, info->adopted_ns, &m->person.thread);
	if (err)
		log_warn("thread %u: %s", info->tid, why(err));
	return &m->person;
}

void roster_exit(struct roster *r, uint32_t serial, const struct task_info *info)
{
	struct member *m = hash_get(r->threads, &serial);
	char comm[COMM_LEN];
	struct process *p;

	if (!m)
		return;
	str_copy(comm, sizeof(comm), info->comm);
	(void)store_thread_exit(r->store, m->person.thread, comm, info->exited_ns);
	p = hash_get(r->processes, &m->process);
	/* A process lives on without its callers; roster_refresh() notices its end. */
	if (p && !--p->threads && (info->leader || (kill((pid_t)info->pid, 0) && errno == ESRCH))) {
		(void)store_process_exit(r->store, p->row, info->exited_ns);
		p->ended = 1;
	}
	hash_drop(r->threads, &serial);
}

int roster_moved(struct roster *r, uint32_t pid, const struct told_group *group)
{
	struct process_key key = { .pid = pid, .start_ns = group->start_ns };
	struct process *p = hash_get(r->processes, &key);

	if (!p || streq(p->cgroup, group->path))
		return 0;
	str_copy(p->cgroup, sizeof(p->cgroup), group->path);
	return tenants_join(r->tenants, pid, p->row, group, group->at_ns);
}

static bool refresh_process(const void *key, void *value, void *arg)
{
	const struct process_key *id = key;
	struct process *p = value;
	struct roster *r = arg;
	struct proc_info info;

	if (p->ended)
		return !p->threads && p->ended++ > 1;
	if (proc_read((int)id->pid, &info) || came_back(&info, id)) {
		if (p->threads)
			return false; /* its threads will be told to exit */
		(void)store_process_exit(r->store, p->row, clock_boot_ns());
		return true;
	}
	(void)tenants_seen(r->tenants, p->cgroup, clock_boot_ns());
	if (streq(info.comm, p->comm) && streq(info.cmdline, p->cmdline))
		return false;
	str_copy(p->comm, sizeof(p->comm), info.comm);
	str_copy(p->cmdline, sizeof(p->cmdline), info.cmdline);
	(void)store_process_name(r->store, p->row, info.comm, info.cmdline);
	return false;
}

void roster_refresh(struct roster *r)
{
	hash_each(r->processes, refresh_process, r);
}
