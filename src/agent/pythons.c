// SPDX-License-Identifier: Apache-2.0
#include "agent/pythons.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/host.h"
#include "python/python.h"

#define WAITING_MAX 4096 /* more at once are not looked at: their lines are not known */
#define AGAIN_NS 200000000ull /* between two looks at the same process */
#define TRIES 50 /* at an interpreter that does not begin */
#define LOOKS 16 /* at once: each takes a millisecond */

struct waiting {
	int pid, tries;
	uint64_t start_ns, next_ns;
};

struct pythons {
	python_fn fn;
	void *arg;
	uint32_t generations;
	struct waiting *waiting;
	int waitings;
};

struct pythons *pythons_new(python_fn fn, void *arg)
{
	struct pythons *p = xcalloc(1, sizeof(*p));

	p->fn = fn;
	p->arg = arg;
	return p;
}

void pythons_free(struct pythons *p)
{
	if (!p)
		return;
	free(p->waiting);
	free(p);
}

static void tell(const struct pythons *p, int pid, const char *why_not)
{
	log_debug("python of pid %d: %s", pid, why_not[0] ? why_not : "found");
	if (p->fn)
		p->fn(pid, why_not, p->arg);
}

/* False: to be asked again. */
static bool look(struct pythons *p, const struct python_map *map, int pid)
{
	struct py_layout layout = { 0 };
	char reason[160] = "";
	int err;

	/* A forked child has its parent's, from before its first instruction. */
	if (map->has(map->arg, pid))
		return true;
	switch (py_find(pid, &layout, reason, sizeof(reason))) {
	case PY_FOUND:
		layout.generation = ++p->generations;
		err = map->put(map->arg, pid, &layout);
		tell(p, pid, err ? why(err) : "");
		return true;
	case PY_REFUSED:
		tell(p, pid, reason);
		return true;
	case PY_EARLY:
		return false;
	case PY_NONE:
		break;
	}
	return true;
}

void pythons_see(struct pythons *p, const struct python_map *map, int pid)
{
	struct waiting fresh = { .pid = pid, .start_ns = proc_start_ns(pid) };

	if (!fresh.start_ns || look(p, map, pid) || p->waitings == WAITING_MAX)
		return;
	for (int i = 0; i < p->waitings; i++) {
		if (p->waiting[i].pid == pid && p->waiting[i].start_ns == fresh.start_ns) {
			p->waiting[i].tries = 0;
			return;
		}
	}
	p->waiting = xrealloc(p->waiting, (size_t)p->waitings + 1, sizeof(*p->waiting));
	p->waiting[p->waitings++] = fresh;
}

void pythons_look(struct pythons *p, const struct python_map *map, uint64_t now_ns)
{
	int kept = 0, looks = 0;

	for (int i = 0; i < p->waitings; i++) {
		struct waiting *w = &p->waiting[i];

		if (now_ns >= w->next_ns && looks++ < LOOKS) {
			if (proc_start_ns(w->pid) != w->start_ns || look(p, map, w->pid))
				continue;
			if (++w->tries == TRIES) {
				tell(p, w->pid, "its interpreter does not begin");
				continue;
			}
			w->next_ns = now_ns + AGAIN_NS;
		}
		p->waiting[kept++] = *w;
	}
	p->waitings = kept;
}
