// SPDX-License-Identifier: Apache-2.0
/* Small questions that many rules ask of the facts. */
#include "explain/facts.h"

#include <stdarg.h>

#include "base/util.h"

/* From this share of its time on, on a CPU or waiting for the GPU, a thread is at work. */

double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

uint64_t second_total(const struct second *s)
{
	uint64_t sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += s->state_ns[i];
	return sum;
}

uint64_t second_start(const struct second *s)
{
	return s->at_ns - min_u64(second_total(s), s->at_ns);
}

uint64_t second_busy(const struct second *s)
{
	uint64_t ns = s->gpu_blocked_ns;

	for (int i = 0; i < STATE_COUNT; i++)
		ns += STATE_ON_CPU(i) ? s->state_ns[i] : 0;
	for (int i = 0; i < s->waits; i++)
		ns += s->wait[i].verdict.healthy == HEALTHY_turn ? s->wait[i].ns : 0;
	return ns;
}

double thread_busy(const struct thread_facts *t)
{
	uint64_t busy = 0, total = 0;

	for (int i = 0; i < t->seconds; i++) {
		busy += second_busy(&t->second[i]);
		total += second_total(&t->second[i]);
	}
	return percent(busy, total);
}

/* A trace that does not say which calls were inside others: the fuller layer has them all. */
static uint64_t outermost(const uint64_t layer[LAYERS], uint64_t nested)
{
	uint64_t all = layer[LAYER_RUNTIME] + layer[LAYER_DRIVER];

	if (!nested)
		return max_u64(layer[LAYER_RUNTIME], layer[LAYER_DRIVER]);
	return all - min_u64(nested, all);
}

uint64_t second_calls(const struct second *s, enum op_class class)
{
	return outermost(s->class[class].calls, s->class[class].nested);
}

uint64_t second_bytes(const struct second *s, enum op_class class)
{
	return outermost(s->class[class].bytes, s->class[class].nested_bytes);
}

/* ---- memory ---- */

#define MINOR_MIN 2000 /* page faults per second */
#define MAJOR_MIN 1000 /* that need no device: compressed memory */
#define FAULT_MIN_PCT 5.0 /* waiting in faults: a device */
#define SWAP_PAGES_MIN 20
#define NEAR_NS 1000000000ull /* the host is asked once a second: it may be the second beside */

static bool at_rate(uint64_t count, uint64_t total_ns, uint64_t per_second)
{
	return (double)count * 1e9 >= (double)per_second * (double)total_ns && count;
}

bool second_faults(const struct second *s)
{
	uint64_t total = second_total(s);

	return at_rate(s->counter[COUNTER_minor], total, MINOR_MIN) ||
	       at_rate(s->counter[COUNTER_major], total, MAJOR_MIN);
}

bool facts_swapping(const struct facts *f, uint64_t from_ns, uint64_t to_ns)
{
	int lo = 0, hi = f->systems;

	while (lo < hi) { /* the first that is not too early */
		int mid = (lo + hi) / 2;

		if (f->system[mid].at_ns + NEAR_NS < from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < f->systems && f->system[lo].at_ns <= to_ns + NEAR_NS; lo++)
		if (f->system[lo].row.swap_in_pages >= SWAP_PAGES_MIN)
			return true;
	return false;
}

bool second_swaps(const struct facts *f, const struct second *s)
{
	uint64_t total = second_total(s);

	if (!at_rate(s->counter[COUNTER_major], total, MAJOR_MIN) &&
	    percent(s->state_ns[STATE_FAULT], total) < FAULT_MIN_PCT)
		return false;
	return s->counter[COUNTER_major] && facts_swapping(f, second_start(s), s->at_ns);
}

uint64_t second_kernel(const struct thread_facts *t, const struct second *s)
{
	uint64_t usual = (uint64_t)(t->quiet_kernel * (double)second_total(s));
	uint64_t kernel = s->gap_counter[COUNTER_kernel_ns];

	/* The samples contain reclaim that ran, which has an account of its own. */
	usual += s->gap_ns[STATE_RECLAIM];
	return kernel > usual ? kernel - usual : 0;
}

bool facts_child(const struct facts *f, uint32_t parent, uint32_t pid)
{
	for (int i = 0; i < f->descents; i++)
		if (f->descent[i].parent == parent && f->descent[i].child == pid)
			return true;
	return false;
}

/* A fifth of the time where it happened, or a tenth of the whole window, wakes somebody up. */
#define LONG_NS 500000000ull /* what is over before anybody noticed is not urgent */

enum severity severity_of(const struct facts *f, const struct finding *found)
{
	double of_window = percent(found->lost_ns, f->window.to_ns - f->window.from_ns);

	if (of_window >= 10 || (found->lost_pct >= 20 && found->lost_ns >= LONG_NS))
		return SEVERITY_HIGH;
	if (of_window >= 5 || (found->lost_pct >= 10 && found->lost_ns >= LONG_NS))
		return SEVERITY_MEDIUM;
	return SEVERITY_LOW;
}

void add_fix(struct finding *found, const char *fmt, ...)
{
	va_list ap;

	if (found->fixes == FIXES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(found->fix[found->fixes++], sizeof(found->fix[0]), fmt, ap);
	va_end(ap);
}

void format_cpus(char *dst, size_t cap, uint64_t cpus)
{
	size_t at = 0;

	dst[0] = '\0';
	for (int i = 0, end; i < 64 && at < cap; i = end + 1) {
		for (end = i; end < 63 && cpus >> i & 1 && cpus >> (end + 1) & 1; end++)
			;
		if (!(cpus >> i & 1))
			continue;
		at += (size_t)snprintf(dst + at, cap - at, at ? ",%d" : "%d", i);
		if (end > i && at < cap)
			at += (size_t)snprintf(dst + at, cap - at, "-%d", end);
	}
}
