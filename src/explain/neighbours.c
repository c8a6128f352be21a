// SPDX-License-Identifier: Apache-2.0
/*
 * A file is slow, and meanwhile somebody else gives most of its work to the very disk that it is on.
 * That these belong together is inferred: it must be so in that time, and not as much at other times.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "explain/explain_int.h"
#include "explain/tenants.h"
#include "store/read_tenant.h"

#define MOST_PCT 50.0 /* of the bytes in that time; what is nobody's counts against it */
#define BYTES_MIN (4u << 20) /* in all: less keeps no disk busy */
#define MORE 1.5 /* times as much a second as at other times */
#define USERS_MAX 64
#define SECOND_NS 1000000000ull

static int on_use(uint64_t at_ns, const struct disk_user_row *row, void *arg)
{
	struct facts *f = arg;
	struct disk_use *use;

	if (!(f->disk_uses & (f->disk_uses - 1)))
		f->disk_use =
			xrealloc(f->disk_use, (size_t)f->disk_uses * 2 + 1, sizeof(*f->disk_use));
	use = &f->disk_use[f->disk_uses++];
	*use = (struct disk_use){ .at_ns = at_ns,
				  .bytes = row->bytes,
				  .dev = row->dev,
				  .pid = row->pid,
				  .kernel = row->kernel };
	text_safe(use->comm, sizeof(use->comm), row->comm);
	text_safe(use->cgroup, sizeof(use->cgroup), row->cgroup);
	return 0;
}

int load_disk_uses(struct store *s, struct window w, struct facts *f)
{
	return store_each_disk_user(s, w, on_use, f);
}

/* The disk that the file of a finding is on; 0: it is about no file. */
static uint32_t disk_of(struct finding *found)
{
	const struct hop *hop = finding_file(found);

	if (!streq(found->cause, cause_name(CAUSE_disk_read)) &&
	    !streq(found->cause, cause_name(CAUSE_disk_write)))
		return 0;
	return hop ? (uint32_t)hop->obj2 : 0;
}

/* One tenant on that disk, in the time of the finding and in the rest. */
struct user {
	const struct disk_use *use; /* its largest row in that time: which process of it */
	uint64_t number, during, else_bytes;
};

struct users {
	struct user user[USERS_MAX];
	int n;
	uint64_t all; /* bytes in the time of the finding, whoever's */
	uint64_t own; /* the tenant of who waited */
};

static uint64_t number_of(const char *cgroup)
{
	struct tenant t;

	(void)tenant_parse(cgroup, &t); /* how much it says does not matter */
	return tenant_number(&t);
}

/*
 * Tenants count as a whole, processes of the same one each by itself. NULL: too many; what they did is in
 * `all`, so that nobody is blamed for it.
 */
static struct user *user_of(struct users *u, const struct disk_use *use)
{
	uint64_t number = number_of(use->cgroup);

	if (number == u->own)
		number += use->pid;
	for (int i = 0; i < u->n; i++)
		if (u->user[i].number == number)
			return &u->user[i];
	if (u->n == USERS_MAX)
		return NULL;
	u->user[u->n] = (struct user){ .use = use, .number = number };
	return &u->user[u->n++];
}

static void add_up(const struct facts *f, const struct finding *found, uint32_t dev,
		   struct users *u)
{
	for (int i = 0; i < f->disk_uses; i++) {
		const struct disk_use *use = &f->disk_use[i];
		bool during =
			use->at_ns > found->first_ns && use->at_ns <= found->last_ns + SECOND_NS;
		/* What is nobody's is in `all` alone. */
		struct user *who = use->dev == dev && use->cgroup[0] ? user_of(u, use) : NULL;

		if (use->dev == dev && during)
			u->all += use->bytes;
		if (who && during) {
			if (!who->during || use->bytes > who->use->bytes)
				who->use = use;
			who->during += use->bytes;
		} else if (who) {
			who->else_bytes += use->bytes;
		}
	}
}

static bool is_more(const struct facts *f, const struct finding *found, const struct user *u)
{
	uint64_t during = found->last_ns - found->first_ns + SECOND_NS;
	uint64_t all = f->window.to_ns - f->window.from_ns;

	if (all < during + 2 * SECOND_NS)
		return true; /* there are no other times to compare with */
	return (double)u->during / (double)during >=
	       MORE * (double)u->else_bytes / (double)(all - during);
}

static void blame(const struct user *u, double pct, struct finding *found)
{
	struct culprit *c;

	if (found->culprits == CULPRITS_MAX)
		found->culprits--;
	c = &found->culprit[found->culprits++];
	*c = (struct culprit){ .pid = u->use->pid, .share = pct, .beside = true };
	c->ns = (uint64_t)((double)found->lost_ns * pct / 100);
	memcpy(c->comm, u->use->comm, sizeof(c->comm));
	memcpy(c->cgroup, u->use->cgroup, sizeof(c->cgroup));
	found->evidence = EVIDENCE_INFERRED;
	str_add(found->basis, sizeof(found->basis),
		"; that the disk was busy for others is inferred from their bytes");
}

/*
 * What a container does to itself is no neighbour's fault. On the host itself nothing tells what belongs
 * together but the name: its workers have that of the loop. What the kernel writes there may be the loop's own.
 */
static bool is_another(const struct explanation *e, const struct finding *found,
		       const struct disk_use *use)
{
	struct tenant own, other;
	const struct tenant *t = tenant_of(e, found->cgroup, &own),
			    *u = tenant_of(e, use->cgroup, &other);

	if (!same_tenant(u, t)) /* version 1: for disks the same program may be in another group */
		return !use->kernel || tenant_foreign(u);
	return !tenant_foreign(t) && !use->kernel && use->pid != found->pid &&
	       !streq(use->comm, found->comm);
}

void find_neighbour(const struct facts *f, const struct explanation *e, struct finding *found)
{
	uint32_t dev = disk_of(found);
	const struct user *most = NULL;
	struct users u = { .n = 0 };

	if (!dev || !f->disk_uses || !found->cgroup[0])
		return;
	u.own = number_of(found->cgroup);
	add_up(f, found, dev, &u);
	for (int i = 0; i < u.n; i++)
		if (!most || u.user[i].during > most->during)
			most = &u.user[i];
	if (!most || u.all < BYTES_MIN || percent(most->during, u.all) < MOST_PCT ||
	    !is_more(f, found, most))
		return;
	if (is_another(e, found, most->use))
		blame(most, percent(most->during, u.all), found);
}
