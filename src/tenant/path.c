// SPDX-License-Identifier: Apache-2.0
/* Paths of control groups, as container runtimes, kubelets, Slurm, ECS and systemd make them. */
#include <stdio.h>

#include "base/text.h"
#include "base/util.h"
#include "tenant/tenant.h"

#define ID_LEN 64 /* hexadecimal digits of a container's id */
#define ID_SHOWN 12 /* as container runtimes print it */
#define PARTS_MAX 64 /* a path is cut at its inner end, which says least */

/* What stands before the id in the name of a group. */
static const struct {
	const char *prefix, *runtime;
} prefixes[] = {
	{ "docker-", "docker" },         { "cri-containerd-", "containerd" },
	{ "containerd-", "containerd" }, { "nerdctl-", "containerd" },
	{ "crio-conmon-", "cri-o" },     { "crio-", "cri-o" },
	{ "cri-o-", "cri-o" },           { "libpod-conmon-", "podman" },
	{ "libpod-payload-", "podman" }, { "libpod-", "podman" },
	{ "buildkit-", "buildkit" },
};

/* The group in which one finds groups named by a bare id. */
static const struct {
	const char *name, *runtime;
} parents[] = {
	{ "docker", "docker" },      { "ecs", "ecs" },       { "libpod_parent", "podman" },
	{ "buildkit", "buildkit" },  { "garden", "garden" }, { "default", "containerd" },
	{ "k8s.io", "containerd" },  { "moby", "docker" },   { "cri-containerd", "containerd" },
	{ "actions_job", "docker" },
};

/* Units that make groups for others: what stands below them is theirs to say. */
static const char *const makers[] = {
	"docker.service",
	"containerd.service",
	"crio.service",
	"cri-o.service",
	"kubelet.service",
	"k3s.service",
	"k3s-agent.service",
	"rke2-server.service",
	"rke2-agent.service",
	"snap.docker.dockerd.service",
	"snap.microk8s.daemon-containerd.service",
	"ecs.service",
	"podman.service",
	"slurmd.service",
	"slurmstepd.scope",
};

/* One part of a path, as it is read from the outer end. */
struct part {
	char text[TENANT_PATH_CAP];
	char before[64]; /* the part around it */
};

struct reader {
	struct tenant *t;
	bool kube, slurm, ecs, done;
};

static size_t hex_len(const char *s)
{
	return strspn(s, "0123456789abcdef");
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && streq(s + n - m, end);
}

static bool is_maker(const char *unit)
{
	for (size_t i = 0; i < ARRAY_LEN(makers); i++)
		if (streq(unit, makers[i]))
			return true;
	return ends_with(unit, "slurmstepd.scope"); /* "NODE_slurmstepd.scope" */
}

static void keep(char *dst, size_t cap, const char *src, size_t len)
{
	snprintf(dst, cap, "%.*s", (int)len, src);
}

static bool found(struct reader *r, const char *id, size_t len, const char *runtime)
{
	keep(r->t->container_id, sizeof(r->t->container_id), id, len);
	str_copy(r->t->runtime, sizeof(r->t->runtime), runtime);
	return r->done = true;
}

/* ---- containers ---- */

static const char *runtime_of(const struct reader *r, const char *parent)
{
	for (size_t i = 0; i < ARRAY_LEN(parents); i++)
		if (streq(parent, parents[i].name))
			return parents[i].runtime;
	return r->ecs ? "ecs" : "";
}

/* "docker-ID.scope", "crio-ID", "ID", and "SLICE:RUNTIME:ID" of a driver that was told the other's form. */
static bool take_id(struct reader *r, const struct part *p)
{
	const char *s = p->text, *colon = strrchr(s, ':');
	char runtime[24];

	if (colon && hex_len(colon + 1) == ID_LEN && !colon[1 + ID_LEN]) {
		const char *from = colon;

		while (from > s && from[-1] != ':')
			from--;
		keep(runtime, sizeof(runtime), from, (size_t)(colon - from));
		return found(r, colon + 1, ID_LEN, runtime_of(r, runtime));
	}
	if (hex_len(s) == ID_LEN && (!s[ID_LEN] || streq(s + ID_LEN, ".scope")))
		return found(r, s, ID_LEN, runtime_of(r, p->before));
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i].prefix);
		const char *id = s + n;

		if (!strncmp(s, prefixes[i].prefix, n) && hex_len(id) == ID_LEN &&
		    (!id[ID_LEN] || streq(id + ID_LEN, ".scope")))
			return found(r, id, ID_LEN, prefixes[i].runtime);
	}
	return false;
}

/* Those with names instead of ids. */
static bool take_machine(struct reader *r, const struct part *p)
{
	const char *s = p->text, *rest;
	bool lxc = streq(p->before, "lxc") || streq(p->before, "lxc.payload");

	if (starts_with(s, "lxc.payload.") || starts_with(s, "lxc.monitor."))
		return found(r, s + 12, strlen(s + 12), "lxc");
	if (lxc)
		return found(r, s, strlen(s), "lxc");
	if (starts_with(s, "systemd-nspawn@") && ends_with(s, ".service")) {
		rest = s + strlen("systemd-nspawn@");
		return found(r, rest, strlen(rest) - strlen(".service"), "nspawn");
	}
	if (starts_with(s, "machine-") && ends_with(s, ".scope") &&
	    streq(p->before, "machine.slice")) {
		rest = s + strlen("machine-");
		return found(r, rest, strlen(rest) - strlen(".scope"),
			     starts_with(rest, "qemu") ? "libvirt" : "nspawn");
	}
	return false;
}

/* ---- pods, tasks and jobs ---- */

/* A pod's uid, or the hash that a static pod has instead; systemd's names have _ for -. */
static bool take_uid(struct tenant *t, const char *s, size_t len)
{
	if (len < 32 || len > 36 || strspn(s, "0123456789abcdef-_") < len)
		return false;
	keep(t->pod_uid, sizeof(t->pod_uid), s, len);
	for (char *c = t->pod_uid; *c; c++)
		if (*c == '_')
			*c = '-';
	return true;
}

static bool take_pod(struct reader *r, const struct part *p)
{
	const char *s = p->text, *pod = strstr(s, "-pod");

	if (starts_with(s, "kubepods") || strstr(s, "-kubepods"))
		r->kube = true;
	if (!r->kube || r->t->pod_uid[0])
		return false;
	if (starts_with(s, "pod"))
		return take_uid(r->t, s + 3, strlen(s + 3));
	/* "kubepods-burstable-podUID.slice", perhaps with ":RUNTIME:ID" behind it */
	return pod && take_uid(r->t, pod + 4, strcspn(pod + 4, ".:"));
}

static bool is_task(const char *s, size_t len)
{
	return len >= 32 && len <= 36 && strspn(s, "0123456789abcdef-") >= len;
}

/* "/ecs/TASK/ID", "/ecs/TASK/TASK-NUMBER", "/ecstasks.slice/ecstasks-TASK.slice/docker-ID.scope" */
static bool take_ecs(struct reader *r, const struct part *p)
{
	const char *s = p->text, *dash;
	size_t len = strlen(s);

	if (starts_with(s, "ecstasks-") && ends_with(s, ".slice")) {
		s += strlen("ecstasks-");
		len = strlen(s) - strlen(".slice");
		r->ecs = true;
	} else if (streq(s, "ecs") && !p->before[0]) {
		return r->ecs = true;
	}
	if (!r->ecs)
		return false;
	if (!r->t->pod[0] && is_task(s, len)) {
		keep(r->t->pod, sizeof(r->t->pod), s, len);
		return true;
	}
	dash = strchr(s, '-');
	if (dash && (size_t)(dash - s) == 32 && hex_len(s) == 32 && dash[1] &&
	    strspn(dash + 1, "0123456789") == strlen(dash + 1))
		return found(r, s, len, "ecs");
	return false;
}

/* "/slurm/uid_U/job_J/step_S" of version 1, "/system.slice/slurmstepd.scope/job_J/step_S" of 2 */
static bool take_slurm(struct reader *r, const struct part *p)
{
	const char *s = p->text;
	size_t digits;

	if (streq(s, "slurm") || starts_with(s, "slurm_") || ends_with(s, "slurmstepd.scope"))
		r->slurm = true;
	if (!r->slurm || !starts_with(s, "job_"))
		return false;
	digits = strspn(s + 4, "0123456789");
	if (!digits || digits > 20 || s[4 + digits])
		return false;
	keep(r->t->slurm_job, sizeof(r->t->slurm_job), s + 4, digits);
	return r->done = true;
}

/* ---- all of a path ---- */

static void take_unit(struct reader *r, const struct part *p)
{
	struct tenant *t = r->t;

	if (!ends_with(p->text, ".service") && !ends_with(p->text, ".scope"))
		return;
	if (!t->unit[0])
		str_copy(t->unit, sizeof(t->unit), p->text);
	if (!is_maker(p->text))
		t->claimed = true; /* from here on */
}

static void take(struct reader *r, const struct part *p)
{
	bool scope = ends_with(p->text, ".scope"), pod = take_pod(r, p);

	if (take_id(r, p) || take_machine(r, p)) {
		if (scope && !r->t->unit[0]) /* the runtime's own unit for it */
			str_copy(r->t->unit, sizeof(r->t->unit), p->text);
		return;
	}
	if (!pod && !take_ecs(r, p) && !take_slurm(r, p))
		take_unit(r, p);
}

/* A unit could write anything below itself: of a claim only the id is kept, with whose it is. */
static void drop_claims(struct tenant *t)
{
	if (!t->claimed)
		return;
	t->claimed = t->container_id[0] != '\0';
	t->pod_uid[0] = t->pod[0] = t->slurm_job[0] = '\0';
}

enum tenant_strength tenant_parse(const char *path, struct tenant *ret)
{
	struct reader r = { .t = ret };
	struct part p = { 0 };
	int parts = 0;

	*ret = (struct tenant){ 0 };
	text_safe(ret->path, sizeof(ret->path), path);
	for (const char *s = path; *s && !r.done && parts < PARTS_MAX; parts++) {
		size_t len;

		s += strspn(s, "/");
		len = strcspn(s, "/");
		if (len && !(len == 2 && s[0] == '.' && s[1] == '.')) {
			char raw[TENANT_PATH_CAP];

			keep(raw, sizeof(raw), s, len);
			text_safe(p.text, sizeof(p.text), raw);
			take(&r, &p);
			keep(p.before, sizeof(p.before), p.text, strlen(p.text));
		}
		s += len;
	}
	drop_claims(ret);
	if (tenant_foreign(ret))
		return TENANT_CONTAINER;
	if (ret->unit[0])
		return TENANT_UNIT;
	return p.text[0] ? TENANT_PATH : TENANT_ROOT;
}

bool tenant_foreign(const struct tenant *t)
{
	return t->container_id[0] || t->pod_uid[0] || t->pod[0] || t->slurm_job[0];
}

/* ---- what it is called ---- */

char *tenant_identity(const struct tenant *t, char *dst, size_t cap)
{
	if (t->container_id[0])
		snprintf(dst, cap, "container:%s:%s", t->claimed ? t->unit : "", t->container_id);
	else if (t->pod_uid[0])
		snprintf(dst, cap, "pod:%s", t->pod_uid);
	else if (t->slurm_job[0])
		snprintf(dst, cap, "slurm:%s", t->slurm_job);
	else if (t->pod[0])
		snprintf(dst, cap, "task:%s", t->pod);
	else if (t->unit[0])
		snprintf(dst, cap, "unit:%s", t->unit);
	else if (t->path[0] && !streq(t->path, "/"))
		snprintf(dst, cap, "cgroup:%s", t->path);
	else
		dst[0] = '\0';
	return dst;
}

char *tenant_label(const struct tenant *t, char *dst, size_t cap)
{
	bool whole = hex_len(t->container_id) == ID_LEN;
	char id[65];

	keep(id, sizeof(id), t->container_id, whole ? ID_SHOWN : sizeof(id) - 1);
	if (t->namespace[0] && t->pod[0] && t->name[0])
		snprintf(dst, cap, "%s/%s (%s)", t->namespace, t->pod, t->name);
	else if (t->namespace[0] && t->pod[0])
		snprintf(dst, cap, "%s/%s", t->namespace, t->pod);
	else if (t->name[0])
		snprintf(dst, cap, "%s", t->name);
	else if (id[0] && t->claimed)
		snprintf(dst, cap, "%s of %s", id, t->unit);
	else if (id[0])
		snprintf(dst, cap, "%s", id);
	else if (t->pod_uid[0])
		snprintf(dst, cap, "pod %s", t->pod_uid);
	else if (t->slurm_job[0])
		snprintf(dst, cap, "job %s", t->slurm_job);
	else if (t->pod[0])
		snprintf(dst, cap, "task %s", t->pod);
	else
		snprintf(dst, cap, "%s", t->unit[0] ? t->unit : t->path);
	return dst;
}

bool tenant_matches(const struct tenant *t, const char *wanted)
{
	char full[sizeof(t->namespace) + sizeof(t->pod)];
	size_t len = strlen(wanted);

	if (!len)
		return false;
	if (t->container_id[0] && !strncmp(t->container_id, wanted, len))
		return true;
	snprintf(full, sizeof(full), "%s/%s", t->namespace, t->pod);
	return streq(wanted, t->name) || streq(wanted, t->pod) || streq(wanted, t->pod_uid) ||
	       (t->namespace[0] && streq(wanted, full)) || streq(wanted, t->slurm_job) ||
	       streq(wanted, t->unit) || (t->path[0] && streq(wanted, t->path));
}
