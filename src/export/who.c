// SPDX-License-Identifier: Apache-2.0
/*
 * Who was there: nodes, processes and threads of a trace, those that the options ask for, and those
 * that only are on chains. One process that two runs saw is one; two with the same number are two.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "explain/explain.h"
#include "export/timeline.h"

#define MADE_UP_PID 10000000u /* above those that Linux gives */
#define SAME_START_NS 2000000000ull /* two runs put the start of a process so far apart at most */
#define SHIFT_MAX_NS (365ll * 86400 * 1000000000)

struct pid_key {
	uint32_t owner, number; /* a node and a pid; a process and a tid */
};

/* ---- nodes and processes ---- */

int tl_node(struct timeline_out *t, const char *name)
{
	char safe[sizeof(t->node[0].name)];

	text_safe(safe, sizeof(safe), name[0] ? name : "(no name)");
	for (int i = 0; i < t->nodes; i++)
		if (streq(t->node[i].name, safe))
			return i;
	t->node = xrealloc(t->node, (size_t)t->nodes + 1, sizeof(*t->node));
	t->node[t->nodes] = (struct tl_node){ 0 };
	str_copy(t->node[t->nodes].name, sizeof(safe), safe);
	return t->nodes++;
}

static uint32_t shown_pid(struct timeline_out *t, uint32_t pid)
{
	if (pid > INT32_MAX || hash_get(t->taken, &pid))
		pid = ++t->made_up;
	else
		*(char *)hash_put(t->taken, &pid) = 1;
	return pid;
}

static struct tl_process *add_process(struct timeline_out *t, int node, uint32_t pid,
				      const char *comm)
{
	struct pid_key key = { (uint32_t)node, pid };
	struct tl_process *p;

	t->process = xrealloc(t->process, (size_t)t->processes + 1, sizeof(*t->process));
	p = &t->process[t->processes++];
	*p = (struct tl_process){ .node = node, .pid = pid, .rank = -1 };
	p->shown_pid = shown_pid(t, pid);
	text_safe(p->comm, sizeof(p->comm), comm);
	*(int *)hash_put(t->by_pid, &key) = t->processes;
	return p;
}

static struct tl_process *latest(struct timeline_out *t, int node, uint32_t pid)
{
	struct pid_key key = { (uint32_t)node, pid };
	int *index = hash_get(t->by_pid, &key);

	return index ? &t->process[*index - 1] : NULL;
}

struct tl_process *tl_anyone(struct timeline_out *t, int node, uint32_t pid, const char *comm)
{
	struct tl_process *p = latest(t, node, pid);

	return p ? p : add_process(t, node, pid, comm);
}

static bool selected(const struct timeline_out *t, const struct process_info *info)
{
	return (!t->opts->pid || info->pid == t->opts->pid) &&
	       (!t->opts->container || tenant_chosen(&t->tenant, info->cgroup));
}

static int on_process(const struct process_info *info, void *arg)
{
	struct timeline_out *t = arg;
	int node = tl_node(t, info->node);
	struct tl_process *p = latest(t, node, info->pid);
	uint64_t apart = !p                             ? 0
			 : p->start_ns > info->start_ns ? p->start_ns - info->start_ns
							: info->start_ns - p->start_ns;

	if (!p || apart > SAME_START_NS)
		p = add_process(t, node, info->pid, info->comm);
	p->traced = true;
	p->start_ns = info->start_ns;
	p->selected |= selected(t, info);
	free(p->cmdline);
	p->cmdline = xstrdup(info->cmdline);
	*(int *)hash_put(t->process_rows, &info->id) = (int)(p - t->process) + 1;
	return 0;
}

static int on_rank(const struct rank_row *row, void *arg)
{
	struct timeline_out *t = arg;
	int *index = hash_get(t->process_rows, &row->process);

	if (index)
		t->process[*index - 1].rank = row->rank;
	return 0;
}

/* ---- threads ---- */

static int thread_index(struct timeline_out *t, int process, uint32_t tid, const char *comm)
{
	struct pid_key key = { (uint32_t)process, tid };
	int *index = hash_put(t->by_tid, &key);

	if (!*index) {
		t->thread = xrealloc(t->thread, (size_t)t->threads + 1, sizeof(*t->thread));
		t->thread[t->threads] = (struct tl_thread){ .process = process, .tid = tid };
		text_safe(t->thread[t->threads].comm, sizeof(t->thread[0].comm), comm);
		*index = ++t->threads;
	}
	return *index - 1;
}

static int on_thread(const struct thread_info *info, void *arg)
{
	struct timeline_out *t = arg;
	int *process = hash_get(t->process_rows, &info->process);

	if (process)
		*(int *)hash_put(t->thread_rows, &info->thread) =
			thread_index(t, *process - 1, info->tid, info->comm) + 1;
	return 0;
}

struct tl_thread *tl_any_thread(struct timeline_out *t, int node, uint32_t pid, uint32_t tid,
				const char *comm)
{
	struct tl_process *p = tl_anyone(t, node, pid, comm);
	int index = thread_index(t, (int)(p - t->process), tid, comm);

	return &t->thread[index];
}

struct tl_thread *tl_thread(struct timeline_out *t, int64_t row)
{
	int *index = hash_get(t->thread_rows, &row);
	struct tl_thread *thread = index ? &t->thread[*index - 1] : NULL;

	return thread && t->process[thread->process].selected ? thread : NULL;
}

struct tl_process *tl_process(struct timeline_out *t, int64_t row)
{
	int *index = hash_get(t->process_rows, &row);

	return index && t->process[*index - 1].selected ? &t->process[*index - 1] : NULL;
}

struct tl_process *tl_process_of(struct timeline_out *t, const struct tl_thread *thread)
{
	return &t->process[thread->process];
}

bool tl_node_selected(const struct timeline_out *t, int node)
{
	for (int i = 0; i < t->processes; i++)
		if (t->process[i].node == node && t->process[i].selected)
			return true;
	/* Without a filter a node is shown even where nobody was traced. */
	return !t->opts->pid && !t->opts->container;
}

/* ---- clocks ---- */

static int on_clock(const char *node, int64_t shift_ns, void *arg)
{
	struct timeline_out *t = arg;
	int index = tl_node(t, node);

	/* A file can hold anything: a clock that far off is no clock. */
	if (shift_ns > -SHIFT_MAX_NS && shift_ns < SHIFT_MAX_NS)
		t->node[index].shift_ns = shift_ns;
	return 0;
}

/* ---- all of them ---- */

static int on_group(const struct process_info *info, void *arg)
{
	tenant_list_add(arg, info->cgroup);
	return 0;
}

static int choose_tenant(struct timeline_out *t)
{
	int err = explain_tenants(t->store, &t->tenants);

	if (!err)
		err = store_each_process(t->store, t->w, on_group, &t->tenants);
	return err ? err : tenant_choose_by(&t->tenants, t->opts->container, &t->tenant);
}

static int nobody(const struct timeline_out *t)
{
	if (!t->processes)
		return fail(-ENODATA, "no traced process in that time");
	if (t->opts->container)
		return fail(-ENODATA, "none of %d traced processes is of container %s",
			    t->processes, t->opts->container);
	return fail(-ENODATA, "pid %u is none of the %d traced processes in that time",
		    t->opts->pid, t->processes);
}

int tl_begin(struct timeline_out *t)
{
	int err;
	bool any = false;

	t->process_rows = hash_new(sizeof(int64_t), sizeof(int));
	t->thread_rows = hash_new(sizeof(int64_t), sizeof(int));
	t->by_pid = hash_new(sizeof(struct pid_key), sizeof(int));
	t->by_tid = hash_new(sizeof(struct pid_key), sizeof(int));
	t->taken = hash_new(sizeof(uint32_t), sizeof(char));
	t->kinds = hash_new(2 * sizeof(uint64_t), sizeof(struct lanes *));
	t->ids = hash_new(2 * sizeof(uint64_t), sizeof(uint64_t));
	t->made_up = MADE_UP_PID;
	err = t->opts->container ? choose_tenant(t) : 0;
	if (!err)
		err = store_each_node_clock(t->store, on_clock, t);
	if (!err)
		err = store_each_process(t->store, t->w, on_process, t);
	if (!err)
		err = store_each_rank(t->store, t->w, on_rank, t);
	if (!err)
		err = store_each_thread(t->store, t->w, on_thread, t);
	for (int i = 0; i < t->processes; i++)
		any |= t->process[i].selected;
	return err || any ? err : nobody(t);
}

static bool free_lanes(const void *key, void *value, void *arg)
{
	struct lanes *l = *(struct lanes **)value;

	(void)key;
	(void)arg;
	for (int i = 0; i < l->count; i++)
		free(l->lane[i].end);
	free(l->name);
	free(l);
	return false;
}

void tl_release(struct timeline_out *t)
{
	if (t->kinds)
		hash_each(t->kinds, free_lanes, NULL);
	hash_free(t->process_rows);
	hash_free(t->thread_rows);
	hash_free(t->by_pid);
	hash_free(t->by_tid);
	hash_free(t->taken);
	hash_free(t->kinds);
	hash_free(t->ids);
	tenant_list_release(&t->tenants);
	for (int i = 0; i < t->processes; i++)
		free(t->process[i].cmdline);
	free(t->process);
	free(t->thread);
	free(t->node);
}
