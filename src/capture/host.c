// SPDX-License-Identifier: Apache-2.0
/* Reads small files of /proc and /sys and keeps the line that matters. */
#include "capture/host.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/util.h"

#define SMALL 4096
#define GPUS_MAX 1024

/* Where the value starts in the first line that begins with key; NULL without one. */
static char *line_value(char *text, const char *key)
{
	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (starts_with(line, key))
			return line + strlen(key);
	}
	return NULL;
}

/* Copy one line, without the spaces and quotes around it. */
static void copy_line(char *dst, size_t cap, char *src)
{
	size_t n;

	src += strspn(src, " \t\"'");
	n = strcspn(src, "\n");
	while (n && (isspace((unsigned char)src[n - 1]) || strchr("\"'", src[n - 1])))
		n--;
	src[n] = '\0';
	text_safe(dst, cap, src);
}

static void read_line(int root, const char *path, char *dst, size_t cap)
{
	char text[SMALL];

	if (!file_read_at(root, path, text, sizeof(text), NULL))
		copy_line(dst, cap, text);
}

static void read_value(int root, const char *path, const char *key, char *dst, size_t cap)
{
	char text[SMALL], *value;

	if (file_read_at(root, path, text, sizeof(text), NULL))
		return;
	value = line_value(text, key);
	if (value)
		copy_line(dst, cap, value);
}

static bool exists(int root, const char *path)
{
	return !faccessat(root, path, F_OK, 0);
}

/* The mode in force stands in brackets: "none [integrity] confidentiality". */
static void read_lockdown(int root, struct host *h)
{
	char text[128], *open, *end;

	if (file_read_at(root, "sys/kernel/security/lockdown", text, sizeof(text), NULL))
		return;
	open = strchr(text, '[');
	end = open ? strchr(open, ']') : NULL;
	if (!end)
		return;
	*end = '\0';
	text_safe(h->lockdown, sizeof(h->lockdown), open + 1);
}

static void read_cgroup_version(int root, struct host *h)
{
	if (exists(root, "sys/fs/cgroup/cgroup.controllers"))
		str_copy(h->cgroup, sizeof(h->cgroup), "v2");
	else if (exists(root, "sys/fs/cgroup/unified/cgroup.controllers"))
		str_copy(h->cgroup, sizeof(h->cgroup), "hybrid");
	else if (exists(root, "sys/fs/cgroup/memory") || exists(root, "sys/fs/cgroup/cpu"))
		str_copy(h->cgroup, sizeof(h->cgroup), "v1");
}

static bool is_vm(int root)
{
	char text[SMALL], *flags, *found;

	if (file_read_at(root, "proc/cpuinfo", text, sizeof(text), NULL))
		return false;
	flags = line_value(text, "flags");
	found = flags ? strstr(flags, " hypervisor") : NULL;
	return found && (found[11] == ' ' || found[11] == '\n');
}

static void read_virt(int root, struct host *h)
{
	char kind[16] = "", vendor[64] = "";
	const char *box = "";

	read_line(root, "sys/hypervisor/type", kind, sizeof(kind));
	read_line(root, "sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	if (!kind[0] && strstr(vendor, "VMware"))
		str_copy(kind, sizeof(kind), "vmware");
	else if (!kind[0] && strstr(vendor, "QEMU"))
		str_copy(kind, sizeof(kind), "qemu");
	else if (!kind[0] && is_vm(root))
		str_copy(kind, sizeof(kind), "vm");

	if (exists(root, "run/.containerenv"))
		box = "podman";
	else if (exists(root, ".dockerenv"))
		box = "docker";
	else if (exists(root, "var/run/secrets/kubernetes.io"))
		box = "kubernetes";
	snprintf(h->virt, sizeof(h->virt), "%s%s%s", kind, kind[0] && box[0] ? " " : "", box);
}

/* Count the GPUs; the first one, in the order of bus addresses, gives its name. */
static void read_gpus(int root, struct host *h)
{
	int fd = openat(root, "proc/driver/nvidia/gpus", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char first[64] = "", path[128];
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (h->gpus < GPUS_MAX && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		h->gpus++;
		if (!first[0] || strcmp(entry->d_name, first) < 0)
			str_copy(first, sizeof(first), entry->d_name);
	}
	closedir(dir);
	snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", first);
	if (first[0])
		read_value(root, path, "Model:", h->gpu_name, sizeof(h->gpu_name));
}

void host_read_at(int root, struct host *ret)
{
	char text[64] = "";
	struct utsname un;
	long cpus;

	memset(ret, 0, sizeof(*ret));
	if (!uname(&un)) {
		text_safe(ret->kernel, sizeof(ret->kernel), un.release);
		text_safe(ret->machine, sizeof(ret->machine), un.machine);
	}
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ret->cpus = cpus > 0 ? (int)cpus : 0;

	read_value(root, "etc/os-release", "PRETTY_NAME=", ret->distro, sizeof(ret->distro));
	read_line(root, "proc/sys/kernel/random/boot_id", ret->boot_id, sizeof(ret->boot_id));
	ret->btf = exists(root, "sys/kernel/btf/vmlinux");
	read_lockdown(root, ret);
	read_value(root, "proc/self/status", "CapEff:", text, sizeof(text));
	ret->caps = strtoull(text, NULL, 16);
	text[0] = '\0';
	read_value(root, "proc/meminfo", "MemTotal:", text, sizeof(text));
	ret->mem_bytes = strtoull(text, NULL, 10) * 1024;
	read_cgroup_version(root, ret);
	read_value(root, "proc/driver/nvidia/version", "NVRM version:", ret->driver,
		   sizeof(ret->driver));
	read_gpus(root, ret);
	read_virt(root, ret);
	text[0] = '\0';
	read_line(root, "proc/sys/kernel/bpf_stats_enabled", text, sizeof(text));
	ret->bpf_stats = streq(text, "1");
}

void host_read(struct host *ret)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	host_read_at(root, ret);
	if (root >= 0)
		close(root);
}

bool host_has_cap(const struct host *h, int cap)
{
	return cap >= 0 && cap < 64 && (h->caps >> cap & 1);
}
