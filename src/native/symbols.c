// SPDX-License-Identifier: Apache-2.0
/*
 * From addresses to symbols. A table of moderate size is sorted once into an index; a larger one is
 * read front to back for all addresses of a stack at once, and the answers are remembered.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/util.h"
#include "native/native_int.h"

#define TABLE_MAX (4u << 20) /* symbols */
#define INDEX_MAX 65536 /* functions in an index */
#define MINI_TEXT_MAX (4u << 20)
#define ANSWERS_MAX 8192 /* per file; then it starts anew */
#define ANSWERS_BYTES ((size_t)ANSWERS_MAX * 64) /* as large as they may grow */
#define ALIASES 4 /* names of one address that are looked at */
#define OVERLAPS 32 /* symbols before the nearest that may still cover an address */

/* The symbols that fit an address best: all of the same start. */
struct best {
	struct sym sym[ALIASES];
	int n;
};

static bool as_sym(const Elf64_Sym *raw, struct sym *ret)
{
	unsigned char type = ELF64_ST_TYPE(raw->st_info);

	if (raw->st_shndx == SHN_UNDEF || raw->st_shndx == SHN_ABS || !raw->st_name ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return false;
	*ret = (struct sym){ .addr = raw->st_value,
			     .name = raw->st_name,
			     .size = (uint32_t)min_u64(raw->st_size, (1u << 30) - 1) & 0x3fffffff,
			     .local = ELF64_ST_BIND(raw->st_info) == STB_LOCAL,
			     .untyped = type == STT_NOTYPE };
	return true;
}

static bool covers(const struct sym *s, const struct want *w)
{
	if (s->size)
		return w->addr >= s->addr && w->addr - s->addr < s->size;
	/* Written in assembly: reaches as far as its function's unwind information. */
	return s->addr <= w->addr && s->addr >= w->func_start;
}

/* A size is better than none, a type better than none, then the nearest start. */
static int compare(const struct sym *a, const struct sym *b)
{
	if (!a->size != !b->size)
		return a->size ? 1 : -1;
	if (a->untyped != b->untyped)
		return a->untyped ? -1 : 1;
	return a->addr > b->addr ? 1 : -(a->addr < b->addr);
}

/* One more name of the same address: those first in the string table are kept, in whatever order
 * they come, so that an index and a scan agree. */
static void add_alias(struct best *best, const struct sym *s)
{
	int last = 0;

	for (int i = 0; i < best->n; i++) {
		if (best->sym[i].name == s->name) {
			best->sym[i].local &= s->local;
			return;
		}
		if (best->sym[i].name > best->sym[last].name)
			last = i;
	}
	if (best->n < ALIASES)
		best->sym[best->n++] = *s;
	else if (s->name < best->sym[last].name)
		best->sym[last] = *s;
}

static void consider(struct best *best, const struct sym *s, const struct want *w)
{
	int order;

	if (!covers(s, w))
		return;
	order = best->n ? compare(s, &best->sym[0]) : 1;
	if (order > 0)
		best->n = 0;
	if (order >= 0)
		add_alias(best, s);
}

typedef bool (*sym_fn)(const Elf64_Sym *raw, void *arg);

static bool each_sym(struct native *n, const struct source *src, const struct extent *syms,
		     sym_fn fn, void *arg)
{
	const size_t step = ARRAY_LEN(n->elf.buf.sym);
	uint64_t count = min_u64(syms->size / sizeof(Elf64_Sym), TABLE_MAX);

	for (uint64_t at = 0; at < count; at += step) {
		size_t batch = (size_t)min_u64(step, count - at);

		if (!source_read(src, syms->offset + at * sizeof(Elf64_Sym), n->elf.buf.sym,
				 batch * sizeof(Elf64_Sym)))
			return false;
		for (size_t i = 0; i < batch; i++)
			if (!fn(&n->elf.buf.sym[i], arg))
				return false;
	}
	return true;
}

struct collecting {
	struct symbols *t;
	size_t cap;
};

static bool collect(const Elf64_Sym *raw, void *arg)
{
	struct collecting *c = arg;
	struct sym s;

	if (!as_sym(raw, &s))
		return true;
	if (c->t->n == INDEX_MAX)
		return false;
	if (c->t->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 512;
		c->t->index = xrealloc(c->t->index, c->cap, sizeof(s));
	}
	c->t->index[c->t->n++] = s;
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* No index where there are too many: the table is then read each time. */
static void make_index(struct native *n, struct image *im, const struct source *src,
		       struct symbols *t)
{
	struct collecting c = { t, 0 };

	t->indexed = true;
	if (!each_sym(n, src, &t->syms, collect, &c) || !t->n) {
		free(t->index);
		t->index = NULL;
		t->n = 0;
		return;
	}
	t->index = xrealloc(t->index, t->n, sizeof(*t->index));
	qsort(t->index, t->n, sizeof(*t->index), by_addr);
	im->bytes += t->n * sizeof(*t->index);
}

static void search_index(const struct symbols *t, const struct want *w, struct best *best)
{
	size_t low = 0, high = t->n, floor;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->index[middle].addr <= w->addr)
			low = middle + 1;
		else
			high = middle;
	}
	floor = low > OVERLAPS ? low - OVERLAPS : 0;
	while (low-- > floor)
		consider(best, &t->index[low], w);
}

struct streaming {
	struct want *want; /* by address */
	struct best *best;
	size_t n;
};

static bool stream(const Elf64_Sym *raw, void *arg)
{
	const struct streaming *x = arg;
	size_t low = 0, high = x->n;
	struct sym s;

	if (!as_sym(raw, &s))
		return true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->want[middle].addr < s.addr)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < x->n; low++) {
		const struct want *w = &x->want[low];

		if (s.size && w->addr - s.addr >= s.size)
			break; /* behind its end; the others are too */
		consider(&x->best[low], &s, w);
	}
	return true;
}

static const struct source *source_of(struct native *n, struct image *im, const struct symbols *t)
{
	if (t->from == FROM_FILE)
		return &im->own;
	return t->from == FROM_DEBUG && debug_reopen(n, im) ? &im->debug : NULL;
}

static bool symbol_text(const struct symbols *t, const struct source *src, uint32_t at, char *dst)
{
	uint64_t left;
	size_t len;

	if (at >= t->strings.size)
		return false;
	left = min_u64(t->strings.size - at, SYMBOL_CAP - 1);
	if (t->text)
		memcpy(dst, t->text + at, (size_t)left);
	else if (!src || !source_read(src, t->strings.offset + at, dst, (size_t)left))
		return false;
	dst[left] = '\0';
	len = strcspn(dst, "@"); /* foo@@VERSION */
	if (len)
		dst[len] = '\0';
	/* $x and .L: an assembler's marks, not names */
	return dst[0] && dst[0] != '$' && !starts_with(dst, ".L");
}

/* Of several names of one function, what its users write: exported, without underscores. */
static int awkwardness(const struct sym *s, const char *name)
{
	return (int)strspn(name, "_") * 2 + s->local;
}

static bool is_interpreter(const char *symbol)
{
	static const char loop[] = INTERPRETER_LOOP;
	const char *rest = symbol + sizeof(loop) - 1;

	return starts_with(symbol, loop) && (!*rest || *rest == '.');
}

static void name_best(struct native *n, const struct symbols *t, const struct source *src,
		      const struct best *best, struct want *w)
{
	char name[SYMBOL_CAP], chosen[SYMBOL_CAP] = "", plain[SYMBOL_CAP];
	int least = 0;

	for (int i = 0; i < best->n; i++) {
		int level;

		if (!symbol_text(t, src, best->sym[i].name, name))
			continue;
		level = awkwardness(&best->sym[i], name);
		if (!chosen[0] || level < least || (level == least && strcmp(name, chosen) < 0)) {
			str_copy(chosen, sizeof(chosen), name);
			least = level;
		}
	}
	if (!chosen[0])
		return;
	names_demangle(chosen, plain, sizeof(plain));
	w->answer.func = names_keep(&n->names, plain);
	w->answer.interpreter = is_interpreter(chosen);
}

/* Those of want[0..count) that have no name yet, from one table. */
static void ask_table(struct native *n, struct image *im, struct symbols *t, struct want *want,
		      size_t count)
{
	const struct source *src = source_of(n, im, t);
	struct best best[NATIVE_FRAMES] = { 0 };
	struct streaming x = { want, best, count };

	if (!t->indexed && src)
		make_index(n, im, src, t);
	if (t->index) {
		for (size_t i = 0; i < count; i++)
			search_index(t, &want[i], &best[i]);
	} else if (src) {
		(void)each_sym(n, src, &t->syms, stream, &x); /* what was found is found */
	}
	for (size_t i = 0; i < count; i++) {
		if (!want[i].answer.func[0])
			name_best(n, t, src, &best[i], &want[i]);
	}
}

static bool use_table(struct image *im, size_t slot, enum symbols_from from, uint64_t size,
		      const struct symtab *t)
{
	if (!t->syms.size || t->syms.offset > size || t->syms.size > size - t->syms.offset ||
	    t->strings.offset > size || t->strings.size > size - t->strings.offset)
		return false;
	im->symbols[slot] =
		(struct symbols){ .from = from, .syms = t->syms, .strings = t->strings };
	return true;
}

/* Symbols of the functions that .dynsym does not have, as distributions add them to stripped files. */
static bool open_mini(struct native *n, struct image *im)
{
	struct source src = { .fd = debug_unpack(n, im), .budget = &n->budget };
	struct symbols *t = &im->symbols[0];
	struct symtab dynsym, symtab;
	struct elf *e = &n->elf;
	bool ok = false;

	if (src.fd < 0)
		return false;
	memset(e, 0, offsetof(struct elf, buf));
	if (!elf_init_debug(e, src.fd) && !elf_symtabs(e, &dynsym, &symtab) &&
	    use_table(im, 0, FROM_MINI, e->size, &symtab) && t->strings.size <= MINI_TEXT_MAX) {
		src.size = e->size;
		t->text = xcalloc(1, (size_t)t->strings.size);
		ok = source_read(&src, t->strings.offset, t->text, (size_t)t->strings.size);
		if (ok)
			make_index(n, im, &src, t);
		im->bytes += (size_t)t->strings.size;
	}
	close(src.fd);
	if (!ok) {
		free(t->text);
		*t = (struct symbols){ 0 };
	}
	return ok;
}

void symbols_open(struct native *n, struct image *im, const char *module)
{
	struct symtab dynsym, symtab;
	struct elf *e = &n->elf;

	im->symbols_known = true;
	if (use_table(im, 0, FROM_FILE, im->own.size, &im->symtab))
		return;
	if (debug_open(n, im, module)) {
		memset(e, 0, offsetof(struct elf, buf));
		if (!elf_init_debug(e, im->debug.fd) && !elf_symtabs(e, &dynsym, &symtab) &&
		    use_table(im, 0, FROM_DEBUG, e->size, &symtab))
			return;
	}
	if (im->debugdata.size)
		(void)open_mini(n, im); /* a bonus */
	(void)use_table(im, 1, FROM_FILE, im->own.size, &im->dynsym); /* what else is there */
}

static int by_want(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void symbols_find(struct native *n, struct want *want, size_t count)
{
	struct image *im = want[0].image;

	if (!im->symbols_known)
		symbols_open(n, im, want[0].module);
	qsort(want, count, sizeof(*want), by_want);
	for (size_t i = 0; i < SYMBOLS_MAX_TABLES; i++) {
		if (im->symbols[i].from != FROM_NONE)
			ask_table(n, im, &im->symbols[i], want, count);
	}
	for (size_t i = 0; i < count; i++) {
		if (!want[i].answer.func[0] && cold_loop(&want[i]))
			want[i].answer = (struct answer){ INTERPRETER_LOOP ".cold", true };
	}
	if (im->answers && hash_count(im->answers) + count > ANSWERS_MAX) {
		hash_free(im->answers);
		im->answers = NULL;
		im->bytes -= ANSWERS_BYTES;
	}
	if (!im->answers) {
		im->answers = hash_new(sizeof(uint64_t), sizeof(struct answer));
		im->bytes += ANSWERS_BYTES;
	}
	/* "" too is an answer, unless it is for want of budget. */
	for (size_t i = 0; i < count && n->budget; i++)
		*(struct answer *)hash_put(im->answers, &want[i].addr) = want[i].answer;
}

/* ---- variables ---- */

struct searching {
	struct variable *variable;
	size_t n;
	const struct symbols *table;
	const struct source *src;
};

static bool match(const Elf64_Sym *raw, void *arg)
{
	const struct searching *x = arg;

	if (ELF64_ST_TYPE(raw->st_info) != STT_OBJECT || raw->st_size != sizeof(uint64_t) ||
	    raw->st_shndx == SHN_UNDEF)
		return true;
	for (size_t i = 0; i < x->n; i++) {
		struct variable *v = &x->variable[i];

		if (v->addr == raw->st_value && !v->symbol[0] &&
		    !symbol_text(x->table, x->src, raw->st_name, v->symbol))
			v->symbol[0] = '\0';
	}
	return true;
}

void symbols_variables(struct native *n, struct image *im, const char *module,
		       struct variable *variable, size_t count)
{
	struct searching x = { .variable = variable, .n = count };

	if (!im->symbols_known)
		symbols_open(n, im, module);
	for (size_t i = 0; i < SYMBOLS_MAX_TABLES; i++) {
		x.table = &im->symbols[i];
		x.src = x.table->from == FROM_NONE ? NULL : source_of(n, im, x.table);
		if (x.src)
			(void)each_sym(n, x.src, &x.table->syms, match, &x);
	}
}
