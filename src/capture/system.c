// SPDX-License-Identifier: Apache-2.0
/* Reads /proc/stat and its neighbours again and again, and keeps what is needed for differences. */
#include "capture/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"

#define CORES_MAX 4096
#define FREQ_FDS_MAX 1024 /* cores whose frequency is read */
#define CHUNK 32768
#define LINE_MAX_LEN 512 /* of lines that we read; "intr" has many thousands of bytes */
#define FILE_MAX_LEN (4 << 20)

enum file { STAT, LOADAVG, MEMINFO, VMSTAT, PSI_CPU, PSI_MEMORY, PSI_IO, FILES };

static const char *const paths[FILES] = {
	[STAT] = "proc/stat",
	[LOADAVG] = "proc/loadavg",
	[MEMINFO] = "proc/meminfo",
	[VMSTAT] = "proc/vmstat",
	[PSI_CPU] = "proc/pressure/cpu",
	[PSI_MEMORY] = "proc/pressure/memory",
	[PSI_IO] = "proc/pressure/io",
};

/* In clock ticks since boot. */
struct times {
	uint64_t busy, idle, iowait, steal;
};

struct core {
	struct times last;
	int freq_fd; /* -1: none */
	bool known, opened;
	uint64_t seen; /* in which sample */
};

/* What the files say; -1: nothing. */
struct reading {
	struct times all;
	bool has_all;
	double load1;
	int64_t running, blocked;
	int64_t mem_total, mem_available, swap_total, swap_free;
	int64_t swap_in, swap_out, major;
	int64_t psi[3];
};

struct system_sampler {
	int root; /* to open what appears later */
	int fd[FILES];
	struct reading last;
	uint64_t samples;
	struct core *core;
	size_t cores; /* room in core[] and sample[] */
	struct core_sample *sample;
	size_t n_samples;
	char buf[CHUNK + 1];
};

/* A decimal number after blanks; false without one. Large ones stop at the largest. */
static bool take_u64(const char **at, uint64_t *ret)
{
	const char *s = *at + strspn(*at, " \t");
	uint64_t n = 0;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		n = n > (INT64_MAX - digit) / 10 ? INT64_MAX : n * 10 + digit;
	}
	*at = s;
	*ret = n;
	return true;
}

static void take_value(const char *line, const char *key, int64_t *ret)
{
	size_t len = strlen(key);
	const char *at = line + len;
	uint64_t n;

	if (!strncmp(line, key, len) && take_u64(&at, &n))
		*ret = (int64_t)n;
}

static bool parse_times(const char *at, struct times *ret)
{
	uint64_t v[8] = { 0 }; /* user nice system idle iowait irq softirq steal */
	size_t n = 0;

	while (n < ARRAY_LEN(v) && take_u64(&at, &v[n]))
		n++;
	if (n < 4)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		v[i] = min_u64(v[i], INT64_MAX / 16);
	*ret = (struct times){ v[0] + v[1] + v[2] + v[5] + v[6], v[3], v[4], v[7] };
	return true;
}

/* 100 * part / whole since the last time; counters of idle time are known to go backwards. */
static double share(uint64_t now, uint64_t last, uint64_t whole)
{
	return whole && now > last ? 100.0 * (double)min_u64(now - last, whole) / (double)whole : 0;
}

static uint64_t grown(uint64_t now, uint64_t last)
{
	return now > last ? now - last : 0;
}

static uint64_t passed(const struct times *now, const struct times *last)
{
	return grown(now->busy, last->busy) + grown(now->idle, last->idle) +
	       grown(now->iowait, last->iowait) + grown(now->steal, last->steal);
}

static void grow_cores(struct system_sampler *s, size_t cpu)
{
	size_t room = s->cores ? s->cores : 64;

	while (room <= cpu)
		room *= 2;
	s->core = xrealloc(s->core, room, sizeof(*s->core));
	s->sample = xrealloc(s->sample, room, sizeof(*s->sample));
	for (; s->cores < room; s->cores++)
		s->core[s->cores] = (struct core){ .freq_fd = -1 };
}

static int64_t read_mhz(struct system_sampler *s, struct core *core, int cpu)
{
	char path[80], text[32];
	ssize_t n;
	uint64_t khz;
	const char *at = text;

	if (!core->opened && cpu < FREQ_FDS_MAX) {
		core->opened = true;
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
		core->freq_fd = openat(s->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (core->freq_fd < 0)
		return -1;
	n = pread(core->freq_fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return take_u64(&at, &khz) ? (int64_t)(khz / 1000) : -1;
}

static void core_line(struct system_sampler *s, const char *at)
{
	struct times now;
	struct core *core;
	uint64_t cpu;

	if (!take_u64(&at, &cpu) || cpu >= CORES_MAX || !parse_times(at, &now))
		return;
	if (cpu >= s->cores)
		grow_cores(s, (size_t)cpu);
	core = &s->core[cpu];
	if (core->seen == s->samples)
		return; /* twice in one file */
	if (core->known) {
		uint64_t whole = passed(&now, &core->last);

		s->sample[s->n_samples++] = (struct core_sample){
			.cpu = (int)cpu,
			.busy_pct = whole ? share(now.busy, core->last.busy, whole) : -1,
			.mhz = read_mhz(s, core, (int)cpu),
		};
	}
	core->known = true;
	core->last = now;
	core->seen = s->samples;
}

static void stat_line(struct system_sampler *s, struct reading *r, const char *line)
{
	if (starts_with(line, "cpu ")) {
		r->has_all = parse_times(line + 4, &r->all);
		return;
	}
	if (starts_with(line, "cpu")) {
		core_line(s, line + 3);
		return;
	}
	take_value(line, "procs_running ", &r->running);
	take_value(line, "procs_blocked ", &r->blocked);
}

static void loadavg_line(struct reading *r, const char *line)
{
	char *end;
	double load = strtod(line, &end);

	if (end != line && load >= 0 && load < 1e9)
		r->load1 = load;
}

static void psi_line(struct reading *r, enum file file, const char *line)
{
	const char *total = starts_with(line, "some ") ? strstr(line, "total=") : NULL;

	if (total)
		take_value(total, "total=", &r->psi[file - PSI_CPU]);
}

static void any_line(struct system_sampler *s, struct reading *r, enum file file, const char *line)
{
	switch (file) {
	case STAT:
		stat_line(s, r, line);
		break;
	case LOADAVG:
		loadavg_line(r, line);
		break;
	case MEMINFO:
		take_value(line, "MemTotal:", &r->mem_total);
		take_value(line, "MemAvailable:", &r->mem_available);
		take_value(line, "SwapTotal:", &r->swap_total);
		take_value(line, "SwapFree:", &r->swap_free);
		break;
	case VMSTAT:
		take_value(line, "pswpin ", &r->swap_in);
		take_value(line, "pswpout ", &r->swap_out);
		take_value(line, "pgmajfault ", &r->major);
		break;
	default:
		psi_line(r, file, line);
	}
}

/* The whole lines of buf[0..len), what is left is moved to the front. A long line loses its end. */
static size_t take_lines(struct system_sampler *s, struct reading *r, enum file file, size_t len)
{
	char *line = s->buf, *stop = s->buf + len, *end;

	for (; (end = memchr(line, '\n', (size_t)(stop - line))); line = end + 1) {
		*end = '\0';
		any_line(s, r, file, line);
	}
	len = (size_t)min_u64((uint64_t)(stop - line), LINE_MAX_LEN);
	memmove(s->buf, line, len);
	return len;
}

/*
 * Reads go on where the one before ended, so the kernel makes the text once. 0 or a negative errno.
 */
static int read_file(struct system_sampler *s, struct reading *r, enum file file)
{
	size_t rest = 0;
	off_t at = 0;

	if (s->fd[file] < 0)
		return -ENOENT;
	while (at < FILE_MAX_LEN) {
		ssize_t got = pread(s->fd[file], s->buf + rest, CHUNK - rest, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		at += got;
		rest = take_lines(s, r, file, rest + (size_t)got);
	}
	s->buf[rest] = '\0';
	if (rest)
		any_line(s, r, file, s->buf);
	return 0;
}

static int read_all(struct system_sampler *s, struct reading *r)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->load1 = -1;
	r->running = r->blocked = r->mem_total = r->mem_available = -1;
	r->swap_total = r->swap_free = r->swap_in = r->swap_out = r->major = -1;
	for (size_t i = 0; i < ARRAY_LEN(r->psi); i++)
		r->psi[i] = -1;

	s->samples++;
	s->n_samples = 0;
	err = read_file(s, r, STAT);
	for (int file = STAT + 1; file < FILES; file++)
		(void)read_file(s, r, file); /* its values stay -1 */
	if (!err && !r->has_all)
		err = -ENODATA;
	return err;
}

static int64_t difference(int64_t now, int64_t last)
{
	if (now < 0 || last < 0)
		return -1;
	return now > last ? now - last : 0;
}

int system_sample(struct system_sampler *s, struct system_sample *ret)
{
	const struct reading *last = &s->last;
	struct reading r;
	uint64_t whole;
	bool known;
	int err = read_all(s, &r);

	if (err)
		return fail(err, "read the CPUs' times in /proc/stat: %s", strerror(-err));
	whole = passed(&r.all, &last->all);
	known = last->has_all && whole;
	*ret = (struct system_sample){
		.busy_pct = known ? share(r.all.busy, last->all.busy, whole) : -1,
		.iowait_pct = known ? share(r.all.iowait, last->all.iowait, whole) : -1,
		.steal_pct = known ? share(r.all.steal, last->all.steal, whole) : -1,
		.load1 = r.load1,
		.running = r.running,
		.blocked = r.blocked,
		.mem_total_kb = r.mem_total,
		.mem_available_kb = r.mem_available,
		.swap_used_kb = difference(r.swap_total, r.swap_free),
		.swap_in_pages = difference(r.swap_in, last->swap_in),
		.swap_out_pages = difference(r.swap_out, last->swap_out),
		.major_faults = difference(r.major, last->major),
		.psi_cpu_us = difference(r.psi[0], last->psi[0]),
		.psi_memory_us = difference(r.psi[1], last->psi[1]),
		.psi_io_us = difference(r.psi[2], last->psi[2]),
	};
	s->last = r;
	return 0;
}

size_t system_cores(const struct system_sampler *s, const struct core_sample **ret)
{
	*ret = s->sample;
	return s->n_samples;
}

struct system_sampler *system_new_at(int root)
{
	struct system_sampler *s = xcalloc(1, sizeof(*s));

	s->root = fcntl(root, F_DUPFD_CLOEXEC, 0);
	for (int file = 0; file < FILES; file++)
		s->fd[file] = openat(s->root, paths[file], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	(void)read_all(s, &s->last); /* what it cannot read is then not known in the first sample */
	return s;
}

struct system_sampler *system_new(void)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct system_sampler *s = system_new_at(root);

	if (root >= 0)
		close(root);
	return s;
}

void system_free(struct system_sampler *s)
{
	if (!s)
		return;
	for (int file = 0; file < FILES; file++)
		if (s->fd[file] >= 0)
			close(s->fd[file]);
	for (size_t i = 0; i < s->cores; i++)
		if (s->core[i].freq_fd >= 0)
			close(s->core[i].freq_fd);
	if (s->root >= 0)
		close(s->root);
	free(s->core);
	free(s->sample);
	free(s);
}
