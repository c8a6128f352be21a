// SPDX-License-Identifier: Apache-2.0
/*
 * Names of containers from files on this host, written by the kubelet and the runtimes. Labels and
 * annotations are partly the tenant's own words: they count only where they agree with the path.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "tenant/json.h"
#include "tenant/tenant.h"

#define ENTRIES_MAX 16384 /* of a directory */
#define FILE_MAX (4u << 20)

/* A whole regular file, not through a link; NULL: none, or too long. */
static char *read_whole(int root, const char *path, size_t *ret_len)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text = NULL;
	size_t len = 0;
	ssize_t got = 0;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size < (off_t)FILE_MAX) {
		text = xcalloc(1, (size_t)st.st_size + 1);
		while (len < (size_t)st.st_size &&
		       (got = read(fd, text + len, (size_t)st.st_size - len)) > 0)
			len += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	*ret_len = len;
	return text;
}

/* Call fn with each name in a directory until it is content. */
static bool each_name(int root, const char *path, bool (*fn)(const char *name, struct tenant *t),
		      struct tenant *t)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	bool found = false;
	int n = 0;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && n++ < ENTRIES_MAX && (entry = readdir(dir)))
		found = fn(entry->d_name, t);
	closedir(dir);
	return found;
}

static void put(char *dst, size_t cap, const char *src, size_t len)
{
	char raw[256];

	snprintf(raw, sizeof(raw), "%.*s", (int)len, src);
	text_safe(dst, cap, raw);
}

/* ---- the kubelet ---- */

/* "POD_NAMESPACE_CONTAINER-ID.log"; none of these names can have an underscore. */
static bool of_container(const char *name, struct tenant *t)
{
	size_t len = strlen(name), id = strlen(t->container_id), pod, space;
	const char *at = name;

	if (id != 64 || len < id + 8 || strncmp(name + len - 4 - id, t->container_id, id) != 0 ||
	    name[len - 5 - id] != '-')
		return false;
	pod = strcspn(at, "_");
	space = strcspn(at + pod + (at[pod] == '_'), "_");
	if (at[pod] != '_' || at[pod + 1 + space] != '_' || pod + space + 2 >= len - 5 - id)
		return false;
	put(t->pod, sizeof(t->pod), at, pod);
	put(t->namespace, sizeof(t->namespace), at + pod + 1, space);
	at += pod + space + 2;
	put(t->name, sizeof(t->name), at, (size_t)(name + len - 5 - id - at));
	return true;
}

/* "NAMESPACE_POD_UID" */
static bool of_pod(const char *name, struct tenant *t)
{
	const char *pod = strchr(name, '_'), *uid = pod ? strchr(pod + 1, '_') : NULL;

	if (!uid || !streq(uid + 1, t->pod_uid))
		return false;
	put(t->namespace, sizeof(t->namespace), name, (size_t)(pod - name));
	put(t->pod, sizeof(t->pod), pod + 1, (size_t)(uid - pod - 1));
	return true;
}

/* ---- runtimes ---- */

/* What a runtime or the kubelet has noted of a pod, if it is the pod of the path. */
static void take_pod(struct json_value notes, const char *const key[4], struct tenant *t)
{
	char uid[64] = "";

	json_take(notes, key[0], uid, sizeof(uid));
	if (!t->pod_uid[0] || !streq(uid, t->pod_uid))
		return;
	json_take(notes, key[1], t->namespace, sizeof(t->namespace));
	json_take(notes, key[2], t->pod, sizeof(t->pod));
	json_take(notes, key[3], t->name, sizeof(t->name));
}

static bool from_docker(int root, struct tenant *t)
{
	static const char *const keys[4] = { "io.kubernetes.pod.uid", "io.kubernetes.pod.namespace",
					     "io.kubernetes.pod.name",
					     "io.kubernetes.container.name" };
	struct json_value top, config, labels;
	char path[160], name[sizeof(t->name)] = "", *text;
	size_t len;

	snprintf(path, sizeof(path), "var/lib/docker/containers/%s/config.v2.json",
		 t->container_id);
	text = read_whole(root, path, &len);
	if (!text)
		return false;
	top = json_text(text, len);
	if (json_member(top, "Config", &config)) {
		json_take(config, "Image", t->image, sizeof(t->image));
		if (json_member(config, "Labels", &labels))
			take_pod(labels, keys, t);
	}
	json_take(top, "Name", name, sizeof(name));
	if (!t->name[0])
		str_copy(t->name, sizeof(t->name), name + (name[0] == '/'));
	if (!t->runtime[0])
		str_copy(t->runtime, sizeof(t->runtime), "docker");
	free(text);
	return true;
}

static bool from_containerd(int root, struct tenant *t)
{
	static const char *const spaces[] = { "k8s.io", "default", "moby" };
	static const char *const keys[4] = { "io.kubernetes.cri.sandbox-uid",
					     "io.kubernetes.cri.sandbox-namespace",
					     "io.kubernetes.cri.sandbox-name",
					     "io.kubernetes.cri.container-name" };
	struct json_value notes;
	char path[200], *text = NULL;
	size_t len;

	for (size_t i = 0; !text && i < ARRAY_LEN(spaces); i++) {
		snprintf(path, sizeof(path),
			 "run/containerd/io.containerd.runtime.v2.task/%s/%s/config.json",
			 spaces[i], t->container_id);
		text = read_whole(root, path, &len);
	}
	if (!text)
		return false;
	if (json_member(json_text(text, len), "annotations", &notes)) {
		take_pod(notes, keys, t);
		json_take(notes, "io.kubernetes.cri.image-name", t->image, sizeof(t->image));
	}
	if (!t->runtime[0])
		str_copy(t->runtime, sizeof(t->runtime), "containerd");
	free(text);
	return true;
}

/* One list of all containers: podman and CRI-O share their storage. */
static bool from_storage(int root, struct tenant *t)
{
	struct json_value all, one, names, first, meta;
	char id[65], text_of[2048] = "";
	bool found = false;
	size_t len;
	char *text = read_whole(
		root, "var/lib/containers/storage/overlay-containers/containers.json", &len);

	if (!text)
		return false;
	all = json_text(text, len);
	for (bool more = json_first(all, &one); more && !found; more = !found && json_next(&one)) {
		struct json_value v;

		found = json_member(one, "id", &v) && json_string(v, id, sizeof(id)) &&
			streq(id, t->container_id);
	}
	if (found) {
		if (!t->name[0] && json_member(one, "names", &names) && json_first(names, &first))
			(void)json_string(first, t->name, sizeof(t->name)); /* "": none */
		if (json_member(one, "metadata", &meta) &&
		    json_string(meta, text_of, sizeof(text_of)))
			json_take(json_text(text_of, strlen(text_of)), "image-name", t->image,
				  sizeof(t->image));
	}
	free(text);
	return found;
}

bool tenant_enrich(int root, struct tenant *t)
{
	bool found = false, known;

	if (t->claimed)
		return false;
	if (t->container_id[0] && strspn(t->container_id, "0123456789abcdef") == 64) {
		found = each_name(root, "var/log/containers", of_container, t);
		known = from_docker(root, t) || from_containerd(root, t) || from_storage(root, t);
		found = found || known;
	}
	if (t->pod_uid[0] && !t->namespace[0])
		found = each_name(root, "var/log/pods", of_pod, t) || found;
	return found;
}
