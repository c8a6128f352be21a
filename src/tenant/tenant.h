/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a process is: the container, pod, job or unit behind its control group. A tenant chooses the
 * names below its own root, so the outermost part of a path that says something is the one believed.
 */
#ifndef TENANT_TENANT_H
#define TENANT_TENANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TENANT_PATH_CAP 256
#define TENANT_LABEL_CAP 192

/* "": not known, or none. All are safe to print. */
struct tenant {
	char container_id[65];
	char runtime[24]; /* docker, containerd, cri-o, podman, lxc, nspawn, libvirt, ecs, ... */
	char pod_uid[40];
	char namespace[64];
	char pod[128]; /* its name; of ECS: the task */
	char name[128]; /* of the container */
	char image[256];
	char slurm_job[24];
	char unit[128]; /* of systemd, the outermost */
	char path[TENANT_PATH_CAP]; /* as given, where nothing else is known */
	bool claimed; /* the id stands below a unit that may write there what it likes */
};

/* How much a path says. */
enum tenant_strength { TENANT_ROOT, TENANT_PATH, TENANT_UNIT, TENANT_CONTAINER };

/* path.c: what a path says, outermost first. Pure. */
enum tenant_strength tenant_parse(const char *path, struct tenant *ret);

/*
 * What makes it this one and no other, on whatever node: the text that ids are made of. "": the root
 * group, which is nobody's. Returns dst.
 */
char *tenant_identity(const struct tenant *t, char *dst, size_t cap);

/* Its best name for people: "ml/train-0 (worker)", "4f2a9c0e11d3", "job 81", "etl.service". */
char *tenant_label(const struct tenant *t, char *dst, size_t cap);

/* Is it meant by a prefix of an id, a name, a pod, "namespace/pod", a job or a unit? */
bool tenant_matches(const struct tenant *t, const char *wanted);

/* Is it a container, pod or job rather than a part of the host itself? */
bool tenant_foreign(const struct tenant *t);

/*
 * lines.c: of the lines of /proc/PID/cgroup the path that says most; of equal ones that of the memory
 * controller, then the others of version 1, then the unified one. Changes text.
 */
void tenant_choose(char *text, char *dst, size_t cap);

/* Which hierarchies a host has, from the same lines of any of its processes. */
struct hierarchies {
	bool unified, v1;
	char controller[16]; /* of version 1, whose groups are told; "": the unified ones are */
};
void tenant_hierarchies(const char *text, struct hierarchies *ret);

/*
 * local.c: names from files of the container runtimes and the kubelet below root, an open directory.
 * False: none has it, or what the path says is only a claim.
 */
bool tenant_enrich(int root, struct tenant *t);

#endif
