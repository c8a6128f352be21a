/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose processes are. User space reads /proc while they live; here is kept what it would come too
 * late for: the groups of processes that end, and that a process has moved to another group. Nothing
 * of this runs at calls or context switches.
 */
#ifndef PROBE_TENANT_BPF_H
#define PROBE_TENANT_BPF_H

#include "probe/lib.bpf.h"
#include "wire/tenant.h"

const volatile __u32 tenant_controller = CONTROLLER_none;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GONE_TENANTS);
	__type(key, __u32);
	__type(value, struct task_groups);
} gone_tenants SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH); /* a tenant can move itself as often as it likes */
	__uint(max_entries, MOVED_TENANTS);
	__type(key, __u32);
	__type(value, struct task_groups);
} moved_tenants SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TENANT_PATHS);
	__type(key, struct group_key);
	__type(value, struct group_path);
} tenant_paths SEC(".maps");

/* Where a path is put together: too large for a stack. */
struct path_room {
	__u64 node[TENANT_LEVELS]; /* the outermost, by their distance from the group */
	__u64 at; /* while climbing */
	__u64 depth;
	struct group_path path;
	char behind[256]; /* a name may reach past the end; it is cut there */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct path_room);
} path_rooms SEC(".maps");

/* Before Linux 6.15 the field has another name. */
struct kernfs_node___old {
	struct kernfs_node *parent;
} __attribute__((preserve_access_index));

static __always_inline __u64 parent_of(__u64 node)
{
	struct kernfs_node *kn = (void *)node;
	struct kernfs_node___old *old = (void *)node;

	if (bpf_core_field_exists(struct kernfs_node, __parent))
		return (__u64)BPF_CORE_READ(kn, __parent);
	return (__u64)BPF_CORE_READ(old, parent);
}

/* All that changes is in the room: values on a stack the verifier would follow one by one. */
struct climb {
	struct path_room *room;
};

/* One level up. Only the last TENANT_LEVELS are remembered: those next to the root. */
static long climb(__u32 i, struct climb *c)
{
	struct path_room *room = c->room;
	__u64 parent = parent_of(room->at);

	if (!parent) /* the root has no name that counts */
		return 1;
	room->node[room->depth & (TENANT_LEVELS - 1)] = room->at;
	room->depth++;
	room->at = parent;
	return 0;
}

/* One level down again: its name behind what is there. */
static long descend(__u32 i, struct climb *c)
{
	struct path_room *room = c->room;
	__u32 at = room->path.len;
	struct kernfs_node *kn;
	const char *name;
	long n;

	if (!room->depth || at >= TENANT_PATH_BYTES - 2)
		return 1;
	room->depth--;
	kn = (void *)room->node[room->depth & (TENANT_LEVELS - 1)];
	name = BPF_CORE_READ(kn, name);
	room->path.text[at & (TENANT_PATH_BYTES - 1)] = '/';
	at++;
	n = bpf_probe_read_kernel_str(&room->path.text[at & (TENANT_PATH_BYTES - 1)], 256, name);
	if (n <= 1)
		return 1;
	at += n - 1;
	room->path.len = at < TENANT_PATH_BYTES ? at : TENANT_PATH_BYTES - 1;
	return 0;
}

/* The path of a group, once while it is remembered. */
static __noinline int tell_path(struct cgroup *group, const struct group_key *key)
{
	struct climb c = {};
	__u32 zero = 0;

	if (!key->id || bpf_map_lookup_elem(&tenant_paths, key))
		return 0;
	c.room = bpf_map_lookup_elem(&path_rooms, &zero);
	if (!c.room)
		return 0;
	c.room->at = (__u64)BPF_CORE_READ(group, kn);
	c.room->depth = 0;
	c.room->path.len = 0;
	bpf_loop(TENANT_LEVELS_MAX, climb, &c, 0);
	if (c.room->depth >= TENANT_LEVELS_MAX)
		return 0; /* its outer end, the one that counts, was not reached */
	bpf_loop(TENANT_LEVELS, descend, &c, 0);
	c.room->path.text[c.room->path.len & (TENANT_PATH_BYTES - 1)] = '\0';
	bpf_map_update_elem(&tenant_paths, key, &c.room->path, BPF_ANY);
	return 0;
}

static __always_inline int subsys_of(void)
{
	switch (tenant_controller) {
#define X(name)                                                                                    \
	case CONTROLLER_##name:                                                                    \
		return bpf_core_enum_value_exists(enum cgroup_subsys_id, name##_cgrp_id)           \
			       ? (int)bpf_core_enum_value(enum cgroup_subsys_id, name##_cgrp_id)   \
			       : -1;
		TENANT_CONTROLLERS(X)
#undef X
	default:
		return -1;
	}
}

/* The group of that controller; NULL: it is none of version 1 here. */
static __always_inline struct cgroup *group_v1(struct css_set *set)
{
	int subsys = subsys_of();
	struct cgroup_subsys_state *state = NULL;

	if (subsys < 0 || subsys > 31)
		return NULL;
	bpf_probe_read_kernel(&state, sizeof(state),
			      (void *)set + bpf_core_field_offset(struct css_set, subsys) +
				      subsys * sizeof(void *));
	return state ? BPF_CORE_READ(state, cgroup) : NULL;
}

static __always_inline void tell_group(struct cgroup *group, struct group_key *key)
{
	if (!group)
		return;
	key->id = BPF_CORE_READ(group, kn, id);
	key->hierarchy = BPF_CORE_READ(group, root, hierarchy_id);
	tell_path(group, key);
}

static __noinline int tell_groups(struct task_struct *task, struct task_groups *groups)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);

	if (!set)
		return 0;
	groups->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	groups->at_ns = now_ns();
	tell_group(group_v1(set), &groups->key[GROUP_V1]);
	tell_group(BPF_CORE_READ(set, dfl_cgrp), &groups->key[GROUP_UNIFIED]);
	return 0;
}

/* Of everybody: whoever had a CPU for a moment may be to blame. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(tenant_exit, struct task_struct *task)
{
	struct task_groups groups = {};
	__u32 pid = task->tgid;

	if (!active || task->pid != task->tgid)
		return 0;
	tell_groups(task, &groups);
	bpf_map_update_elem(&gone_tenants, &pid, &groups, BPF_ANY);
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(tenant_moved, struct cgroup *group, const char *path, struct task_struct *task)
{
	struct task_groups groups = {};
	__u32 pid = task->tgid;

	if (!active)
		return 0;
	tell_groups(task, &groups);
	bpf_map_update_elem(&moved_tenants, &pid, &groups, BPF_ANY);
	return 0;
}

/* ---- whose bytes a disk has to do with ---- */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DISK_USERS);
	__type(key, struct disk_user_key);
	__type(value, struct disk_user);
} disk_users SEC(".maps");

/* The group that the kernel writes back for: only where it keeps account of that (version 2). */
static __always_inline void written_for(struct request *rq, struct group_key *key)
{
	if (bpf_core_field_exists(struct bio, bi_blkg))
		tell_group(BPF_CORE_READ(rq, bio, bi_blkg, blkcg, css.cgroup), key);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(disk_used, struct request *rq)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct disk_user_key key = {};
	struct disk_user fresh = {};
	struct disk_user *known;
	__u64 bytes;

	if (!active)
		return 0;
	bytes = BPF_CORE_READ(rq, __data_len);
	if (!bytes)
		return 0; /* a flush */
	key.dev = BPF_CORE_READ(rq, part, bd_dev);
	key.pid = task->tgid;
	known = bpf_map_lookup_elem(&disk_users, &key);
	if (known) {
		__sync_fetch_and_add(&known->bytes, bytes);
		__sync_fetch_and_add(&known->requests, 1);
		return 0;
	}
	fresh.bytes = bytes;
	fresh.requests = 1;
	fresh.last_ns = now_ns();
	copy_comm(fresh.comm, task);
	if (task->flags & PF_KTHREAD) {
		fresh.kernel = 1;
		written_for(rq, &fresh.group);
	}
	bpf_map_update_elem(&disk_users, &key, &fresh, BPF_ANY);
	return 0;
}

#endif
