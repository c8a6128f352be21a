// SPDX-License-Identifier: Apache-2.0
/* Once a second: the rules on the last seconds, joined with what was found before. */
#include "agent/incidents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define LOOK_BACK_NS (6 * 1000000000ull)
#define PAUSE_NS (60 * 1000000000ull) /* the same cause after this long is another incident */
#define OPEN_MAX 256

struct open_incident {
	int64_t id;
	const char *cause; /* static, from the table of causes */
	uint32_t pid, culprit_pid;
	uint64_t first_ns, last_ns, lost_ns;
};

struct incidents {
	struct open_incident open[OPEN_MAX];
	int n;
	incident_fn fn;
	void *arg;
};

struct incidents *incidents_new(incident_fn fn, void *arg)
{
	struct incidents *i = xcalloc(1, sizeof(*i));

	i->fn = fn;
	i->arg = arg;
	return i;
}

void incidents_free(struct incidents *i)
{
	free(i);
}

void incidents_forget(struct incidents *i)
{
	i->n = 0;
}

static void close_old(struct incidents *i, uint64_t now)
{
	int kept = 0;

	for (int k = 0; k < i->n; k++)
		if (i->open[k].last_ns + PAUSE_NS > now)
			i->open[kept++] = i->open[k];
	i->n = kept;
}

static struct open_incident *find(struct incidents *i, const struct finding *f)
{
	uint32_t culprit = f->culprits ? f->culprit[0].pid : 0;

	for (int k = 0; k < i->n; k++) {
		struct open_incident *o = &i->open[k];

		if (streq(o->cause, f->cause) && o->pid == f->pid && o->culprit_pid == culprit)
			return o;
	}
	if (i->n == OPEN_MAX)
		return NULL;
	i->open[i->n] = (struct open_incident){
		.cause = f->cause, .pid = f->pid, .culprit_pid = culprit, .first_ns = f->first_ns
	};
	return &i->open[i->n++];
}

/*
 * Windows overlap: what a window adds is what lies behind the end of the last one, as a share of its
 * time. The exact sum over any time is what `culprit explain` computes.
 */
static void extend(struct open_incident *o, const struct finding *f)
{
	uint64_t span = f->last_ns > f->first_ns ? f->last_ns - f->first_ns : 1, fresh = span;

	if (o->last_ns > f->first_ns)
		fresh = f->last_ns > o->last_ns ? f->last_ns - o->last_ns : 0;
	o->lost_ns += (uint64_t)((double)f->lost_ns * (double)fresh / (double)span);
	o->last_ns = max_u64(o->last_ns, f->last_ns);
	o->first_ns = min_u64(o->first_ns, f->first_ns);
}

static int note(struct incidents *i, struct store *store, const struct finding *f)
{
	struct open_incident *o = find(i, f);
	struct incident_row row;
	bool fresh;
	int err;

	if (!o)
		return 0;
	fresh = !o->id;
	extend(o, f);
	row = (struct incident_row){
		.id = o->id,
		.cause = f->cause,
		.comm = f->comm,
		.culprit = f->culprits ? f->culprit[0].comm : "",
		.title = f->title,
		.severity = severity_names[f->severity],
		.pid = f->pid,
		.culprit_pid = o->culprit_pid,
		.first_ns = o->first_ns,
		.last_ns = o->last_ns,
		.lost_ns = o->lost_ns,
	};
	err = store_incident(store, &row);
	o->id = row.id;
	if (!err && fresh && i->fn)
		i->fn(f, i->arg);
	return err;
}

int incidents_update(struct incidents *i, struct store *store, uint64_t now_wall_ns)
{
	struct explanation e;
	int err, first = 0;

	close_old(i, now_wall_ns);
	err = explain_recent(store, now_wall_ns, LOOK_BACK_NS, &e);
	if (err)
		return err == -ENODATA ? 0 : err;
	for (int k = 0; k < e.findings; k++) {
		err = note(i, store, &e.finding[k]);
		if (err && !first)
			first = err;
	}
	explain_free(&e);
	return first;
}
