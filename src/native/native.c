// SPDX-License-Identifier: Apache-2.0
/* Unwinds copies of C stacks and names their frames. */
#include "native/native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/util.h"
#include "capture/elf.h"
#include "capture/maps.h"
#include "native/native_int.h"

struct native *native_new(void)
{
	struct native *n = xcalloc(1, sizeof(*n));

	n->debug_root = "/usr/lib/debug";
	names_init(&n->names);
	return n;
}

void native_free(struct native *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < IMAGES_MAX; i++)
		image_free(n->image[i]);
	procs_release(&n->procs);
	names_release(&n->names);
	free(n);
}

void native_forget(struct native *n, uint32_t pid)
{
	procs_forget(&n->procs, pid);
}

bool native_full(const struct native *n)
{
	return names_full(&n->names);
}

static void close_source(struct source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* The one that was not needed for longest; some image there must be. */
static size_t oldest_image(const struct native *n)
{
	size_t oldest = 0;

	for (size_t i = 1; i < IMAGES_MAX; i++) {
		if (n->image[i] &&
		    (!n->image[oldest] || n->image[i]->call < n->image[oldest]->call))
			oldest = i;
	}
	return oldest;
}

/* Files are let go, and the least recently used ones forgotten until the rest fits. */
static void end_call(struct native *n)
{
	size_t total = 0;

	for (size_t i = 0; i < IMAGES_MAX; i++) {
		if (!n->image[i])
			continue;
		close_source(&n->image[i]->own);
		close_source(&n->image[i]->debug);
		total += n->image[i]->bytes;
	}
	while (total > IMAGE_BYTES_MAX) {
		size_t oldest = oldest_image(n);

		total -= n->image[oldest]->bytes;
		image_free(n->image[oldest]);
		n->image[oldest] = NULL;
	}
}

static void begin_call(struct native *n)
{
	n->call++;
	n->budget = CALL_BYTES_MAX;
}

static bool identify(int fd, const struct map *m, struct identity *ret)
{
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 0)
		return false;
	ret->dev = m->dev;
	ret->inode = m->inode;
	ret->real_dev = st.st_dev;
	ret->real_inode = st.st_ino;
	ret->size = (uint64_t)st.st_size;
	ret->mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000ull + (uint64_t)st.st_mtim.tv_nsec;
	if (elf_build_id(fd, ret->build_id, sizeof(ret->build_id)))
		ret->build_id[0] = '\0';
	return true;
}

/* A free place; if need be, that of a file which no frame of this stack is in: it has fewer. */
static size_t place_for_image(struct native *n)
{
	size_t oldest;

	for (size_t i = 0; i < IMAGES_MAX; i++) {
		if (!n->image[i])
			return i;
	}
	oldest = oldest_image(n);
	image_free(n->image[oldest]);
	n->image[oldest] = NULL;
	return oldest;
}

_Static_assert(IMAGES_MAX > NATIVE_FRAMES, "all files of a stack are remembered at once");

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->real_dev == b->real_dev &&
	       a->real_inode == b->real_inode && a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       streq(a->build_id, b->build_id);
}

static struct image *same_image(struct native *n, const struct identity *id, size_t *ret_slot)
{
	for (size_t i = 0; i < IMAGES_MAX; i++) {
		if (n->image[i] && is_same(&n->image[i]->id, id)) {
			*ret_slot = i;
			return n->image[i];
		}
	}
	return NULL;
}

/* Take over fd. */
static struct image *take_image(struct native *n, struct map *m, int fd)
{
	struct identity id;
	struct image *im;
	size_t slot;

	if (!identify(fd, m, &id)) {
		close(fd);
		return NULL;
	}
	im = same_image(n, &id, &slot);
	if (im && im->own.fd >= 0) {
		close(fd); /* mapped twice, already open */
	} else if (im) {
		im->own.fd = fd;
	} else {
		slot = place_for_image(n);
		im = n->image[slot] = xcalloc(1, sizeof(*im));
		im->id = id;
		im->serial = ++n->serial;
		im->own = (struct source){ fd, id.size, &n->budget };
		im->debug.fd = -1;
		im->bytes = sizeof(*im);
		image_read_headers(im, &n->elf);
	}
	m->serial = im->serial;
	m->slot = (uint16_t)slot;
	return im;
}

/* Is what was opened still what was looked at? A process may map something else there. */
static bool unchanged(int fd, const struct identity *id)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_dev == id->real_dev && st.st_ino == id->real_inode &&
	       (uint64_t)st.st_size == id->size;
}

static int open_map(uint32_t pid, const struct map *m)
{
	struct map_line line = { .start = m->start, .end = m->end };

	return maps_open((int)pid, &line);
}

/* The image of a mapping; its file is open if it still can be. */
static struct image *image_of(struct native *n, uint32_t pid, struct map *m)
{
	struct image *im = m->serial ? n->image[m->slot] : NULL;
	int fd;

	if (im && im->serial != m->serial)
		im = NULL; /* evicted meanwhile */
	if (!im) {
		fd = open_map(pid, m);
		im = fd < 0 ? NULL : take_image(n, m, fd);
	} else if (im->call != n->call) {
		fd = open_map(pid, m);
		if (fd >= 0 && !unchanged(fd, &im->id)) {
			close(fd);
			m->serial = 0;
			return NULL;
		}
		im->own.fd = fd < 0 ? -1 : fd;
	}
	if (im)
		im->call = n->call;
	return im;
}

/* Where an address is: in which file, and at which of its own addresses. */
static bool locate(struct native *n, struct proc *proc, struct map *m, uint64_t addr,
		   struct want *ret)
{
	*ret = (struct want){ .answer = { "", false } };
	if (!m || m->kind != IN_FILE)
		return false;
	ret->module = procs_path(proc, m, &n->names);
	ret->image = image_of(n, proc->pid, m);
	return ret->image && image_addr(ret->image, addr - m->start + m->offset, &ret->addr);
}

static bool answered(struct want *w)
{
	const struct answer *a = w->image->answers ? hash_get(w->image->answers, &w->addr) : NULL;

	if (a)
		w->answer = *a;
	return a;
}

/* Names for all frames, a file at a time: a large table is then read once for all of them. */
static void name_frames(struct native *n, struct native_stack *s, const struct want *want)
{
	struct want ask[NATIVE_FRAMES];
	bool done[NATIVE_FRAMES] = { false };

	for (int i = 0; i < s->frames; i++) {
		size_t count = 0;

		for (int k = i; k < s->frames; k++) {
			if (done[k] || !want[k].image || want[k].image != want[i].image)
				continue;
			done[k] = true;
			ask[count] = want[k];
			if (!answered(&ask[count]))
				count++;
		}
		if (count)
			symbols_find(n, ask, count);
	}
	for (int i = 0; i < s->frames; i++) {
		struct want w = want[i];

		if (w.image && answered(&w)) {
			s->frame[i].func = w.answer.func;
			s->frame[i].interpreter = w.answer.interpreter;
		}
	}
}

static void start_state(const struct c_stack *c, struct cfi_state *ret)
{
	memset(ret, 0, sizeof(*ret));
#if defined(__aarch64__)
	ret->reg[29] = c->bp;
	ret->reg[30] = c->bx;
	ret->known = 1ull << 29 | 1ull << 30;
#else
	static const uint8_t regs[] = { 6, 3, 12, 13, 14, 15 };
	const uint64_t values[] = { c->bp, c->bx, c->r12, c->r13, c->r14, c->r15 };

	for (size_t i = 0; i < ARRAY_LEN(regs); i++) {
		ret->reg[regs[i]] = values[i];
		ret->known |= 1ull << regs[i];
	}
#endif
	ret->reg[CFI_SP] = c->sp;
	ret->known |= 1ull << CFI_SP;
}

struct unwinding {
	struct native *n;
	const struct c_stack *c;
	struct proc *proc;
	struct cfi_memory memory;
	struct cfi_state state;
	uint64_t ip;
	bool behind_call; /* ip is a return address: the call is before it */
	size_t returns; /* how many of c->returns are used up */
};

/*
 * A function with a return probe returns to the probe's page first. Where no such page is known, an
 * address that is in no mapping at all is taken for it.
 */
static struct map *real_return(struct unwinding *u)
{
	uint64_t back = u->behind_call ? 1 : 0;

	for (;;) {
		struct map *m = procs_find(u->proc, u->ip - back);
		bool probe = m ? m->kind == IN_UPROBES : !u->proc->has_uprobes;

		if (!m && u->proc->has_uprobes) { /* at the very start of that page */
			m = procs_find(u->proc, u->ip);
			probe = m && m->kind == IN_UPROBES;
			m = probe ? m : NULL;
		}
		if (!probe || u->returns == C_STACK_RETURNS || !u->c->returns[u->returns])
			return m;
		u->ip = u->c->returns[u->returns++];
	}
}

static void note_function(struct want *w, const struct fde *f)
{
	struct cfi_row row;

	w->func_start = f->start;
	w->func_size = f->size;
	w->set_up = cfi_row_at(f, f->start, &row) && row.cfa.kind == CFI_VAL_OFFSET &&
		    (row.cfa.reg != CFI_SP || row.cfa.offset != 8);
}

enum step { STEP_ON, STEP_END, STEP_LOST };

/* From the frame in u to its caller; fills in what the frame's own FDE tells. */
static enum step step(struct unwinding *u, struct want *w, struct native_frame *f)
{
	uint64_t full = C_STACK_BYTES;
	struct cfi_caller caller;
	struct cfi_row row;
	struct fde fde;

	if (!eh_find(w->image, w->addr, &u->n->eh, &fde))
		return STEP_LOST;
	note_function(w, &fde);
	if (!cfi_row_at(&fde, w->addr, &row))
		return STEP_LOST;
	if (!cfi_step(&fde, &row, &u->state, &u->memory, &caller)) {
		f->cfa = caller.cfa > f->sp ? caller.cfa : f->sp;
		if (!u->memory.outside || u->c->bytes < full || (caller.cfa && caller.cfa < f->sp))
			return STEP_LOST;
		return STEP_END;
	}
	f->cfa = caller.cfa;
	if (caller.end || !caller.ip)
		return STEP_END;
	/* A stack is left upwards; a signal's may be another one altogether. */
	if (!fde.cie.signal && caller.state.reg[CFI_SP] <= f->sp)
		return STEP_LOST;
	u->state = caller.state;
	u->ip = caller.ip;
	u->behind_call = !fde.cie.signal;
	return STEP_ON;
}

static void unwind(struct unwinding *u, struct native_stack *s, struct want *want)
{
	enum step next = STEP_ON;

	while (next == STEP_ON && s->frames < NATIVE_FRAMES) {
		struct native_frame *f = &s->frame[s->frames];
		struct want *w = &want[s->frames];
		struct map *m = real_return(u);

		*f = (struct native_frame){ .ip = u->ip - (u->behind_call ? 1 : 0),
					    .sp = u->state.reg[CFI_SP],
					    .cfa = u->state.reg[CFI_SP],
					    .func = "",
					    .module = "" };
		s->frames++;
		if (!locate(u->n, u->proc, m, f->ip, w)) {
			if (w->module)
				f->module = w->module;
			w->image = NULL;
			return;
		}
		f->module = w->module;
		w->func_start = w->addr;
		next = step(u, w, f);
	}
	s->complete = next == STEP_END;
}

bool native_unwind(struct native *n, const struct c_stack *c, struct native_stack *ret)
{
	struct unwinding u = { .n = n, .c = c, .ip = c->ip, .behind_call = true };
	struct want want[NATIVE_FRAMES] = { 0 };

	memset(ret, 0, sizeof(*ret));
	u.proc = procs_get(&n->procs, c->pid);
	if (!u.proc || !c->ip)
		return false;
	begin_call(n);
	u.memory = (struct cfi_memory){ c->data, c->sp, min_u64(c->bytes, C_STACK_BYTES), false };
	start_state(c, &u.state);
	unwind(&u, ret, want);
	name_frames(n, ret, want);
	end_call(n);
	return want[0].image;
}

bool native_symbol(struct native *n, uint32_t pid, uint64_t addr, const char **ret_func,
		   const char **ret_module)
{
	struct proc *proc = procs_get(&n->procs, pid);
	struct want w = { 0 };
	struct fde fde;

	*ret_func = *ret_module = "";
	if (!proc)
		return false;
	begin_call(n);
	if (locate(n, proc, procs_find(proc, addr), addr, &w) && !answered(&w)) {
		w.func_start = w.addr;
		if (eh_find(w.image, w.addr, &n->eh, &fde))
			note_function(&w, &fde);
		symbols_find(n, &w, 1);
	}
	if (w.module) {
		*ret_module = w.module;
		*ret_func = w.answer.func;
	}
	end_call(n);
	return **ret_func;
}

/* All of one file among name[first..count), which are at most NATIVE_FRAMES. */
static void name_file(struct native *n, struct want *want, struct native_name *name, size_t first,
		      size_t count)
{
	struct want ask[NATIVE_FRAMES];
	const struct image *im = want[first].image;
	size_t asked = 0;
	struct fde fde;

	for (size_t i = first; i < count; i++) {
		struct want *w = &want[i];

		if (w->image != im || answered(w))
			continue;
		w->func_start = w->addr;
		if (eh_find(w->image, w->addr, &n->eh, &fde))
			note_function(w, &fde);
		ask[asked++] = *w;
	}
	if (asked)
		symbols_find(n, ask, asked);
	for (size_t i = first; i < count; i++) {
		if (want[i].image != im)
			continue;
		if (answered(&want[i]))
			name[i].func = want[i].answer.func;
		if (i != first)
			want[i].image = NULL; /* done */
	}
	want[first].image = NULL;
}

void native_symbols(struct native *n, uint32_t pid, struct native_name *name, size_t count)
{
	struct proc *proc = procs_get(&n->procs, pid);
	struct want want[NATIVE_FRAMES];

	count = min_u64(count, NATIVE_FRAMES);
	for (size_t i = 0; i < count; i++)
		name[i].func = name[i].module = "";
	if (!proc)
		return;
	begin_call(n);
	for (size_t i = 0; i < count; i++) {
		struct map *m = procs_find(proc, name[i].addr);

		if (!locate(n, proc, m, name[i].addr, &want[i]))
			want[i].image = NULL;
		if (want[i].module)
			name[i].module = want[i].module;
	}
	for (size_t i = 0; i < count; i++)
		if (want[i].image)
			name_file(n, want, name, i, count);
	end_call(n);
}

/* All stubs of one file among stub[first..count); those that are done have no image any more. */
static void name_stubs(struct native *n, struct want *want, struct native_stub *stub, size_t first,
		       size_t count)
{
	struct variable *variable = xcalloc(count, sizeof(*variable));
	struct image *im = want[first].image;
	size_t of[NATIVE_FRAMES], asked = 0;
	char plain[SYMBOL_CAP];

	for (size_t i = first; i < count; i++) {
		if (want[i].image != im)
			continue;
		variable[asked].addr = want[i].addr;
		of[asked++] = i;
		want[i].image = NULL; /* done */
	}
	symbols_variables(n, im, want[first].module, variable, asked);
	for (size_t i = 0; i < asked; i++)
		if (stub_kernel(variable[i].symbol, plain, sizeof(plain)))
			stub[of[i]].func = names_keep(&n->names, plain);
	free(variable);
}

void native_stubs(struct native *n, uint32_t pid, struct native_stub *stub, size_t count)
{
	struct proc *proc = procs_get(&n->procs, pid);
	struct want want[NATIVE_FRAMES] = { 0 };

	count = min_u64(count, NATIVE_FRAMES);
	for (size_t i = 0; i < count; i++)
		stub[i].func = "";
	if (!proc)
		return;
	begin_call(n);
	for (size_t i = 0; i < count; i++) {
		uint64_t site = stub[i].site, variable;

		if (!stub_variable(pid, &stub[i], &variable) ||
		    !locate(n, proc, procs_find(proc, site), site, &want[i]))
			want[i].image = NULL;
		else
			want[i].addr += variable - site; /* of the same file: one load for both */
	}
	for (size_t i = 0; i < count; i++)
		if (want[i].image)
			name_stubs(n, want, stub, i, count);
	end_call(n);
}

const char *native_module(struct native *n, uint32_t pid, uint64_t addr)
{
	struct proc *proc = procs_get(&n->procs, pid);
	struct map *m = proc ? procs_find(proc, addr) : NULL;

	return m && m->kind == IN_FILE ? procs_path(proc, m, &n->names) : "";
}

void native_demangle(const char *symbol, char *dst, size_t cap)
{
	names_demangle(symbol, dst, cap);
}
