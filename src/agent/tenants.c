// SPDX-License-Identifier: Apache-2.0
/* Each group is parsed once; its names are looked for once more if nobody had written them yet. */
#include "agent/tenants.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/host.h"
#include "tenant/kubelet.h"

#define GROUPS_MAX 4096 /* then all are forgotten, and told again */
#define PIDS_MAX 4096 /* likewise */
#define AGAIN_NS 5000000000ull /* the kubelet links a log when the container runs */
#define ASKS_MAX 3 /* times that the kubelet is asked for one of them */
#define START_SLACK_NS 1000000000ull /* /proc tells it in ticks */
/* Until our probe has seen it end: at once, but an older kernel gives its memory back before that. */
#define ENDING_LOOKS 20
#define ENDING_LOOK_US 1000

struct group_path_key {
	char path[TENANT_PATH_CAP];
};

struct group {
	int64_t row; /* 0: nobody's */
	uint64_t again_at; /* look for names then; 0: no more */
	uint64_t answers; /* of the kubelet, when it was told */
	int asked; /* so often: a pod is in its list some time after it runs */
	char label[TENANT_LABEL_CAP];
	bool parsed, stored;
	bool nameless;
};

struct tenants {
	struct capture *capture;
	struct store *store;
	struct hash *groups; /* struct group_path_key -> struct group */
	struct hash *pids; /* -> struct group_path_key, as far as it was asked for */
	struct kubelet *kubelet; /* NULL: not asked */
	uint64_t unknown;
	int root;
};

struct tenants *tenants_new(struct capture *capture, struct store *store, const char *kubelet)
{
	struct tenants *t = xcalloc(1, sizeof(*t));

	t->capture = capture;
	t->store = store;
	t->groups = hash_new(sizeof(struct group_path_key), sizeof(struct group));
	t->pids = hash_new(sizeof(uint32_t), sizeof(struct group_path_key));
	t->kubelet = kubelet ? kubelet_new(kubelet) : NULL;
	t->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return t;
}

void tenants_free(struct tenants *t)
{
	if (!t)
		return;
	if (t->root >= 0)
		close(t->root);
	kubelet_free(t->kubelet);
	hash_free(t->groups);
	hash_free(t->pids);
	free(t);
}

void tenants_forget(struct tenants *t)
{
	hash_free(t->groups);
	t->groups = hash_new(sizeof(struct group_path_key), sizeof(struct group));
}

/* ---- where a process is ---- */

static void note_pid(struct tenants *t, uint32_t pid, const char *path)
{
	struct group_path_key *key;

	if (hash_count(t->pids) > PIDS_MAX) {
		hash_free(t->pids);
		t->pids = hash_new(sizeof(uint32_t), sizeof(struct group_path_key));
	}
	key = hash_put(t->pids, &pid);
	*key = (struct group_path_key){ 0 };
	str_copy(key->path, sizeof(key->path), path);
}

static bool look(struct tenants *t, uint32_t pid, uint64_t start_ns, struct told_group *ret)
{
	uint64_t started = start_ns ? proc_start_ns((int)pid) : 0;
	/* A pid that came back is somebody else. */
	bool is_it = !start_ns || (started && started <= start_ns + START_SLACK_NS), ending = false;

	for (int i = 0; i < ENDING_LOOKS; i++) {
		*ret = (struct told_group){ .start_ns = start_ns };
		if (is_it && proc_cgroup((int)pid, ret->path, sizeof(ret->path), &ending))
			return true;
		if (capture_gone_group(t->capture, pid, ret) &&
		    (!start_ns || ret->start_ns == start_ns))
			return true;
		if (!ending)
			break;
		usleep(ENDING_LOOK_US);
	}
	return false;
}

bool tenants_find(struct tenants *t, uint32_t pid, uint64_t start_ns, struct told_group *ret)
{
	bool found = look(t, pid, start_ns, ret);

	if (!found) {
		*ret = (struct told_group){ .start_ns = start_ns };
		t->unknown++;
	}
	note_pid(t, pid, ret->path);
	return found;
}

bool tenants_ended(struct tenants *t, uint32_t pid, uint64_t since_ns)
{
	return capture_ended_ns(t->capture, pid) > since_ns;
}

void tenants_poll(struct tenants *t, uint64_t now)
{
	if (t->kubelet)
		kubelet_poll(t->kubelet, now);
}

uint64_t tenants_unknown(const struct tenants *t)
{
	return t->unknown;
}

/* ---- what it is ---- */

/* The directory of a group, in the hierarchies where it may be; 0: it is gone, or not mounted. */
static uint64_t inode_of(const char *cgroup)
{
	static const char *const tops[] = { "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified",
					    "/sys/fs/cgroup", "/sys/fs/cgroup/systemd" };
	char path[TENANT_PATH_CAP + 32];
	struct stat st;

	if (strstr(cgroup, "/.."))
		return 0; /* seen from inside a namespace */
	for (size_t i = 0; i < ARRAY_LEN(tops); i++) {
		snprintf(path, sizeof(path), "%s%s", tops[i], cgroup);
		if (!lstat(path, &st) && S_ISDIR(st.st_mode))
			return st.st_ino;
	}
	return 0;
}

static int write_group(struct tenants *t, const char *cgroup, const struct tenant *who, uint64_t id,
		       uint64_t now, struct group *g)
{
	char identity[512], label[TENANT_LABEL_CAP];
	struct container_row row = {
		.identity = tenant_identity(who, identity, sizeof(identity)),
		.container_id = who->container_id,
		.runtime = who->runtime,
		.pod_uid = who->pod_uid,
		.namespace = who->namespace,
		.pod = who->pod,
		.name = who->name,
		.image = who->image,
		.slurm_job = who->slurm_job,
		.unit = who->unit,
		.label = tenant_label(who, label, sizeof(label)),
		.cgroup = cgroup,
		.cgroup_id = id,
		.claimed = who->claimed,
	};
	int err;

	if (!row.identity[0])
		return 0;
	err = store_container(t->store, now, &row, &g->row);
	return err ? err : store_cgroup_container(t->store, cgroup, g->row);
}

/* Names of it, from wherever there are any. False: nobody knows one. */
static bool find_names(struct tenants *t, struct tenant *who, struct group *g)
{
	bool named = t->root >= 0 && tenant_enrich(t->root, who);

	g->nameless = false;
	if (!t->kubelet || !tenant_foreign(who) || who->namespace[0])
		return named;
	named = kubelet_enrich(t->kubelet, who) || named;
	g->answers = kubelet_answers(t->kubelet);
	g->nameless = !who->namespace[0] && !who->claimed;
	if (g->nameless && g->asked++ < ASKS_MAX)
		kubelet_want(t->kubelet);
	return named;
}

static bool is_news(const struct tenants *t, const struct group *g, uint64_t now)
{
	return !g->parsed || !g->stored || (g->again_at && now >= g->again_at) ||
	       (g->nameless && g->answers < kubelet_answers(t->kubelet));
}

static int tell(struct tenants *t, const char *cgroup, uint64_t id, uint64_t now, struct group *g)
{
	bool first = !g->parsed, named;
	struct tenant who;
	int err;

	if (!is_news(t, g, now))
		return 0;
	(void)tenant_parse(cgroup, &who); /* what it says is in `who` */
	named = find_names(t, &who, g);
	g->again_at = first && !named && tenant_foreign(&who) ? now + AGAIN_NS : 0;
	g->parsed = true;
	g->label[0] = '\0';
	if (tenant_foreign(&who))
		tenant_label(&who, g->label, sizeof(g->label));
	err = write_group(t, cgroup, &who, id ? id : inode_of(cgroup), now, g);
	g->stored = !err;
	return err;
}

static struct group *group_of(struct tenants *t, const char *cgroup)
{
	struct group_path_key key = { 0 };

	if (hash_count(t->groups) > GROUPS_MAX)
		tenants_forget(t);
	str_copy(key.path, sizeof(key.path), cgroup);
	return hash_put(t->groups, &key);
}

int64_t tenants_container(struct tenants *t, const char *cgroup, uint64_t id, uint64_t now)
{
	struct group *g;
	int err;

	if (!cgroup[0])
		return 0;
	g = group_of(t, cgroup);
	err = tell(t, cgroup, id, now, g);
	if (err)
		log_warn("container of %s: %s", cgroup, why(err));
	return g->row;
}

int tenants_join(struct tenants *t, uint32_t pid, int64_t process, const struct told_group *group,
		 uint64_t now)
{
	int64_t row = tenants_container(t, group->path, group->id, now);

	note_pid(t, pid, group->path);
	return process ? store_process_container(t->store, process, now, row, group->path) : 0;
}

int tenants_seen(struct tenants *t, const char *cgroup, uint64_t now)
{
	int64_t row = tenants_container(t, cgroup, 0, now);

	return row ? store_container_seen(t->store, row, now) : 0;
}

const char *tenants_label(struct tenants *t, uint32_t pid)
{
	const struct group_path_key *key = hash_get(t->pids, &pid);
	const struct group *g = key ? hash_get(t->groups, key) : NULL;

	return g ? g->label : "";
}
