// SPDX-License-Identifier: Apache-2.0
#include "capture/pythons.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/host.h"
#include "python/python.h"

#define SEEN_MAX 4096 /* processes; then all are asked again */
#define AGAIN_MAX 64
#define AGAIN_NS                                                                                   \
	200000000ull /* a process is looked at this often at most: it may run exec in between */
#define TRIES 50 /* of an interpreter that does not begin */

struct identity {
	uint64_t pid, start;
};

struct pythons {
	int map;
	python_fn fn;
	void *arg;
	uint32_t generations;
	struct hash *seen; /* struct identity -> when it was looked at */
	struct {
		struct identity who;
		int tries;
	} again[AGAIN_MAX];
	int waiting;
	uint64_t again_ns;
};

struct pythons *pythons_new(int map, python_fn fn, void *arg)
{
	struct pythons *p = xcalloc(1, sizeof(*p));

	p->map = map;
	p->fn = fn;
	p->arg = arg;
	p->seen = hash_new(sizeof(struct identity), sizeof(uint64_t));
	return p;
}

void pythons_free(struct pythons *p)
{
	if (!p)
		return;
	hash_free(p->seen);
	free(p);
}

static void tell(struct pythons *p, int pid, unsigned version, const char *why)
{
	if (p->fn)
		p->fn(pid, version, why, p->arg);
}

/* False: to be asked again. */
static bool look(struct pythons *p, int pid)
{
	struct py_layout layout = { 0 };
	uint32_t key = (uint32_t)pid;
	char reason[160] = "";

	/* A forked child has its parent's, from before its first instruction. */
	if (!bpf_map_lookup_elem(p->map, &key, &layout)) {
		tell(p, pid, layout.version, "");
		return true;
	}
	switch (py_find(pid, &layout, reason, sizeof(reason))) {
	case PY_FOUND:
		layout.generation = ++p->generations;
		if (bpf_map_update_elem(p->map, &key, &layout, BPF_ANY)) {
			snprintf(reason, sizeof(reason), "no room for its layout: %s",
				 strerror(errno));
			log_debug("python of pid %d: %s", pid, reason);
		}
		tell(p, pid, layout.version, reason);
		return true;
	case PY_REFUSED:
		log_debug("python of pid %d: %s", pid, reason);
		tell(p, pid, layout.version, reason);
		return true;
	case PY_EARLY:
		return false;
	case PY_NONE:
		break;
	}
	return true;
}

static void ask_again(struct pythons *p, const struct identity *who)
{
	for (int i = 0; i < p->waiting; i++)
		if (!memcmp(&p->again[i].who, who, sizeof(*who)))
			return;
	if (p->waiting == AGAIN_MAX)
		return;
	p->again[p->waiting].who = *who;
	p->again[p->waiting++].tries = 0;
}

void pythons_see(struct pythons *p, int pid)
{
	struct identity who = { .pid = (uint64_t)pid, .start = proc_start_ns(pid) };
	uint64_t now = clock_boot_ns(), *looked;

	if (!who.start)
		return;
	if (hash_count(p->seen) >= SEEN_MAX) {
		hash_free(p->seen);
		p->seen = hash_new(sizeof(struct identity), sizeof(uint64_t));
	}
	looked = hash_put(p->seen, &who);
	if (*looked && now - *looked < AGAIN_NS) {
		ask_again(p, &who);
		return;
	}
	*looked = now;
	if (!look(p, pid))
		ask_again(p, &who);
}

void pythons_again(struct pythons *p, uint64_t now_ns)
{
	int kept = 0;

	if (!p->waiting || now_ns < p->again_ns)
		return;
	p->again_ns = now_ns + AGAIN_NS;
	for (int i = 0; i < p->waiting; i++) {
		int pid = (int)p->again[i].who.pid;

		if (proc_start_ns(pid) != p->again[i].who.start || look(p, pid))
			continue;
		if (++p->again[i].tries == TRIES)
			tell(p, pid, 0, "its interpreter does not begin");
		else
			p->again[kept++] = p->again[i];
	}
	p->waiting = kept;
}
