// SPDX-License-Identifier: Apache-2.0
/*
 * gpu-error: the driver reported an error (Xid) of this process, or of a GPU that it uses. If the
 * process gave the GPU no more work, all its time since then is lost; else nobody knows how much.
 * What follows from other errors, or from the end of a program, and mere notes are told beside the
 * findings (print_gpu.c).
 */
#include <string.h>

#include "base/util.h"
#include "explain/measure.h"
#include "gpu/gpu.h"

#define IN_FLIGHT_NS 1100000000ull /* what was launched before is counted until the next look */

static bool is_news(const struct gpu_error *e)
{
	enum xid_kind kind = xid_words(e->code)->kind;

	return kind != XID_AFTER && kind != XID_NOTE;
}

/* Its own, or of its GPU without a word on whose. */
static bool concerns(const struct facts *f, uint32_t pid, const struct gpu_error *e,
		     bool *ret_assumed)
{
	*ret_assumed = false;
	if (e->pid)
		return e->pid == pid;
	for (int i = 0; i < f->gpus; i++)
		if (gpu_bus_same(f->gpu[i].bus_id, e->bus_id))
			return facts_uses_gpu(f, pid, &f->gpu[i], ret_assumed);
	return false;
}

/* How much of a thread's time lies after a moment, and does anybody launch then? */
static uint64_t time_after(const struct thread_facts *t, uint64_t at_ns, bool *works)
{
	uint64_t ns = 0;

	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];
		uint64_t start = second_start(s);

		if (s->at_ns <= at_ns)
			continue;
		ns += start >= at_ns ? second_total(s) : min_u64(second_total(s), s->at_ns - at_ns);
		if (start > at_ns + IN_FLIGHT_NS && s->launches)
			*works = true;
	}
	return ns;
}

static void tell_loss(const struct thread_facts *first, int n, struct finding *ret)
{
	const struct thread_facts *worst = first;
	uint64_t most = 0;
	bool works = false;

	for (int i = 0; i < n; i++) {
		uint64_t after = time_after(&first[i], ret->first_ns, &works);

		if (after > most) {
			most = after;
			worst = &first[i];
		}
	}
	ret->thread = worst->id;
	ret->affected_ns = max_u64(most, 1);
	if (works)
		return;
	ret->lost_ns = most;
	ret->lost_pct = percent(most, ret->affected_ns);
	ret->gain_high_pct = ret->lost_pct;
}

static void tell_words(const struct thread_facts *first, const struct gpu_error *e, bool assumed,
		       struct finding *ret)
{
	const struct xid_words *words = xid_words(e->code);

	snprintf(ret->title, sizeof(ret->title), "GPU error: Xid %u on %s of %s: %s", e->code,
		 e->bus_id, first->process_comm, words->what);
	snprintf(ret->object.name, sizeof(ret->object.name), "%s: Xid %u", e->bus_id, e->code);
	snprintf(ret->basis, sizeof(ret->basis), "%llu reported by the driver, the first: %.140s%s",
		 (unsigned long long)ret->count, e->text[0] ? e->text : "no text",
		 assumed ? "; that the process is on this GPU is assumed" : "");
	add_fix(ret, "%s", words->advice);
	if (words->kind == XID_HARDWARE)
		add_fix(ret,
			"keep the evidence before a reset: nvidia-bug-report.sh, dmesg | grep Xid");
	else if (words->kind == XID_PROGRAM)
		add_fix(ret,
			"the error is the program's own (pid %u); other programs on that GPU "
			"go on",
			first->pid);
	else
		add_fix(ret, "look at the kernel's log around it: dmesg | grep -e NVRM -e Xid");
}

bool rule_gpu_error(const struct facts *f, const struct thread_facts *first, int n,
		    struct finding *ret)
{
	const struct gpu_error *told = NULL;
	struct finding found = { .cause = cause_name(CAUSE_gpu_error),
				 .evidence = EVIDENCE_OBSERVED,
				 .severity = SEVERITY_HIGH,
				 .object = { .kind = OBJECT_gpu },
				 .states = ~0u,
				 .places = 1u << CLASS_SYNC | 1u << CLASS_COPY };
	bool assumed, guess = false;

	for (int i = 0; i < f->gpu_errors; i++) {
		const struct gpu_error *e = &f->gpu_error[i];

		if (!is_news(e) || !concerns(f, first->pid, e, &assumed))
			continue;
		if (!told) {
			told = e;
			guess = assumed;
			found.first_ns = e->at_ns;
		}
		found.last_ns = e->at_ns;
		found.count++;
	}
	if (!told)
		return false;
	if (guess)
		found.evidence = EVIDENCE_INFERRED;
	tell_loss(first, n, &found);
	tell_words(first, told, guess, &found);
	*ret = found;
	return true;
}
