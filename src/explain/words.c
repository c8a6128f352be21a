// SPDX-License-Identifier: Apache-2.0
/* How things are said: the same words in text and in JSON. */
#include <string.h>

#include "base/util.h"
#include "explain/explain_int.h"

#define BIT(state) (1u << STATE_##state)

const char *const severity_names[] = { "LOW", "MEDIUM", "HIGH" };
const char *const evidence_names[] = { "proven", "observed", "inferred" };

const struct group groups[] = {
	{ "on_cpu", "on CPU", BIT(RUN) | BIT(IRQ) | BIT(STEAL) },
	{ "python_gc", "collecting Python's garbage", BIT(GC) },
	{ "cpu_wait", "waiting for a CPU", BIT(PREEMPTED) | BIT(WAKE) },
	{ "cpu_quota", "stopped by its CPU quota", BIT(THROTTLED) },
	{ "lock", "waiting for locks and other threads", BIT(FUTEX) },
	{ "message", "waiting on pipes and sockets", BIT(PIPE) | BIT(SOCKET) | BIT(POLL) },
	{ "disk", "waiting for files", BIT(READ) | BIT(WRITE) | BIT(FSYNC) | BIT(PATH) },
	{ "memory", "waiting for memory",
	  BIT(RECLAIM) | BIT(RECLAIM_WAIT) | BIT(FAULT) | BIT(MMAP) },
	{ "sleep", "sleeping by itself", BIT(SLEEP) },
	{ "gpu_call", "waiting in the GPU's driver outside of these", BIT(GPU) },
	{ "other", "waiting for something else",
	  BIT(CHILD) | BIT(DEVICE) | BIT(URING) | BIT(STOPPED) | BIT(SYSCALL) },
	{ "unknown", "not seen", BIT(UNKNOWN) },
	{ NULL, NULL, 0 },
};

uint64_t group_ns(const struct summary *s, const struct group *g)
{
	uint64_t ns = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		if (g->states >> i & 1)
			ns += s->state_ns[i] - min_u64(s->sync_state_ns[i], s->state_ns[i]);
	return ns;
}

const char *thing_key(const struct thing *thing)
{
	switch (thing->kind) {
	case OBJECT_lock:
	case OBJECT_gil:
		return "lock";
	case OBJECT_pipe:
		return "pipe";
	case OBJECT_tcp:
	case OBJECT_tcp_server:
	case OBJECT_unix_socket:
		return "socket";
	case OBJECT_gpu:
		return "gpu";
	case OBJECT_device:
		return "device";
	case OBJECT_file:
		return "path";
	default:
		return "name";
	}
}

const char *line_why(const struct line *line, const char *python_note)
{
	static const char *const texts[NO_STACK_COUNT] = {
#define X(id, text) text,
		NO_STACKS(X)
#undef X
	};

	if (python_note[0])
		return python_note;
	return texts[line->why < NO_STACK_COUNT ? line->why : NO_STACK_not_looked];
}

char *line_text(const struct line *line, const char *python_note, char *dst, size_t cap)
{
	const char *base = strrchr(line->file, '/');

	if (!line->file[0])
		snprintf(dst, cap, "line not known: %s", line_why(line, python_note));
	else
		snprintf(dst, cap, "%s%s at %s:%d", line->func,
			 line->func[0] && line->func[0] != '<' ? "()" : "",
			 base ? base + 1 : line->file, line->line);
	return dst;
}

const char *name_who(const char *comm, uint32_t pid, char *dst, size_t cap)
{
	if (pid == PID_IRQ)
		snprintf(dst, cap, "interrupts");
	else
		snprintf(dst, cap, "%s (pid %u)", comm, pid);
	return dst;
}

void hop_what(const struct chain *c, int h, char *dst, size_t cap)
{
	static const char *const enders[WAKER_COUNT] = {
		[WAKER_block] = " (disk)",
		[WAKER_net] = " (network)",
		[WAKER_irq] = " (device)",
	};
	const struct hop *hop = &c->hop[h];
	bool last = h == c->hops - 1;
	const char *ender = last && enders[hop->by] ? enders[hop->by] : "";

	if (STATE_RUNNABLE(hop->state) && hop->cpu_pid == PID_IRQ)
		snprintf(dst, cap, "waiting for CPU %u, which served interrupts", hop->cpu);
	else if (STATE_RUNNABLE(hop->state) && hop->cpu_pid)
		snprintf(dst, cap, "waiting for CPU %u, which %s (pid %u) had", hop->cpu, hop->name,
			 hop->cpu_pid);
	else
		snprintf(dst, cap, "%s%s%s%s", state_texts[hop->state], hop->name[0] ? " " : "",
			 hop->name, ender);
	if (last && hop->irq >= 0 && hop->device[0])
		str_add(dst, cap, ", ended by interrupt %d (%s)", hop->irq, hop->device);
}
