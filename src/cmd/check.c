// SPDX-License-Identifier: Apache-2.0
/* check: can this host be traced, what works, what does not and why. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "capture/capture.h"
#include "capture/elf.h"
#include "capture/host.h"
#include "capture/insn.h"
#include "capture/maps.h"
#include "cmd/cmd.h"
#include "gpu/gpu.h"
#include "lineage/lineage.h"
#include "python/python.h"
#include "tenant/tenant.h"

#define INIT_CGROUP_NAMESPACE 0xeffffffbul /* the kernel's number for the first one */

static struct {
	bool json;
	const char *nvml;
} args;

static const struct opt opts[] = {
	{ "json", 0, OPT_FLAG, offsetof(__typeof__(args), json), NULL, "as JSON" },
	{ "nvml", 0, OPT_STR, offsetof(__typeof__(args), nvml), "FILE",
	  "the NVML library to ask (default: as `trace`)" },
	{ 0 },
};

/* One line of the report. Needed ones decide the exit code. */
enum verdict { OK, NOTE, BAD };

struct item {
	const char *name;
	enum verdict verdict;
	char text[256];
};

/* A traced library in a process. */
struct use {
	int pid;
	char comm[COMM_LEN + 1], python[16], path[256];
	int sites, stepped, refused; /* sites < 0: could not be read */
	bool lines; /* its lines of Python can be told */
	char why[160]; /* ... or why not; "": no interpreter, or said with another library */
};

struct report {
	struct host host;
	struct item item[24];
	int items;
	struct use *use;
	int uses;
	int pythons; /* Python processes that use no traced library */
	bool ready;
};

static void say(struct report *r, const char *name, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void say(struct report *r, const char *name, enum verdict verdict, const char *fmt, ...)
{
	struct item *it = &r->item[r->items++];
	va_list ap;

	it->name = name;
	it->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(it->text, sizeof(it->text), fmt, ap);
	va_end(ap);
	if (verdict == BAD)
		r->ready = false;
}

static void check_privileges(struct report *r)
{
	static const struct {
		int bit;
		const char *name;
	} caps[] = { { 39, "CAP_BPF" }, { 38, "CAP_PERFMON" }, { 19, "CAP_SYS_PTRACE" } };
	char missing[128] = "";
	size_t at = 0;

	if (host_has_cap(&r->host, 21)) {
		say(r, "privileges", OK, "CAP_SYS_ADMIN");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		if (!host_has_cap(&r->host, caps[i].bit))
			at += (size_t)snprintf(missing + at, sizeof(missing) - at, " %s",
					       caps[i].name);
	if (at)
		say(r, "privileges", BAD, "missing%s: run as root (sudo culprit check)", missing);
	else
		say(r, "privileges", OK, "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE");
}

static void check_attach(struct report *r)
{
	bool any = false;

	for (enum attach_mode m = ATTACH_SESSION; m < ATTACH_NONE; m++) {
		static const char *const names[] = { [ATTACH_SESSION] = "attach session",
						     [ATTACH_MULTI] = "attach multi",
						     [ATTACH_PERF] = "attach perf" };
		int err = link_try(m);

		if (err)
			say(r, names[m], NOTE, "does not work: %s", why(err));
		else
			say(r, names[m], OK, "%s", any ? "works" : "works, will be used");
		any |= !err;
	}
	if (!any)
		say(r, "uprobes", BAD, "no way to probe user functions works here");
}

static void check_probes(struct report *r)
{
	int err = capture_try();

	if (err)
		say(r, "probes", BAD, "%s", why(err));
	else
		say(r, "probes", OK, "all programs pass the verifier");
}

static void check_disks(struct report *r)
{
	const struct lineage_opts how = { .waits = true };
	struct lineage *l = NULL;
	int err = lineage_open(&how, &l);

	if (err) {
		say(r, "disk requests", NOTE, "not told: %s", why(err));
		return;
	}
	if (lineage_limits(l)[0])
		say(r, "disk requests", NOTE, "%s", lineage_limits(l));
	else
		say(r, "disk requests", OK, "with file, owner and who waits for them");
	lineage_close(l);
}

static void check_host(struct report *r)
{
	const struct host *h = &r->host;
	char mem[UNITS_CAP];

	say(r, "kernel", OK, "%s %s, %s", h->kernel, h->machine, h->distro);
	say(r, "host", OK, "%d CPUs, %s, cgroup %s%s%s", h->cpus,
	    format_bytes(mem, sizeof(mem), h->mem_bytes), h->cgroup, h->virt[0] ? ", " : "",
	    h->virt);
	if (h->btf)
		say(r, "BTF", OK, "/sys/kernel/btf/vmlinux");
	else
		say(r, "BTF", BAD, "no /sys/kernel/btf/vmlinux: needs CONFIG_DEBUG_INFO_BTF=y");
	if (streq(h->lockdown, "confidentiality"))
		say(r, "lockdown", BAD, "confidentiality mode forbids reading kernel memory");
	else
		say(r, "lockdown", OK, "%s", h->lockdown[0] ? h->lockdown : "none");
	if (h->bpf_stats)
		say(r, "bpf stats", NOTE,
		    "kernel.bpf_stats_enabled=1 adds to the cost of each probe");
}

/* In a namespace of control groups /proc shows paths from there on: whose they are is cut off. */
static bool own_cgroup_namespace(void)
{
	struct stat ours;

	return !stat("/proc/self/ns/cgroup", &ours) && ours.st_ino != INIT_CGROUP_NAMESPACE;
}

static bool has_names(void)
{
	static const char *const from[] = {
		"/var/log/containers",
		"/var/log/pods",
		"/var/lib/docker/containers",
		"/run/containerd/io.containerd.runtime.v2.task",
		"/var/lib/containers/storage/overlay-containers",
	};

	for (size_t i = 0; i < ARRAY_LEN(from); i++)
		if (!access(from[i], R_OK | X_OK))
			return true;
	return false;
}

static void check_tenants(struct report *r)
{
	struct hierarchies h;
	char text[4096];

	if (file_read("/proc/self/cgroup", text, sizeof(text), NULL)) {
		say(r, "tenants", NOTE, "no control groups: containers cannot be told apart");
		return;
	}
	tenant_hierarchies(text, &h);
	if (own_cgroup_namespace())
		say(r, "tenants", NOTE,
		    "seen from inside a control group namespace: containers of others may have no "
		    "name; run it in the host's (docker run --cgroupns=host)");
	else if (h.v1)
		say(r, "tenants", OK, "by control groups of the %s controller (version 1)%s",
		    h.controller, h.unified ? ", else the unified ones" : "");
	else
		say(r, "tenants", OK, "by control groups of version 2");
	if (has_names())
		say(r, "names", OK, "of containers and pods: from local files");
	else
		say(r, "names", NOTE,
		    "no files of a kubelet, Docker, containerd, podman or CRI-O here: containers "
		    "are told by their ids, pods by their uids");
}

static void check_gpu(struct report *r)
{
	const struct host *h = &r->host;

	if (h->gpus)
		say(r, "GPU", OK, "%d x %s, driver %.100s", h->gpus, h->gpu_name, h->driver);
	else if (h->driver[0])
		say(r, "GPU", NOTE, "driver %.100s, but no GPU", h->driver);
	else
		say(r, "GPU", NOTE, "no NVIDIA driver: only the simulated GPU can be traced");
}

static void on_gpu(const struct gpu_record *rec, void *arg)
{
	(void)rec;
	(void)arg;
}

#define NVML_TRIES 50 /* of 100 ms: opening a driver that sleeps takes seconds */

static void check_nvml(struct report *r)
{
	struct gpu_helper_opts how = { .library = args.nvml };
	struct gpu_helper *helper = gpu_helper_new(&how);
	struct gpu_helper_status s = { 0 };

	for (int i = 0; i < NVML_TRIES && !s.known; i++) {
		struct pollfd wait = { gpu_helper_fd(helper), POLLIN, 0 };

		gpu_helper_poll(helper, clock_boot_ns(), on_gpu, NULL);
		gpu_helper_status(helper, &s);
		if (!s.known)
			(void)poll(&wait, 1, 100);
	}
	gpu_helper_free(helper);
	if (s.ready)
		say(r, "NVML", OK, "%.200s", s.text);
	else
		say(r, "NVML", NOTE, "no NVML: %.200s; nothing but samples of the GPU is missing",
		    s.known ? s.text : "it does not answer");
}

/* ---- processes ---- */

struct scan {
	struct report *r;
	int pid;
};

static void read_sites(const struct map_line *line, int pid, enum op_lib id, struct use *u)
{
	struct lib_site sites[OP_COUNT];
	int fd, n;

	fd = maps_open(pid, line);
	n = fd < 0 ? -1 : lib_sites(fd, id, sites);
	u->sites = n;
	for (int i = 0; i < n; i++) {
		u->stepped += sites[i].class == INSN_STEPPED;
		u->refused += sites[i].class == INSN_REFUSED;
	}
	if (fd >= 0)
		close(fd);
}

static void read_python(struct use *u)
{
	struct py_layout layout;

	switch (py_find(u->pid, &layout, u->why, sizeof(u->why))) {
	case PY_FOUND:
		u->lines = true;
		break;
	case PY_NONE:
		u->why[0] = '\0';
		break;
	case PY_EARLY:
	case PY_REFUSED:
		break;
	}
}

static int on_map(const struct map_line *line, void *arg)
{
	int id = line->exec ? maps_lib(line->path) : -1;
	struct scan *scan = arg;
	struct report *r = scan->r;
	struct proc_info info;
	struct use *u;

	if (id < 0)
		return 0;
	for (int i = r->uses - 1; i >= 0 && r->use[i].pid == scan->pid; i--)
		if (streq(r->use[i].path, line->path))
			return 0;
	r->use = xrealloc(r->use, (size_t)r->uses + 1, sizeof(*r->use));
	u = &r->use[r->uses++];
	*u = (struct use){ .pid = scan->pid };
	text_safe(u->path, sizeof(u->path), line->path);
	if (!proc_read(scan->pid, &info))
		text_safe(u->comm, sizeof(u->comm), info.comm);
	(void)python_version(scan->pid, u->python, sizeof(u->python)); /* "" when it is not */
	read_sites(line, scan->pid, (enum op_lib)id, u);
	if (r->uses == 1 || r->use[r->uses - 2].pid != scan->pid)
		read_python(u);
	return 0;
}

static int on_proc(int pid, void *arg)
{
	struct scan scan = { arg, pid };
	int before = scan.r->uses;
	char python[16];

	maps_each(pid, on_map, &scan);
	if (scan.r->uses == before && !python_version(pid, python, sizeof(python)))
		scan.r->pythons++;
	return 0;
}

/* ---- printing ---- */

static void print_text(const struct report *r)
{
	static const char *const marks[] = { "ok  ", "note", "BAD " };

	for (int i = 0; i < r->items; i++)
		printf("%s  %-15s %s\n", marks[r->item[i].verdict], r->item[i].name,
		       r->item[i].text);
	if (!r->uses)
		puts("note  processes       none maps libcudart, libcuda or libnccl now; later ones "
		     "are found");
	for (int i = 0; i < r->uses; i++) {
		const struct use *u = &r->use[i];

		printf("%s  process         %s (pid %d%s%s): %s: ", u->sites > 0 ? "ok  " : "note",
		       u->comm, u->pid, u->python[0] ? ", Python " : "", u->python, u->path);
		if (u->sites < 0)
			puts("cannot be read");
		else
			printf("%d functions, %d single-stepped, %d refused\n", u->sites,
			       u->stepped, u->refused);
		if (u->why[0])
			printf("%s  lines           %s (pid %d): %s%s\n",
			       u->lines ? "ok  " : "note", u->comm, u->pid,
			       u->lines ? "" : "not known: ", u->why);
	}
	printf("note  python          %d other Python processes use no traced library\n",
	       r->pythons);
	puts(r->ready ? "\nready: `culprit trace` will work" : "\nnot ready");
}

static void print_json(const struct report *r)
{
	static const char *const verdicts[] = { "ok", "note", "bad" };
	struct json j = JSON_TO(stdout);

	json_open(&j, NULL, '{');
	json_bool(&j, "ready", r->ready);
	json_open(&j, "items", '[');
	for (int i = 0; i < r->items; i++) {
		json_open(&j, NULL, '{');
		json_str(&j, "name", r->item[i].name);
		json_str(&j, "verdict", verdicts[r->item[i].verdict]);
		json_str(&j, "text", r->item[i].text);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "processes", '[');
	for (int i = 0; i < r->uses; i++) {
		const struct use *u = &r->use[i];

		json_open(&j, NULL, '{');
		json_i64(&j, "pid", u->pid);
		json_str(&j, "comm", u->comm);
		json_str(&j, "python", u->python);
		json_str(&j, "library", u->path);
		json_i64(&j, "functions", u->sites);
		json_i64(&j, "single_stepped", u->stepped);
		json_i64(&j, "refused", u->refused);
		json_bool(&j, "lines", u->lines);
		json_str(&j, "lines_note", u->why);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_i64(&j, "other_python_processes", r->pythons);
	json_close(&j, '}');
	putchar('\n');
}

static int run(int argc, char **argv)
{
	struct report r = { .ready = true };

	(void)argc;
	(void)argv;
	host_read(&r.host);
	check_host(&r);
	check_privileges(&r);
	check_attach(&r);
	check_probes(&r);
	check_disks(&r);
	check_tenants(&r);
	check_gpu(&r);
	check_nvml(&r);
	procs_each(on_proc, &r);
	if (args.json)
		print_json(&r);
	else
		print_text(&r);
	free(r.use);
	return r.ready ? 0 : EXIT_NO;
}

const struct cmd cmd_check = {
	.name = "check",
	.summary = "Say whether this host can be traced, what works and what does not",
	.more = "Tries everything that `trace` needs, on a function of its own. Exit code 0: ready,\n"
		"3: not ready; each line that says BAD names the remedy.\n",
	.opts = opts,
	.dest = &args,
	.run = run,
};
