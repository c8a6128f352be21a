// SPDX-License-Identifier: Apache-2.0
/* The part of a capture that is about Python: where interpreters are, news of stacks, samples. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/capture_int.h"
#include "capture/frees.h"

/*
 * Not 50: loops of 20 ms would always be met at the same place. On a virtual machine the interrupt takes as long as the
 * look or, nested, four times as long.
 */
#define SAMPLE_HZ 49
#define TAKE_NEWS_NS 50000000ull
#define SAMPLE_UNUSED_NS 2000000000ull /* a CPU that nobody uses for so long sleeps on */

static int on_news(void *ctx, void *data, size_t len)
{
	struct capture *c = ctx;

	c->opts.on_news(data, len, c->opts.arg);
	return clock_boot_ns() > c->take_until ? -EAGAIN : 0;
}

int capture_open_stacks(struct capture *c)
{
	if (c->opts.no_stack || !c->opts.on_news)
		return 0;
	c->news = ring_buffer__new(bpf_map__fd(c->probe->maps.news), on_news, c, NULL);
	return c->news ? 0 : fail(-errno, "map the ring of stacks: %s", strerror(errno));
}

int capture_put_python(struct capture *c, int pid, const struct py_layout *layout)
{
	int err = frees_put(c->frees, pid, layout);

	if (err)
		return fail_in(err, "no room for its layout");
	c->probe->bss->layouts++;
	return 0;
}

bool capture_has_python(const struct capture *c, int pid)
{
	struct py_layout layout;
	uint32_t key = (uint32_t)pid;

	return !bpf_map_lookup_elem(bpf_map__fd(c->probe->maps.pythons), &key, &layout);
}

void capture_watch_python(struct capture *c, int pid)
{
	frees_see(c->frees, pid);
}

void capture_news(struct capture *c)
{
	if (!c->news)
		return;
	c->take_until = clock_boot_ns() + TAKE_NEWS_NS;
	(void)ring_buffer__consume(c->news); /* what is left is taken at the next visit */
}

void capture_forget_stacks(struct capture *c)
{
	c->probe->bss->stack_epoch++;
}

static void sample_cpu(const struct capture *c, int cpu, struct sampler *ret)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = SAMPLE_HZ,
		.exclude_idle = 1,
	};

	ret->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ret->fd < 0)
		return;
	ret->link = bpf_program__attach_perf_event(c->probe->progs.sample, ret->fd);
	if (!ret->link)
		close(ret->fd);
	ret->on = true;
	ret->used_ns = clock_boot_ns();
}

void capture_sample(struct capture *c)
{
	int sampled = 0;

	if (c->opts.no_stack)
		return;
	c->samplers = xcalloc((size_t)c->cpus, sizeof(*c->samplers));
	for (int cpu = 0; cpu < c->cpus; cpu++) {
		sample_cpu(c, cpu, &c->samplers[cpu]); /* fails for CPUs that are off line */
		sampled += c->samplers[cpu].link != NULL;
	}
	if (!sampled)
		log_warn("running time will have no Python lines: cannot sample: %s",
			 strerror(errno));
}

void capture_tune_sampling(struct capture *c, uint64_t now)
{
	uint64_t adopted = c->probe->bss->stats.adopted;
	bool newcomers = adopted != c->adopted_sampled; /* they may run already, and never arrive */

	c->adopted_sampled = adopted;
	for (int cpu = 0; c->samplers && cpu < c->cpus && cpu < ROW_CPUS; cpu++) {
		const struct cpu_row *row = &c->probe->bss->cpu_rows[cpu];
		struct sampler *s = &c->samplers[cpu];
		uint32_t arrivals = __atomic_load_n(&row->arrivals, __ATOMIC_RELAXED);
		bool on;

		if (newcomers || arrivals != s->arrivals ||
		    __atomic_load_n(&row->followed, __ATOMIC_RELAXED))
			s->used_ns = now;
		s->arrivals = arrivals;
		on = now - s->used_ns < SAMPLE_UNUSED_NS;
		if (!s->link || on == s->on)
			continue;
		if (!ioctl(s->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
			s->on = on;
	}
}

void capture_stop_sampling(struct capture *c)
{
	for (int cpu = 0; c->samplers && cpu < c->cpus; cpu++)
		bpf_link__destroy(c->samplers[cpu].link);
	free(c->samplers);
	c->samplers = NULL;
}
