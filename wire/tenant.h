/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Control groups as the kernel side tells them: of processes that are gone, or that have moved. */
#ifndef WIRE_TENANT_H
#define WIRE_TENANT_H

#include <linux/types.h>

#define GONE_TENANTS 4096 /* processes that ended last */
#define MOVED_TENANTS 1024 /* between two looks of user space */
#define TENANT_PATHS 2048
#define TENANT_PATH_BYTES 512 /* longer paths are cut at their inner end */
#define TENANT_LEVELS 64 /* deeper ones too; a power of two */
#define TENANT_LEVELS_MAX 512 /* deeper still: not told at all */

/* Of a hierarchy a group's number is unique for as long as the host is up. */
struct group_key {
	__u64 id; /* inode of its directory; 0: not known */
	__u32 hierarchy; /* 0: the unified one */
	__u32 pad;
};

/* One of version 1, and the unified one: see tenant_controller. */
enum { GROUP_V1, GROUP_UNIFIED, GROUPS_TOLD };

struct task_groups {
	__u64 start_ns; /* boot time, of the process */
	__u64 at_ns; /* it ended, or moved */
	struct group_key key[GROUPS_TOLD];
};

struct group_path {
	__u32 len, pad;
	char text[TENANT_PATH_BYTES]; /* "/docker/4f2a", the root is "" */
};

/* Whose groups of version 1 are told, set before load. The names are those of tenant_choose(). */
#define TENANT_CONTROLLERS(X) X(memory) X(cpu) X(pids) X(devices) X(io) X(freezer) X(cpuset)

enum tenant_controller {
	CONTROLLER_none,
#define X(name) CONTROLLER_##name,
	TENANT_CONTROLLERS(X)
#undef X
};

/* Who gave how much to a disk since user space looked last. */
struct disk_user_key {
	__u32 dev; /* as the kernel numbers it: major << 20 | minor */
	__u32 pid; /* who issued it; of what the kernel itself writes back: a thread of its own */
};

struct disk_user {
	__u64 bytes, requests;
	__u64 last_ns;
	struct group_key group; /* of what the kernel writes back: for whom; id 0: not known */
	__u32 kernel; /* 1: issued by a thread of the kernel */
	__u32 pad;
	char comm[16];
};

#define DISK_USERS 2048

_Static_assert(sizeof(struct disk_user) == 64, "struct disk_user");
_Static_assert(sizeof(struct group_key) == 16, "struct group_key");
_Static_assert(sizeof(struct task_groups) == 48, "struct task_groups");
_Static_assert(sizeof(struct group_path) == 8 + TENANT_PATH_BYTES, "struct group_path");

#endif
