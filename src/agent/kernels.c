// SPDX-License-Identifier: Apache-2.0
/*
 * Cells of the probes become launches per kernel and library. A name comes from the driver's own look-up
 * by name, or is a symbol: of the function that the runtime was asked to launch or, where it was given a
 * handle as nvcc's stubs do since CUDA 13, of the stub whose variable holds that. Both are learned from
 * launches of the runtime, probed as well for a few seconds at a time.
 */
#include "agent/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "base/util.h"
#include "capture/maps.h"
#include "decode/decode.h"
#include "native/native.h"

#define KERNELS_MAX 16384 /* known at once; those that were not launched lately go first */
#define HANDLES_MAX 16384 /* of all processes, with what was heard of them */
#define SITES_MAX 4096
#define TEXTS_MAX 8192
#define TEXT_CAP 512
#define STORE_NS (5 * 1000000000ull)
#define ASK_MAX 64 /* symbols in one second: tables can be large */
#define LEARN_LOOKS                                                                                \
	3 /* seconds in which launches were seen, for the time may be one of hiding them */
#define LEARN_NS (60 * 1000000000ull)
#define LEARN_AGAIN_NS (10 * 1000000000ull)
#define LEARN_AGAIN_MAX_NS (600 * 1000000000ull)
#define UNKNOWN_MIN_PCT 1 /* of the launches of a second: worth learning */

struct handle_key {
	uint64_t handle;
	uint32_t pid, pad;
};

/* What was heard of a handle. Texts are interned; NULL: nothing. */
struct heard {
	const char *name, *source;
	const char *library; /* that called the runtime */
	uint64_t stub; /* what the runtime was asked to launch; 0: not learned */
	uint64_t site; /* where it was asked */
	bool ambiguous; /* learned in two ways: then it is not known */
	bool asked; /* for the symbols of these */
};

struct kernel_key {
	int64_t process;
	uint64_t handle;
	const char *site_library; /* interned */
};

struct kernel {
	int64_t row; /* 0: not stored */
	uint64_t fresh; /* launches not stored yet */
	uint64_t used_ns;
	uint32_t pid;
	bool stub; /* the handle is an address of the program */
	bool told; /* what is stored of it is what is known */
	const char *name, *source, *library; /* interned; NULL: not known yet */
};

struct cell_key {
	uint64_t handle;
	uint32_t serial, pad;
};

struct site_key {
	uint64_t site;
	uint32_t pid, pad;
};

struct kernels {
	struct lines *lines;
	struct hash *texts; /* hash of the text -> char * */
	struct hash *heard; /* struct handle_key -> struct heard */
	struct hash *known; /* struct kernel_key -> struct kernel */
	struct hash *counts; /* struct cell_key -> count as last seen */
	struct hash *sites; /* struct site_key -> const char *, a library */
	uint64_t stored_at;
	/* Learning: */
	bool learning;
	uint64_t learn_at, learn_until, again_ns;
	uint64_t launched, unknown; /* in this second */
	unsigned learned, looked; /* in this window */
	/* While reading and storing: */
	const struct roster *roster;
	struct store *store;
	uint64_t now;
	int err;
};

static const char nothing[] = "";

struct kernels *kernels_new(struct lines *lines)
{
	struct kernels *k = xcalloc(1, sizeof(*k));

	k->lines = lines;
	k->texts = hash_new(sizeof(uint64_t), sizeof(char *));
	k->heard = hash_new(sizeof(struct handle_key), sizeof(struct heard));
	k->known = hash_new(sizeof(struct kernel_key), sizeof(struct kernel));
	k->counts = hash_new(sizeof(struct cell_key), sizeof(uint64_t));
	k->sites = hash_new(sizeof(struct site_key), sizeof(char *));
	k->again_ns = LEARN_AGAIN_NS;
	return k;
}

static bool free_text(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	free(*(char **)value);
	return true;
}

void kernels_free(struct kernels *k)
{
	if (!k)
		return;
	hash_each(k->texts, free_text, NULL);
	hash_free(k->texts);
	hash_free(k->heard);
	hash_free(k->known);
	hash_free(k->counts);
	hash_free(k->sites);
	free(k);
}

static bool drop(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

/* The same text for ever, made harmless; nothing once there are too many. */
static const char *keep(struct kernels *k, const char *text)
{
	uint64_t id = 14695981039346656037ull;
	char safe[TEXT_CAP], **place;

	text_safe(safe, sizeof(safe), text);
	if (!safe[0])
		return nothing;
	for (const char *s = safe; *s; s++)
		id = (id ^ (unsigned char)*s) * 1099511628211ull;
	place = hash_get(k->texts, &id);
	if (place && streq(*place, safe))
		return *place;
	if (place || hash_count(k->texts) >= TEXTS_MAX)
		return nothing;
	place = hash_put(k->texts, &id);
	*place = xcalloc(1, strlen(safe) + 1);
	str_copy(*place, strlen(safe) + 1, safe);
	return *place;
}

/* ---- what is heard ---- */

static struct heard *heard_of(struct kernels *k, uint32_t pid, uint64_t handle)
{
	struct handle_key key = { .handle = handle, .pid = pid };

	if (hash_count(k->heard) >= HANDLES_MAX && !hash_get(k->heard, &key))
		hash_each(k->heard, drop, NULL); /* it is learned again, at some cost */
	return hash_put(k->heard, &key);
}

static void on_name(const void *bytes, size_t len, void *arg)
{
	struct kernels *k = arg;
	struct kernel_named named;
	char plain[2 * TEXT_CAP];
	struct heard *h;

	if (decode_kernel_name(bytes, len, &named))
		return;
	native_demangle(named.name, plain, sizeof(plain));
	h = heard_of(k, named.pid, named.handle);
	/* Asked for again, it may be another: handles are addresses, and are used again. */
	*h = (struct heard){ .name = keep(k, plain),
			     .source = strstr(named.op->symbol, "Module") ? "module" : "library" };
}

static const char *library_at(struct kernels *k, uint32_t pid, uint64_t site)
{
	struct site_key key = { .site = site, .pid = pid };
	const char **known = hash_get(k->sites, &key);
	const char *library;

	if (known)
		return *known;
	library = site ? keep(k, native_module(lines_native(k->lines), pid, site)) : nothing;
	if (hash_count(k->sites) >= SITES_MAX)
		hash_each(k->sites, drop, NULL);
	*(const char **)hash_put(k->sites, &key) = library;
	return library;
}

static void on_pair(const struct kernel_pair_key *key, const struct kernel_pair *pair, void *arg)
{
	struct kernels *k = arg;
	struct heard *h = heard_of(k, key->pid, key->handle);

	if (pair->conflicts || (h->stub && h->stub != pair->stub)) {
		h->ambiguous = true;
		if (h->source && (streq(h->source, "symbol") || streq(h->source, "stub")))
			h->name = h->source = NULL;
		return;
	}
	if (!h->stub)
		k->learned++;
	h->stub = pair->stub;
	h->site = pair->site;
	h->library = library_at(k, key->pid, pair->site);
}

/* ---- what is launched ---- */

/* The launch that was probed is inside the runtime: then who called that is not known yet. */
static bool is_runtime(const char *library)
{
	return maps_lib(library) == LIB_CUDART;
}

/* Take over what was heard of a kernel. What is known stays, even when its process is gone. */
static void learn_kernel(const struct kernels *k, const struct kernel_key *key,
			 struct kernel *kernel)
{
	struct handle_key handle = { .handle = key->handle, .pid = kernel->pid };
	const struct heard *h = hash_get(k->heard, &handle);

	if (kernel->stub || !is_runtime(key->site_library))
		kernel->library = key->site_library[0] ? key->site_library : NULL;
	else if (h && h->library && h->library[0] && !h->ambiguous)
		kernel->library = h->library;
	if (h && h->name && h->name[0]) {
		kernel->name = h->name;
		kernel->source = h->source;
	}
}

static bool is_known(const struct kernel *kernel)
{
	return kernel->name && kernel->library;
}

/* By probing the runtime: what does not go through it, or was asked for in vain, would stay unknown. */
static bool can_learn(const struct kernels *k, const struct kernel_key *key,
		      const struct kernel *kernel)
{
	struct handle_key handle = { .handle = key->handle, .pid = kernel->pid };
	const struct heard *h = hash_get(k->heard, &handle);

	return !kernel->stub && !is_known(kernel) && is_runtime(key->site_library) &&
	       !(h && (h->asked || h->ambiguous));
}

static bool forget_old(const void *key, void *value, void *arg)
{
	const struct kernel *kernel = value;
	const struct kernels *k = arg;

	(void)key;
	return !kernel->fresh && kernel->used_ns + 60 * 1000000000ull < k->now;
}

static struct kernel *kernel_of(struct kernels *k, const struct kernel_key *key)
{
	if (hash_count(k->known) >= KERNELS_MAX && !hash_get(k->known, key)) {
		hash_each(k->known, forget_old, k);
		if (hash_count(k->known) >= KERNELS_MAX)
			return NULL;
	}
	return hash_put(k->known, key);
}

static bool on_cell(const struct kernel_cell *cell, void *arg)
{
	struct kernels *k = arg;
	struct cell_key id = { .handle = cell->handle, .serial = cell->serial };
	uint64_t count = cell->count, *seen = hash_put(k->counts, &id), fresh = count - *seen;
	const struct person *who = roster_find(k->roster, cell->serial);
	struct kernel_key key;
	struct kernel *kernel;

	if (!who || !fresh || count < *seen)
		return false;
	*seen = count;
	key = (struct kernel_key){ .process = who->process,
				   .handle = cell->handle,
				   .site_library = library_at(k, who->pid, cell->site) };
	kernel = kernel_of(k, &key);
	if (!kernel)
		return false;
	kernel->pid = who->pid;
	kernel->stub = cell->flags & CELL_STUB;
	kernel->fresh += fresh;
	kernel->used_ns = k->now;
	if (kernel->stub)
		heard_of(k, who->pid, cell->handle)->stub = cell->handle;
	learn_kernel(k, &key, kernel);
	k->launched += fresh;
	if (can_learn(k, &key, kernel))
		k->unknown += fresh;
	return false;
}

/* ---- symbols ---- */

struct asking {
	uint32_t pid; /* all of one process */
	size_t n;
	struct native_name name[ASK_MAX];
	struct native_stub stub[ASK_MAX];
	struct heard *of[ASK_MAX];
};

static bool ask(const void *key, void *value, void *arg)
{
	const struct handle_key *handle = key;
	struct heard *h = value;
	struct asking *q = arg;

	if (!h->stub || h->asked || h->ambiguous || (h->name && h->name[0]) ||
	    (q->n && q->pid != handle->pid) || q->n == ASK_MAX)
		return false;
	q->pid = handle->pid;
	q->name[q->n].addr = h->stub;
	q->stub[q->n] = (struct native_stub){ .site = h->site, .handle = h->stub };
	q->of[q->n++] = h;
	return false;
}

static void find_symbols(struct kernels *k)
{
	struct native *native = lines_native(k->lines);
	struct asking q = { 0 };

	hash_each(k->heard, ask, &q);
	if (!q.n)
		return;
	native_symbols(native, q.pid, q.name, q.n);
	native_stubs(native, q.pid, q.stub, q.n);
	for (size_t i = 0; i < q.n; i++) {
		const char *symbol = q.name[i].func, *stub = q.stub[i].func;

		log_debug("kernel %#llx of pid %u: '%s' in '%s', stub '%s'",
			  (unsigned long long)q.name[i].addr, q.pid, symbol, q.name[i].module,
			  stub);
		q.of[i]->asked = true;
		if (!symbol[0] && !stub[0])
			continue;
		q.of[i]->name = keep(k, symbol[0] ? symbol : stub);
		q.of[i]->source = symbol[0] ? "symbol" : "stub";
	}
}

/* ---- learning ---- */

static void stop_learning(struct kernels *k, struct capture *capture)
{
	capture_learn_kernels(capture, false);
	k->learning = false;
	k->again_ns = k->learned ? LEARN_AGAIN_NS : min_u64(2 * k->again_ns, LEARN_AGAIN_MAX_NS);
	k->learn_at = k->now + k->again_ns;
}

static void learn(struct kernels *k, struct capture *capture)
{
	bool worth = k->unknown && k->unknown * 100 >= k->launched * UNKNOWN_MIN_PCT;

	if (k->learning) {
		k->looked += k->launched > 0;
		if (k->looked >= LEARN_LOOKS || k->now >= k->learn_until || (k->launched && !worth))
			stop_learning(k, capture);
	} else if (worth && k->now >= k->learn_at) {
		capture_learn_kernels(capture, true);
		k->learning = true;
		k->learned = k->looked = 0;
		k->learn_until = k->now + LEARN_NS;
	}
}

static void on_host_event(const struct host_key *key, const struct host_count *count, void *arg)
{
	(void)count;
	if (key->event == HOST_exec)
		kernels_gone(arg, key->pid);
}

void kernels_read(struct kernels *k, struct capture *capture, const struct roster *roster,
		  uint64_t now)
{
	k->roster = roster;
	k->now = now;
	k->launched = k->unknown = 0;
	capture_each_host_event(capture, on_host_event, k);
	capture_kernel_names(capture, on_name, k);
	if (k->learning)
		capture_each_pair(capture, on_pair, k);
	capture_each_kernel(capture, on_cell, k);
	find_symbols(k);
	learn(k, capture);
}

/* ---- storing ---- */

static bool store_one(const void *key, void *value, void *arg)
{
	const struct kernel_key *id = key;
	struct kernel *kernel = value;
	struct kernels *k = arg;
	struct kernel_row row;

	if (k->err || !id->process || (!kernel->fresh && kernel->told))
		return false;
	learn_kernel(k, id, kernel);
	row = (struct kernel_row){ .id = kernel->row,
				   .process = id->process,
				   .handle = id->handle,
				   .name = kernel->name ? kernel->name : nothing,
				   .source = kernel->source ? kernel->source : nothing,
				   .library = kernel->library ? kernel->library : nothing };
	if (!kernel->row || !kernel->told)
		k->err = store_kernel(k->store, &row);
	kernel->row = row.id;
	kernel->told = is_known(kernel);
	if (!k->err && kernel->fresh)
		k->err = store_kernel_second(k->store, kernel->row, k->now, kernel->fresh);
	kernel->fresh = 0;
	return false;
}

int kernels_store(struct kernels *k, struct store *store, uint64_t now, bool all)
{
	if (!all && now < k->stored_at + STORE_NS)
		return 0;
	k->stored_at = now;
	k->now = now;
	k->store = store;
	k->err = 0;
	hash_each(k->known, store_one, k);
	return k->err;
}

static bool undo(const void *key, void *value, void *arg)
{
	struct kernel *kernel = value;

	(void)key;
	(void)arg;
	kernel->row = 0;
	kernel->told = false;
	return false;
}

void kernels_rollback(struct kernels *k)
{
	hash_each(k->known, undo, NULL);
}

/* ---- forgetting ---- */

static bool is_of(const void *key, void *value, void *arg)
{
	const uint32_t *pid = arg;

	(void)value;
	return ((const struct handle_key *)key)->pid == *pid;
}

static bool is_done(const void *key, void *value, void *arg)
{
	const struct kernel *kernel = value;
	const uint32_t *pid = arg;

	(void)key;
	return kernel->pid == *pid && !kernel->fresh;
}

struct burial {
	struct kernels *k;
	bool (*gone)(uint32_t serial, void *arg);
	void *arg;
};

static bool bury_cell(const struct kernel_cell *cell, void *arg)
{
	struct burial *b = arg;
	struct cell_key id = { .handle = cell->handle, .serial = cell->serial };

	if (!b->gone(cell->serial, b->arg))
		return false;
	hash_drop(b->k->counts, &id);
	return true;
}

void kernels_bury(struct kernels *k, struct capture *capture,
		  bool (*gone)(uint32_t serial, void *arg), void *arg)
{
	struct burial b = { k, gone, arg };

	capture_each_kernel(capture, bury_cell, &b);
}

_Static_assert(offsetof(struct handle_key, pid) == offsetof(struct site_key, pid), "is_of");

void kernels_gone(struct kernels *k, uint32_t pid)
{
	hash_each(k->heard, is_of, &pid);
	hash_each(k->sites, is_of, &pid);
	hash_each(k->known, is_done, &pid);
}
