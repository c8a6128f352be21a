// SPDX-License-Identifier: Apache-2.0
/*
 * gpu-throttled: the GPU lowered its clocks for heat, power or a hardware slowdown, and the process
 * waited longer for it: for each launch, against its own seconds at full clocks. Where there are none
 * of these, the clocks alone bound what it can have cost.
 *
 * A power limit that holds the clocks is how a GPU at work normally is. It counts only where somebody
 * has lowered it: at an unchanged limit the same work cannot have been faster.
 */
#include <string.h>

#include "base/units.h"
#include "base/util.h"
#include "explain/measure.h"
#include "gpu/gpu.h"

#define LAUNCHES_MIN 10 /* in a second that is to be compared */
#define EACH_NS 1200000000ull /* of throttled time, and of other */
#define SLOWER_MIN 1.05
#define FALLEN_MAX 0.95 /* of the clocks that it has otherwise */
#define FALLEN_ALONE_MAX 0.85 /* ... of the highest there are, with nothing else to compare with */
#define LOWERED_MAX 0.97 /* of a power limit */
#define NEAR_NS 1000000000ull

struct part {
	uint64_t ns, gpu_ns, launches; /* of the thread */
	uint64_t samples, mhz; /* a sum */
	uint64_t power_samples, power_mw; /* where it is told; a sum */
	uint64_t temp_c; /* the highest; 0: not told */
};

struct slowing {
	const struct gpu_facts *gpu;
	bool assumed, compared;
	struct part slow, full;
	uint64_t reasons, limit_mw, default_mw, max_mhz;
	double rate; /* waiting for the GPU for a launch, at full clocks */
	double ref_mhz;
	uint64_t lost, affected, first, last;
};

static uint64_t gpu_ns(const struct second *s)
{
	return s->sync_wait_ns + s->class[CLASS_COPY].ns;
}

/* The highest limit that was ever in force here, or the one as delivered. */
static uint64_t usual_limit(const struct gpu_facts *gpu)
{
	uint64_t most = 0;

	for (int i = 0; i < gpu->seconds; i++) {
		const struct gpu_values *v = &gpu->second[i].values;

		if (GPU_KNOWN(v, GPU_power_limit_w))
			most = max_u64(most, v->value[GPU_power_limit_w]);
		if (GPU_KNOWN(v, GPU_power_default_w))
			most = max_u64(most, v->value[GPU_power_default_w]);
	}
	return most;
}

static bool is_throttled(const struct gpu_values *v, uint64_t limit)
{
	uint64_t reasons = v->value[GPU_reasons];

	if (reasons & GPU_REASONS_HARD)
		return true;
	return reasons & GPU_REASON_POWER_CAP && GPU_KNOWN(v, GPU_power_limit_w) &&
	       (double)v->value[GPU_power_limit_w] < LOWERED_MAX * (double)limit;
}

static void add_sample(struct part *p, const struct gpu_values *v)
{
	p->samples++;
	p->mhz += v->value[GPU_sm_mhz];
	p->power_samples += GPU_KNOWN(v, GPU_power_w);
	p->power_mw += v->value[GPU_power_w]; /* 0 where it is not known */
	p->temp_c = max_u64(p->temp_c, v->value[GPU_temp_c]);
}

/* The first sample that ends at `from` or later. */
static int sample_at(const struct gpu_facts *gpu, uint64_t from)
{
	int lo = 0, hi = gpu->seconds;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (gpu->second[mid].at_ns < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

enum speed { SPEED_UNKNOWN, SPEED_FULL, SPEED_SLOW, SPEED_BOTH };

/* What the samples of a second say; without one, the next. Adds them to h where it is not NULL. */
static enum speed speed_in(const struct gpu_facts *gpu, const struct second *s, uint64_t limit,
			   struct slowing *h, uint64_t *ret_mhz)
{
	enum speed speed = SPEED_UNKNOWN;
	uint64_t mhz = 0, n = 0;

	for (int i = sample_at(gpu, second_start(s)); i < gpu->seconds; i++) {
		const struct gpu_values *v = &gpu->second[i].values;
		bool slow;

		if (gpu->second[i].at_ns > s->at_ns + (n ? 0 : NEAR_NS))
			break;
		if (!GPU_KNOWN(v, GPU_reasons) || !GPU_KNOWN(v, GPU_sm_mhz))
			continue;
		slow = is_throttled(v, limit);
		speed |= slow ? SPEED_SLOW : SPEED_FULL;
		mhz += v->value[GPU_sm_mhz];
		n++;
		if (!h)
			continue;
		add_sample(slow ? &h->slow : &h->full, v);
		h->reasons |= slow ? v->value[GPU_reasons] : 0;
		h->limit_mw = slow ? v->value[GPU_power_limit_w] : h->limit_mw;
		h->max_mhz = max_u64(h->max_mhz, v->value[GPU_sm_max_mhz]);
	}
	*ret_mhz = n ? mhz / n : 0;
	return speed;
}

static bool comparable(const struct second *s)
{
	return !s->warm_up && s->launches >= LAUNCHES_MIN;
}

/* Of second i alone; out of range: not known. */
static enum speed speed_of(const struct thread_facts *t, int i, uint64_t limit,
			   const struct slowing *h)
{
	uint64_t mhz;

	if (i < 0 || i >= t->seconds || !comparable(&t->second[i]))
		return SPEED_UNKNOWN;
	return speed_in(h->gpu, &t->second[i], limit, NULL, &mhz);
}

/* A sample is an instant: a second beside a slow one may be slow in part. */
static bool is_edge(const struct thread_facts *t, int i, uint64_t limit, const struct slowing *h)
{
	return speed_of(t, i - 1, limit, h) == SPEED_SLOW ||
	       speed_of(t, i + 1, limit, h) == SPEED_SLOW;
}

static void add_time(const struct thread_facts *t, uint64_t limit, struct slowing *h)
{
	uint64_t mhz;

	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];
		enum speed speed = speed_of(t, i, limit, h);
		struct part *p = speed == SPEED_SLOW ? &h->slow : &h->full;

		if (speed != SPEED_SLOW && (speed != SPEED_FULL || is_edge(t, i, limit, h)))
			continue;
		(void)speed_in(h->gpu, s, limit, h, &mhz);
		p->ns += second_total(s);
		p->gpu_ns += gpu_ns(s);
		p->launches += s->launches;
	}
}

/* More than what the clocks can explain is not theirs. */
static uint64_t loss_in(const struct second *s, double mhz, const struct slowing *h)
{
	double took = (double)gpu_ns(s), share = 1 - mhz / h->ref_mhz, more;
	double most = share * (double)second_total(s);

	if (share <= 0)
		return 0;
	if (!h->compared)
		return (uint64_t)(took * share);
	more = took - h->rate * (double)s->launches;
	return more > 0 ? (uint64_t)(more < most ? more : most) : 0;
}

static void add_loss(const struct thread_facts *t, uint64_t limit, struct slowing *h)
{
	double slow_mhz = (double)h->slow.mhz / (double)h->slow.samples;

	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];
		enum speed speed = speed_of(t, i, limit, h);
		uint64_t mhz = 0, lost;

		if (speed == SPEED_SLOW) {
			(void)speed_in(h->gpu, s, limit, NULL, &mhz);
			lost = loss_in(s, (double)mhz, h);
		} else if (h->compared && speed != SPEED_UNKNOWN && is_edge(t, i, limit, h)) {
			lost = loss_in(s, slow_mhz, h);
		} else {
			continue;
		}
		if (speed != SPEED_SLOW && percent(lost, second_total(s)) < SHARE_MIN_PCT)
			continue;
		h->lost += lost;
		h->affected += second_total(s);
		h->first = h->first ? h->first : second_start(s);
		h->last = s->at_ns;
	}
}

static bool slowed(const struct thread_facts *t, struct slowing *h)
{
	uint64_t limit = usual_limit(h->gpu);
	double mhz;

	h->default_mw = limit;
	add_time(t, limit, h);
	if (h->slow.ns < EACH_NS || !h->slow.samples || !h->slow.launches)
		return false;
	mhz = (double)h->slow.mhz / (double)h->slow.samples;
	h->compared = h->full.ns >= EACH_NS && h->full.gpu_ns && h->full.samples;
	h->ref_mhz =
		h->compared ? (double)h->full.mhz / (double)h->full.samples : (double)h->max_mhz;
	if (mhz > h->ref_mhz * (h->compared ? FALLEN_MAX : FALLEN_ALONE_MAX))
		return false;
	if (h->compared) {
		h->rate = (double)h->full.gpu_ns / (double)h->full.launches;
		if ((double)h->slow.gpu_ns < SLOWER_MIN * h->rate * (double)h->slow.launches)
			return false;
	}
	add_loss(t, limit, h);
	return h->lost >= LOST_MIN_NS && percent(h->lost, h->affected) >= SHARE_MIN_PCT;
}

static void say_basis(const struct slowing *h, struct finding *ret)
{
	double slow_us = (double)h->slow.gpu_ns / 1e3 / (double)h->slow.launches;

	if (h->compared)
		snprintf(ret->basis, sizeof(ret->basis),
			 "%.1f us of waiting for each launch at full clocks, %.1f us while the GPU "
			 "says that it is throttled%s",
			 h->rate / 1e3, slow_us,
			 h->assumed ? "; that the process is on this GPU is assumed" : "");
	else
		snprintf(ret->basis, sizeof(ret->basis),
			 "the GPU says so all the time; what it cost is bounded by its clocks%s",
			 h->assumed ? "; that the process is on this GPU is assumed" : "");
}

static void add_fixes(const struct slowing *h, struct finding *ret)
{
	uint64_t heat = GPU_REASON_SW_THERMAL | GPU_REASON_HW_THERMAL;
	unsigned gpu = h->gpu->index;

	if (h->reasons & heat)
		add_fix(ret,
			"cool it: look at fans, inlet temperature and what is beside it "
			"(nvidia-smi -q -d TEMPERATURE,PERFORMANCE -i %u)",
			gpu);
	if (h->reasons & GPU_REASON_POWER_BRAKE)
		add_fix(ret, "look at the power supply of the host: it asked the GPU to use less");
	if (h->reasons & GPU_REASON_POWER_CAP &&
	    (double)h->limit_mw < LOWERED_MAX * (double)h->default_mw)
		add_fix(ret,
			"raise its power limit, which is %llu W instead of %llu: "
			"nvidia-smi -i %u -pl %llu",
			(unsigned long long)h->limit_mw / 1000,
			(unsigned long long)h->default_mw / 1000, gpu,
			(unsigned long long)h->default_mw / 1000);
	if (!ret->fixes)
		add_fix(ret,
			"hardware slowdown: look at heat and power of the host "
			"(nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE -i %u), then at the GPU",
			gpu);
	add_fix(ret,
		"until then move the work to another GPU; in a collective the slowest one sets "
		"the pace");
}

/* "0 at 0000:1b:00.0: 87 C, 412 of 700 W" */
static void name_object(const struct slowing *h, char *dst, size_t cap)
{
	const struct part *p = &h->slow;
	char heat[32] = "", power[64] = "";

	if (p->temp_c)
		snprintf(heat, sizeof(heat), ", %llu C", (unsigned long long)p->temp_c);
	if (p->power_samples && h->limit_mw)
		snprintf(power, sizeof(power), ", %llu of %llu W",
			 (unsigned long long)(p->power_mw / p->power_samples / 1000),
			 (unsigned long long)h->limit_mw / 1000);
	snprintf(dst, cap, "%u at %.20s%s%s", h->gpu->index, h->gpu->bus_id, heat, power);
}

static void tell(const struct facts *f, const struct thread_facts *t, const struct slowing *h,
		 struct finding *ret)
{
	uint64_t mhz = h->slow.mhz / h->slow.samples;
	char title[96], words[96], slow[UNITS_CAP], full[UNITS_CAP];

	*ret = (struct finding){
		.cause = cause_name(CAUSE_gpu_throttled),
		.evidence = h->compared && !h->assumed ? EVIDENCE_OBSERVED : EVIDENCE_INFERRED,
		.lost_ns = h->lost,
		.affected_ns = h->affected,
		.lost_pct = percent(h->lost, h->affected),
		.gain_low_pct = h->compared && !h->assumed ? percent(h->lost, h->affected) / 2 : 0,
		.gain_high_pct = percent(h->lost, h->affected),
		.first_ns = h->first,
		.last_ns = h->last,
		.thread = t->id,
		.object = { .kind = OBJECT_gpu },
		.states = ~0u,
		.places = 1u << CLASS_SYNC | 1u << CLASS_COPY,
	};
	ret->severity = severity_of(f, ret);
	gpu_title(h->gpu, title, sizeof(title));
	gpu_reason_words(words, sizeof(words), h->reasons, GPU_REASONS_THROTTLE);
	snprintf(ret->title, sizeof(ret->title),
		 "Throttled GPU: %.32s ran at %.9s of %.9s MHz: %.75s", title,
		 format_count(slow, sizeof(slow), mhz),
		 format_count(full, sizeof(full), (uint64_t)h->ref_mhz), words);
	name_object(h, ret->object.name, sizeof(ret->object.name));
	say_basis(h, ret);
	add_fixes(h, ret);
}

bool rule_gpu_throttled(const struct facts *f, const struct thread_facts *first, int n,
			struct finding *ret)
{
	uint64_t most = 0;

	for (int g = 0; g < f->gpus; g++) {
		bool assumed;

		if (!facts_uses_gpu(f, first->pid, &f->gpu[g], &assumed))
			continue;
		for (int i = 0; i < n; i++) {
			struct slowing h = { .gpu = &f->gpu[g], .assumed = assumed };

			if (!slowed(&first[i], &h) || h.lost <= most)
				continue;
			most = h.lost;
			tell(f, &first[i], &h, ret);
		}
	}
	return most > 0;
}
