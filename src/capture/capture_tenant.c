// SPDX-License-Identifier: Apache-2.0
/* The part of a capture that is about control groups: of processes that are gone or have moved. */
#include <bpf/bpf.h>
#include <stdio.h>

#include "base/file.h"
#include "base/text.h"
#include "base/util.h"
#include "capture/capture_int.h"
#include "tenant/tenant.h"

/* Our own lines name all hierarchies of the host. */
void capture_choose_groups(struct probe *p)
{
	static const char *const names[] = { "",
#define X(name) #name,
					     TENANT_CONTROLLERS(X)
#undef X
	};
	struct hierarchies h;
	char text[4096];

	if (file_read("/proc/self/cgroup", text, sizeof(text), NULL))
		return;
	tenant_hierarchies(text, &h);
	if (streq(h.controller, "blkio"))
		str_copy(h.controller, sizeof(h.controller), "io"); /* as the kernel calls it */
	for (size_t i = 1; i < ARRAY_LEN(names); i++)
		if (streq(h.controller, names[i]))
			p->rodata->tenant_controller = (uint32_t)i;
}

/* Of the groups that a task is in the one that says most: as tenant_choose() does it. */
static bool choose(struct capture *c, const struct task_groups *groups, struct told_group *ret)
{
	enum tenant_strength best = TENANT_ROOT;
	bool found = false;

	*ret = (struct told_group){ .start_ns = groups->start_ns, .at_ns = groups->at_ns };
	for (int i = 0; i < GROUPS_TOLD; i++) {
		enum tenant_strength strength;
		struct group_path path;
		struct tenant t;

		if (!groups->key[i].id ||
		    bpf_map_lookup_elem(bpf_map__fd(c->probe->maps.tenant_paths), &groups->key[i],
					&path))
			continue;
		path.text[sizeof(path.text) - 1] = '\0';
		strength = tenant_parse(path.text, &t);
		if (found && strength <= best)
			continue;
		found = true;
		best = strength;
		ret->id = groups->key[i].id;
		text_safe(ret->path, sizeof(ret->path), path.text[0] ? path.text : "/");
	}
	return found;
}

bool capture_gone_group(struct capture *c, uint32_t pid, struct told_group *ret)
{
	struct task_groups groups;

	return !bpf_map_lookup_elem(bpf_map__fd(c->probe->maps.gone_tenants), &pid, &groups) &&
	       choose(c, &groups, ret);
}

uint64_t capture_ended_ns(struct capture *c, uint32_t pid)
{
	struct task_groups groups;

	return bpf_map_lookup_elem(bpf_map__fd(c->probe->maps.gone_tenants), &pid, &groups)
		       ? 0
		       : groups.at_ns;
}

void capture_each_moved(struct capture *c, moved_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.moved_tenants);
	struct task_groups groups;
	struct told_group group;
	uint32_t pid;

	for (int i = 0; i < 2 * MOVED_TENANTS && !bpf_map_get_next_key(fd, NULL, &pid); i++) {
		if (!bpf_map_lookup_elem(fd, &pid, &groups) && choose(c, &groups, &group))
			fn(pid, &group, arg);
		bpf_map_delete_elem(fd, &pid);
	}
}

void capture_each_disk_user(struct capture *c, disk_user_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.disk_users);
	struct disk_user_key key;
	struct disk_user user;

	for (int i = 0; i < 2 * DISK_USERS && !bpf_map_get_next_key(fd, NULL, &key); i++) {
		struct task_groups groups = { 0 };
		struct told_group group = { 0 };

		if (bpf_map_lookup_elem(fd, &key, &user))
			memset(&user, 0, sizeof(user));
		bpf_map_delete_elem(fd, &key);
		groups.key[0] = user.group;
		if (user.group.id)
			(void)choose(c, &groups, &group); /* "": told by nobody */
		if (user.bytes)
			fn(&key, &user, &group, arg);
	}
}
