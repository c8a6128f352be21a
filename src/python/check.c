// SPDX-License-Identifier: Apache-2.0
/*
 * Is the interpreter what its version says it is? The thread states that its lists lead to must be
 * those that its threads themselves keep: one equation that fails if any of the runtime's address,
 * the key, the C library's or the thread state's offsets is wrong.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "python/python_int.h"

#define THREADS_MAX 4096
#define KEYS_MAX 1024
#define KEYS_FIRST 32 /* of glibc: those in struct pthread itself */
#define TS_NEXT 8
#define TS_INTERP 16
#define TP_MEMBERS 240 /* in PyTypeObject */
#define MEMBERS_MAX 64
#define INTERVAL_MAX 3600000000u /* us: nobody lets a thread run for an hour */

/* "python3.11", "libpython3.9.so.1.0" */
static unsigned version_of_name(const char *name)
{
	const char *at = strstr(name, "python3.");
	unsigned long minor;
	char *end;

	if (!at)
		return 0;
	at += strlen("python3.");
	minor = strtoul(at, &end, 10);
	return end == at || minor > 99 ? 0 : 0x300 + (unsigned)minor;
}

unsigned py_version(const struct mem *m, const struct py_module *mod)
{
	char head[PY_COOKIE_LEN];
	uint32_t hex;

	if (mod->version && mem_u32(m, mod->version, &hex))
		return hex >> 16;
	if (m->read(m->arg, mod->runtime, head, sizeof(head)) &&
	    !memcmp(head, PY_COOKIE, sizeof(head)) && mem_u32(m, mod->runtime + 8, &hex))
		return hex >> 16;
	return version_of_name(mod->name);
}

/* ---- code objects: the type lists its members with their offsets, and never changes */

struct member {
	uint64_t name;
	uint64_t type;
	int64_t offset;
	uint64_t flags, doc;
};

static bool members_agree(const struct mem *m, const struct py_module *mod,
			  const struct py_row *row, char *why, size_t why_cap)
{
	const struct {
		const char *name;
		uint16_t offset;
	} facts[] = {
		{ "co_firstlineno", row->layout.code_line },
		{ "co_filename", row->layout.code_file },
		{ row->version < 0x30b ? "co_name" : "co_qualname", row->layout.code_name },
		{ row->version < 0x30a ? "co_lnotab" : "co_linetable", row->layout.code_table },
	};
	uint64_t members;
	size_t seen = 0;

	if (!mod->code_type)
		return true;
	if (!mem_u64(m, mod->code_type + TP_MEMBERS, &members))
		members = 0;
	for (size_t i = 0; members && i < MEMBERS_MAX; i++) {
		struct member got;
		char name[16];

		if (!m->read(m->arg, members + i * sizeof(got), &got, sizeof(got)) || !got.name ||
		    !m->read(m->arg, got.name, name, sizeof(name)))
			break;
		name[sizeof(name) - 1] = '\0';
		for (size_t k = 0; k < ARRAY_LEN(facts); k++) {
			if (!streq(name, facts[k].name))
				continue;
			if (got.offset != facts[k].offset) {
				snprintf(why, why_cap,
					 "%s is at %lld, not at %u as in every known build", name,
					 (long long)got.offset, facts[k].offset);
				return false;
			}
			seen++;
		}
	}
	if (seen != ARRAY_LEN(facts))
		snprintf(why, why_cap, "its code objects have %zu of %zu known members", seen,
			 ARRAY_LEN(facts));
	return seen == ARRAY_LEN(facts);
}

/* ---- threads */

/* pthread_getspecific(key) of the thread whose pthread_self() is `self`. */
static bool get_specific(const struct mem *m, const struct py_tsd *tsd, uint64_t self, uint32_t key,
			 uint64_t *ret)
{
	uint64_t base = self + (uint64_t)(int64_t)tsd->tp + (uint64_t)(int64_t)tsd->from;

	if (tsd->indirect) {
		if (!mem_u64(m, base, &base))
			return false;
	} else if (key >= KEYS_FIRST) {
		const uint64_t block = base - 8 + tsd->level2 + key / KEYS_FIRST * 8ull;

		if (!mem_u64(m, block, &base))
			return false;
		base += 8;
		key %= KEYS_FIRST;
	}
	return mem_u64(m, base + (uint64_t)key * tsd->step, ret);
}

struct threads {
	int all, good;
};

/* Others come and go meanwhile, and one that has just begun is listed before it keeps its state. */
static void count_threads(const struct mem *m, const struct py_row *row, const struct py_tsd *tsd,
			  uint64_t interp, uint32_t key, struct threads *ret)
{
	uint64_t ts;

	*ret = (struct threads){ 0, 0 };
	if (!mem_u64(m, interp + row->threads, &ts))
		return;
	while (ts && ret->all < THREADS_MAX) {
		uint64_t self, owner, kept, next;

		if (!mem_u64(m, ts + TS_NEXT, &next) || !mem_u64(m, ts + TS_INTERP, &owner) ||
		    !mem_u64(m, ts + (uint64_t)row->layout.ts_thread, &self))
			return;
		ret->all++;
		ret->good +=
			owner == interp && get_specific(m, tsd, self, key, &kept) && kept == ts;
		ts = next;
	}
}

/* ---- the lock */

/* Not vital: without its address nobody learns who held it, that is all. */
static uint64_t find_gil(const struct mem *m, const struct py_row *row, uint64_t runtime,
			 uint64_t interp)
{
	uint64_t gil = runtime + row->gil, interval;
	uint32_t locked;

	if (row->gil_own && (!mem_u64(m, interp + row->gil, &gil) || gil != interp + row->gil_own))
		return 0;
	if (!mem_u64(m, gil, &interval) || !interval || interval > INTERVAL_MAX ||
	    !mem_u32(m, gil + GIL_LOCKED, &locked) || locked > 1)
		return 0;
	return gil;
}

/* ---- all of it */

static enum py_found early(char *why, size_t why_cap, const char *what)
{
	snprintf(why, why_cap, "it is starting or ending: %s", what);
	return PY_EARLY;
}

static enum py_found check_threads(const struct mem *m, const struct py_module *mod,
				   const struct py_tsd *tsd, struct py_layout *l, char *why,
				   size_t why_cap)
{
	const struct py_row *row = py_row(l->version);
	struct {
		uint32_t initialized, key;
	} tss;
	uint32_t initialized;
	uint64_t interp;
	struct threads t;

	if (!mem_u32(m, mod->runtime + row->initialized, &initialized) ||
	    !m->read(m->arg, l->key - 4, &tss, sizeof(tss)) ||
	    !mem_u64(m, mod->runtime + row->main, &interp)) {
		snprintf(why, why_cap, "_PyRuntime at 0x%llx cannot be read",
			 (unsigned long long)mod->runtime);
		return PY_REFUSED;
	}
	if (!initialized || !interp)
		return early(why, why_cap, "it is not initialized");
	if (!tss.initialized)
		return early(why, why_cap, "its threads have no key");
	if (initialized != 1 || tss.initialized != 1 || tss.key >= KEYS_MAX) {
		snprintf(why, why_cap, "_PyRuntime makes no sense: initialized is %u, key %u is %u",
			 initialized, tss.key, tss.initialized);
		return PY_REFUSED;
	}
	if (!members_agree(m, mod, row, why, why_cap))
		return PY_REFUSED;
	count_threads(m, row, tsd, interp, tss.key, &t);
	if (!t.all)
		return early(why, why_cap, "it has no thread");
	if (!t.good) {
		snprintf(why, why_cap, "none of its %d threads keeps its state under key %u at %d",
			 t.all, tss.key, tsd->from);
		return PY_REFUSED;
	}
	l->gil = find_gil(m, row, mod->runtime, interp);
	snprintf(why, why_cap, "Python 3.%u in %s, %d of %d threads checked", l->version & 0xff,
		 mod->name, t.good, t.all);
	return PY_FOUND;
}

enum py_found py_check(const struct mem *m, const struct py_module *mod, const struct py_tsd *tsd,
		       struct py_layout *ret, char *why, size_t why_cap)
{
	unsigned version = py_version(m, mod);
	const struct py_row *row = py_row(version);
	uint64_t size = row ? row->runtime_size[ARCH_HERE] : 0;
	struct py_layout l;
	enum py_found found;

	ret->version = (uint16_t)version;
	if (!row) {
		if (version)
			snprintf(why, why_cap, "Python %u.%u in %s is not among 3.9 to 3.14",
				 version >> 8, version & 0xff, mod->name);
		else
			snprintf(why, why_cap, "the version of the Python in %s is not known",
				 mod->name);
		return PY_REFUSED;
	}
	if (size && mod->runtime_size && mod->runtime_size != size) {
		snprintf(why, why_cap,
			 "its _PyRuntime has %llu bytes, not %llu as in every known build",
			 (unsigned long long)mod->runtime_size, (unsigned long long)size);
		return PY_REFUSED;
	}
	if (!py_offsets_agree(m, row, mod->runtime, why, why_cap))
		return PY_REFUSED;

	l = row->layout;
	l.version = (uint16_t)version;
	l.key = mod->runtime + row->key[ARCH_HERE];
	l.none = mod->none;
	l.code_type = l.code_version ? 0 : mod->code_type;
	l.gil_size = GIL_SIZE;
	l.tsd = tsd->from;
	l.tsd_level2 = tsd->level2;
	l.tsd_step = tsd->step;
	l.tsd_indirect = tsd->indirect;
	found = check_threads(m, mod, tsd, &l, why, why_cap);
	if (found == PY_FOUND)
		*ret = l;
	return found;
}
