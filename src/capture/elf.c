// SPDX-License-Identifier: Apache-2.0
/*
 * Finds functions by name. The names are looked for in the string table first, in one sequential
 * scan, and only then symbols that point at one of the places found: both tables are read once,
 * front to back, through one buffer, however large the file says they are.
 */
#include "capture/elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/elf_file.h"

#define NAMES_MAX 1024
#define NAME_LEN_MAX 256
#define HIT_SLOTS 8192
#define HITS_MAX (HIT_SLOTS / 2)
#define NOTE_BYTES_MAX CHUNK
#define ID_MAX 64
#define NONE UINT16_MAX

struct want {
	const char *name;
	size_t len;
	uint16_t next; /* another name that ends in the same byte */
	struct elf_func func;
};

/* A place in the string table where one of our names begins. */
struct hit {
	uint32_t pos;
	uint16_t want; /* NONE: free slot */
};

struct search {
	struct want *want;
	size_t n, shortest; /* shortest: name, in bytes; at least 1 */
	int found;
	uint16_t by_last[256];
	struct hit hits[HIT_SLOTS];
	size_t n_hits;
	char text[NAME_LEN_MAX + CHUNK]; /* the window on the string table, with its recent past */
};

static struct hit *hit_slot(struct search *s, uint32_t pos)
{
	size_t i = (pos * 2654435761u) % HIT_SLOTS;

	while (s->hits[i].want != NONE && s->hits[i].pos != pos)
		i = (i + 1) % HIT_SLOTS;
	return &s->hits[i];
}

static int add_hit(struct search *s, uint64_t pos, uint16_t want)
{
	struct hit *hit;

	if (s->n_hits == HITS_MAX)
		return fail(-E2BIG, "one of the names is there %d times", HITS_MAX);
	hit = hit_slot(s, (uint32_t)pos);
	if (hit->want == NONE) {
		*hit = (struct hit){ (uint32_t)pos, want };
		s->n_hits++;
	}
	return 0;
}

/*
 * A string of len bytes ends at text[end], which is position pos of the table. Linkers share the
 * tails of strings, so a name may begin in the middle of one.
 */
static int match_end(struct search *s, size_t end, uint64_t len, uint64_t pos)
{
	uint16_t i;

	if (len < s->shortest)
		return 0;
	for (i = s->by_last[(unsigned char)s->text[end - 1]]; i != NONE; i = s->want[i].next) {
		const struct want *w = &s->want[i];
		int err;

		if (w->func.found || w->len > len ||
		    memcmp(s->text + end - w->len, w->name, w->len) != 0)
			continue;
		err = add_hit(s, pos - w->len, i);
		if (err)
			return err;
	}
	return 0;
}

static int scan_strings(struct elf *e, struct search *s, const struct extent *strings)
{
	uint64_t start = 0; /* of the string we are in */
	size_t past = 0;

	for (uint64_t at = 0; at < strings->size;) {
		size_t batch = (size_t)min_u64(CHUNK, strings->size - at);
		char *fresh = s->text + past, *stop = fresh + batch, *nul = fresh;
		int err = elf_read(e, strings->offset + at, fresh, batch);

		for (; !err && (nul = memchr(nul, 0, (size_t)(stop - nul))); nul++) {
			uint64_t pos = at + (uint64_t)(nul - fresh);

			err = match_end(s, (size_t)(nul - s->text), pos - start, pos);
			start = pos + 1;
		}
		if (err)
			return err;
		at += batch;
		batch += past;
		past = (size_t)min_u64(batch, NAME_LEN_MAX);
		memmove(s->text, s->text + batch - past, past);
	}
	return 0;
}

static void take_symbol(const struct elf *e, struct search *s, const Elf64_Sym *sym)
{
	const struct hit *hit;
	struct elf_func *func;
	struct extent at;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
		return;
	hit = hit_slot(s, sym->st_name);
	if (hit->want == NONE)
		return;
	func = &s->want[hit->want].func;
	if (func->found || !elf_at(e, sym->st_value, true, &at))
		return;
	*func = (struct elf_func){ at.offset, min_u64(sym->st_size, at.size), true };
	s->found++;
}

static int search_symtab(struct elf *e, struct search *s, const struct symtab *t)
{
	const size_t step = ARRAY_LEN(e->buf.sym);
	uint64_t n = t->syms.size / sizeof(Elf64_Sym);
	int err;

	err = elf_symtab_check(e, t);
	if (err)
		return err;
	for (size_t i = 0; i < HIT_SLOTS; i++)
		s->hits[i].want = NONE;
	s->n_hits = 0;
	err = scan_strings(e, s, &t->strings);

	for (uint64_t at = 0; !err && s->n_hits && at < n; at += step) {
		size_t batch = (size_t)min_u64(step, n - at);

		err = elf_read(e, t->syms.offset + at * sizeof(Elf64_Sym), e->buf.sym,
			       batch * sizeof(Elf64_Sym));
		for (size_t i = 0; !err && i < batch; i++)
			take_symbol(e, s, &e->buf.sym[i]);
	}
	return err;
}

static int search(struct elf *e, struct search *s)
{
	struct symtab dynsym, symtab;
	int err;

	err = elf_symtabs(e, &dynsym, &symtab);
	if (!err && dynsym.syms.size)
		err = search_symtab(e, s, &dynsym);
	if (err || !symtab.syms.size || (size_t)s->found == s->n)
		return err;
	err = search_symtab(e, s, &symtab);
	/* .symtab is a bonus: one that is broken or too large does not cost us the exports. */
	return s->found ? 0 : err;
}

static int search_init(struct search *s, const char *const names[], size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(s->by_last); i++)
		s->by_last[i] = NONE;
	s->n = n;
	s->shortest = NAME_LEN_MAX;
	s->want = xcalloc(n + 1, sizeof(*s->want));
	for (size_t i = 0; i < n; i++) {
		struct want *w = &s->want[i];
		uint16_t *list;

		w->name = names[i];
		w->len = strlen(names[i]);
		if (!w->len || w->len > NAME_LEN_MAX)
			return fail(-EINVAL, "a name of %zu bytes", w->len);
		s->shortest = (size_t)min_u64(s->shortest, w->len);
		list = &s->by_last[(unsigned char)names[i][w->len - 1]];
		w->next = *list;
		*list = (uint16_t)i;
	}
	return 0;
}

int elf_find(int fd, const char *const names[], size_t n, struct elf_func ret[])
{
	struct search *s = NULL;
	struct elf *e = NULL;
	int err;

	if (n > NAMES_MAX)
		return fail(-EINVAL, "%zu names at once", n);
	s = xcalloc(1, sizeof(*s));
	e = xcalloc(1, sizeof(*e));
	err = search_init(s, names, n);
	if (!err)
		err = elf_init(e, fd);
	if (!err)
		err = search(e, s);
	for (size_t i = 0; !err && i < n; i++)
		ret[i] = s->want[i].func;
	if (!err)
		err = s->found;
	free(s->want);
	free(s);
	free(e);
	return err;
}

/* The build id among the notes in buf[0..len): 0 bytes when it is not there. */
static size_t note_id(const char *buf, size_t len, const char **ret)
{
	size_t at = 0;

	while (len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t desc, end;

		memcpy(&note, buf + at, sizeof(note));
		desc = at + sizeof(note) + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		end = desc + ((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (desc > len || note.n_descsz > len - desc)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(buf + at + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*ret = buf + desc;
			return note.n_descsz;
		}
		if (end > len)
			break;
		at = (size_t)end;
	}
	return 0;
}

static int build_id(struct elf *e, char *dst, size_t cap)
{
	for (size_t i = 0; i < e->n_notes; i++) {
		size_t len = (size_t)min_u64(e->notes[i].size, NOTE_BYTES_MAX), id_len;
		const char *id = NULL;
		int err = elf_read(e, e->notes[i].offset, e->buf.bytes, len);

		if (err)
			return err;
		id_len = note_id(e->buf.bytes, len, &id);
		if (!id_len)
			continue;
		if (id_len > ID_MAX || id_len * 2 >= cap)
			return fail(-E2BIG, "build id of %zu bytes", id_len);
		for (size_t k = 0; k < id_len; k++)
			snprintf(dst + 2 * k, 3, "%02x", (unsigned char)id[k]);
		return 0;
	}
	return 0;
}

int elf_build_id(int fd, char *dst, size_t cap)
{
	struct elf *e;
	int err;

	if (!cap)
		return fail(-EINVAL, "no room for a build id");
	dst[0] = '\0';
	e = xcalloc(1, sizeof(*e));
	err = elf_init(e, fd);
	if (!err)
		err = build_id(e, dst, cap);
	free(e);
	return err;
}
