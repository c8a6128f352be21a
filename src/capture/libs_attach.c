// SPDX-License-Identifier: Apache-2.0
/* What is attached to the copies of libraries: timed calls for good, launches come and go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/elf.h"
#include "capture/guard.h"
#include "capture/insn.h"
#include "capture/libs_int.h"
#include "wire/event.h"

/* ---- sites ---- */

int lib_sites(int fd, enum op_lib id, struct lib_site ret[OP_COUNT])
{
	const char *names[OP_COUNT];
	int op_of[OP_COUNT], n = 0, sites = 0, err;
	struct elf_func found[OP_COUNT];

	for (int op = 0; op < OP_COUNT; op++) {
		if (op_table[op].lib != id)
			continue;
		names[n] = op_table[op].symbol;
		op_of[n++] = op;
	}
	err = elf_find(fd, names, (size_t)n, found);
	if (err < 0)
		return err;
	for (int i = 0; i < n; i++) {
		struct insn_site site;

		if (!found[i].found)
			continue;
		if (insn_site(fd, found[i].offset, &site))
			site = (struct insn_site){ .class = INSN_REFUSED };
		ret[sites++] = (struct lib_site){ site.offset, op_of[i], (int)site.class };
	}
	return sites;
}

/* ---- attaching one copy ---- */

static int attach_timed(const struct libs_opts *o, struct links *to, const char *path,
			const struct site *sites, size_t n)
{
	const struct attach entry = { .mode = o->mode, .prog_fd = o->prog_enter };
	const struct attach at_return = { .mode = o->mode,
					  .prog_fd = o->prog_return,
					  .at_return = true };
	int err;

	if (o->mode == ATTACH_SESSION)
		return link_sites(to, &entry, path, sites, n);
	/* Returns first: a return without its entry is noticed, an entry without return is not. */
	err = link_sites(to, &at_return, path, sites, n);
	return err ? err : link_sites(to, &entry, path, sites, n);
}

/* Ops that are only counted need no session, unless somebody wants to know how long they take. */
struct attach libs_count_only(const struct libs_opts *o)
{
	bool as_others = o->mode == ATTACH_PERF || o->count_returns;
	enum attach_mode mode = as_others ? o->mode : ATTACH_MULTI;

	return (struct attach){ .mode = mode, .prog_fd = o->prog_count };
}

/*
 * Before Linux 6.6 each probe takes a tenth of a second to be removed, so only what most programs use
 * is probed there.
 */
static bool too_dear(const struct libs_opts *o, const struct op *op)
{
	static const char *const rare[] = {
		"_pt", "2D", "3D", "D16", "Symbol", "Array", "Destroy"
	};

	if (o->mode != ATTACH_PERF)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(rare); i++)
		if (strstr(op->symbol, rare[i]))
			return true;
	return op->class == CLASS_EVENT || op->class == CLASS_HANDLE;
}

/*
 * A copy that the runtime hands on to the driver as it is: frequent enough to be looked at only there,
 * as launches are. Seen with CUDA 13; what others do between the two is not known.
 */
static bool is_handed_on(int op)
{
	return op == OP_cudaMemcpyAsync || op == OP_cudaMemcpyAsync_ptsz;
}

/* What a launch needs to know of its op, so that it need not look it up. */
static uint64_t cookie_of(int op, bool stepped)
{
	const struct op *o = &op_table[op];

	return (uint64_t)op | COOKIE_OF_CLASS(o->class) | (o->args.aux == 2 ? COOKIE_SECOND : 0) |
	       (stepped ? COOKIE_STEPPED : 0);
}

int libs_attach(const struct libs *l, struct entry *e)
{
	const struct libs_opts *o = &l->opts;
	struct lib_site sites[OP_COUNT];
	struct site timed[OP_COUNT];
	size_t timed_n = 0;
	char path[64];
	int n;

	n = lib_sites(e->fd, e->lib.id, sites);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		const struct op *op = &op_table[sites[i].op];
		bool stepped = sites[i].class == INSN_STEPPED;
		struct site site = { .offset = sites[i].offset,
				     .cookie = cookie_of(sites[i].op, stepped) };

		if (sites[i].class == INSN_REFUSED || too_dear(o, op)) {
			e->lib.refused++;
			continue;
		}
		e->lib.ops++;
		e->lib.stepped += stepped;
		if (is_handed_on(sites[i].op)) {
			site.cookie |= COOKIE_IF_NO_DRIVER;
			e->copy_site[e->copy_sites++] = site;
		} else if (op_timed(op->class)) {
			timed[timed_n++] = site;
		} else if (op->lib == LIB_CUDART) {
			site.cookie |= COOKIE_IF_NO_DRIVER;
			e->launch_site[e->launch_sites++] = site;
		} else {
			e->driver_site[e->driver_sites++] = site;
		}
	}
	for (int op = 0; op < OP_COUNT; op++)
		e->lib.missing += op_table[op].lib == e->lib.id;
	e->lib.missing -= n;
	if (!e->lib.ops)
		return fail(-ENOENT, "none of the traced functions is in it");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	return attach_timed(o, &e->links, path, timed, timed_n);
}

/* ---- launches: the only probes that come and go ---- */

static int show(const struct libs_opts *o, struct entry *e, struct links *to,
		const struct site *sites, size_t n)
{
	struct attach count = libs_count_only(o);
	char path[64];
	int err;

	if (!n || to->count || e->given_up)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	err = link_sites(to, &count, path, sites, n);
	if (err)
		log_warn("launches of %s are not counted: %s", e->lib.path, why(err));
	return err;
}

int libs_show(const struct libs *l, struct entry *e)
{
	return l->hidden ? 0 : show(&l->opts, e, &e->driver, e->driver_site, e->driver_sites);
}

static bool needs_runtime(const struct entry *e)
{
	bool need = !e->users; /* somebody came and went: he may have none */

	for (size_t i = 0; i < e->users; i++)
		need |= !e->user[i].driver;
	return need && e->launch_sites + e->copy_sites;
}

static void show_copies(const struct libs_opts *o, struct entry *e)
{
	char path[64];
	int err;

	if (!e->copy_sites || e->copies.count || e->given_up)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	err = attach_timed(o, &e->copies, path, e->copy_site, e->copy_sites);
	if (err)
		log_warn("copies of %s are not timed: %s", e->lib.path, why(err));
}

void libs_update(struct libs *l, struct entry *e)
{
	struct links *both[] = { &e->launches, &e->copies };

	pthread_mutex_lock(&l->lock);
	if (!needs_runtime(e)) {
		links_close(both, 2);
	} else {
		show_copies(&l->opts, e);
		if (!l->hidden)
			(void)show(&l->opts, e, &e->launches, e->launch_site, e->launch_sites);
	}
	pthread_mutex_unlock(&l->lock);
}

/*
 * Which of the runtime's calls launch kernels; events are counted in the same way. Where launches are
 * hidden there is nothing to learn from them.
 */
void libs_learn_of(const struct libs *l, struct entry *e)
{
	enum attach_mode mode = l->opts.mode == ATTACH_PERF ? ATTACH_PERF : ATTACH_MULTI;
	struct attach how = { .mode = mode, .prog_fd = l->opts.prog_stub };
	struct site site[OP_COUNT];
	size_t n = 0;
	char path[64];
	int err;

	if (!l->learn || l->hidden || e->learning.count || e->given_up)
		return;
	for (size_t i = 0; i < e->launch_sites; i++)
		if (op_table[e->launch_site[i].cookie & COOKIE_OP].class == CLASS_LAUNCH)
			site[n++] = e->launch_site[i];
	if (!n)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	err = link_sites(&e->learning, &how, path, site, n);
	if (err)
		log_debug("kernels of %s stay without names: %s", e->lib.path, why(err));
}

int libs_show_launches(struct libs *l)
{
	int err = 0;

	pthread_mutex_lock(&l->lock);
	l->hidden = false;
	for (int i = 0; i < l->count; i++) {
		struct entry *e = l->entry[i];
		int one = libs_show(l, e);

		if (!one && needs_runtime(e))
			one = show(&l->opts, e, &e->launches, e->launch_site, e->launch_sites);
		libs_learn_of(l, e);
		err = err ? err : one;
	}
	pthread_mutex_unlock(&l->lock);
	return err;
}

/* To be closed when the lock is given back: that waits for the kernel, and nobody else has to. */
struct taken {
	struct links links[ENTRY_LINKS * MAX_LIBS], *all[ENTRY_LINKS * MAX_LIBS];
	size_t n;
};

static void take(struct taken *t, struct links *from)
{
	t->links[t->n] = *from;
	t->all[t->n] = &t->links[t->n];
	t->n++;
	*from = (struct links){ 0 };
}

void libs_hide_launches(struct libs *l)
{
	struct taken taken = { .n = 0 };

	pthread_mutex_lock(&l->lock);
	l->hidden = true;
	for (int i = 0; i < l->count; i++) {
		take(&taken, &l->entry[i]->driver);
		take(&taken, &l->entry[i]->launches);
		take(&taken, &l->entry[i]->learning);
	}
	pthread_mutex_unlock(&l->lock);
	links_close(taken.all, taken.n);
}

void libs_learn(struct libs *l, bool on)
{
	struct taken taken = { .n = 0 };

	pthread_mutex_lock(&l->lock);
	l->learn = on;
	for (int i = 0; i < l->count; i++) {
		if (on)
			libs_learn_of(l, l->entry[i]);
		else
			take(&taken, &l->entry[i]->learning);
	}
	pthread_mutex_unlock(&l->lock);
	links_close(taken.all, taken.n);
}

/* ---- letting go ---- */

void entry_links(struct entry *e, struct links *ret[ENTRY_LINKS])
{
	ret[0] = &e->links;
	ret[1] = &e->driver;
	ret[2] = &e->launches;
	ret[3] = &e->learning;
	ret[4] = &e->copies;
}

void libs_yield(struct libs *l)
{
	pthread_mutex_lock(&l->lock);
	for (int i = 0; i < l->count; i++) {
		struct entry *e = l->entry[i];
		struct links *all[ENTRY_LINKS];

		if (!e->guarded || !guard_broken(e->fd))
			continue;
		e->guarded = false;
		e->given_up = true;
		entry_links(e, all);
		links_close(all, ENTRY_LINKS); /* the writer waits for this */
		guard_release(e->fd);
		str_copy(e->lib.note, sizeof(e->lib.note), "was overwritten while it was traced");
		log_warn("%s is being overwritten: not traced until that is over", e->lib.path);
	}
	pthread_mutex_unlock(&l->lock);
}
