// SPDX-License-Identifier: Apache-2.0
/*
 * The notes hold addresses of link time and the address that .stapsdt.base had then; prelink moves
 * that section but does not know the notes, so the difference is added to what they say.
 */
#include "capture/usdt.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/elf_file.h"

#define NOTES_BYTES_MAX (1ull << 20)
#define NT_STAPSDT 3
#define BASE_SIZE_MAX 8 /* .stapsdt.base has one byte */

/* Where the notes are, and what they refer to. */
struct sections {
	struct extent notes; /* size 0: none */
	uint64_t base;
	bool has_base;
};

struct wanted {
	const char *provider, *name;
	struct usdt_site *sites;
	size_t n, cap;
};

struct desc {
	uint64_t location, base, semaphore;
};

static int read_section(struct elf *e, uint64_t i, Elf64_Shdr *ret)
{
	return elf_read(e, e->head.e_shoff + i * sizeof(*ret), ret, sizeof(*ret));
}

/* The section that has the names of all sections. */
static int names_section(struct elf *e, uint64_t n, struct extent *ret)
{
	uint64_t index = e->head.e_shstrndx;
	Elf64_Shdr s;
	int err = 0;

	if (index == SHN_XINDEX) {
		err = read_section(e, 0, &s);
		if (err)
			return err;
		index = s.sh_link;
	}
	if (index >= n)
		return fail(-EBADMSG, "names in section %llu", (unsigned long long)index);
	err = read_section(e, index, &s);
	if (err)
		return err;
	if (s.sh_type != SHT_STRTAB || s.sh_offset > e->size || s.sh_size > e->size - s.sh_offset)
		return fail(-EBADMSG, "no names of sections");
	*ret = (struct extent){ s.sh_offset, s.sh_size };
	return 0;
}

static int has_name(struct elf *e, const struct extent *names, const Elf64_Shdr *s,
		    const char *name, bool *ret)
{
	char got[32];
	size_t len = strlen(name) + 1;
	int err;

	*ret = false;
	if (s->sh_name > names->size || len > names->size - s->sh_name)
		return 0;
	err = elf_read(e, names->offset + s->sh_name, got, len);
	if (!err)
		*ret = !memcmp(got, name, len);
	return err;
}

static int look_at(struct elf *e, const struct extent *names, const Elf64_Shdr *s,
		   struct sections *ret)
{
	bool same = false;
	int err = 0;

	if (s->sh_type == SHT_NOTE && !ret->notes.size) {
		err = has_name(e, names, s, ".note.stapsdt", &same);
		if (same)
			ret->notes = (struct extent){ s->sh_offset, s->sh_size };
	} else if (s->sh_type == SHT_PROGBITS && s->sh_size <= BASE_SIZE_MAX && !ret->has_base) {
		err = has_name(e, names, s, ".stapsdt.base", &same);
		if (same) {
			ret->base = s->sh_addr;
			ret->has_base = true;
		}
	}
	return err;
}

static int find_sections(struct elf *e, struct sections *ret)
{
	const size_t step = ARRAY_LEN(e->buf.shdr);
	struct extent names = { 0, 0 };
	uint64_t n;
	int err;

	err = elf_sections(e, &n);
	if (err || !n || e->head.e_shstrndx == SHN_UNDEF)
		return err;
	err = names_section(e, n, &names);
	for (uint64_t at = 0; !err && at < n; at += step) {
		size_t batch = (size_t)min_u64(step, n - at);

		err = elf_read(e, e->head.e_shoff + at * sizeof(Elf64_Shdr), e->buf.shdr,
			       batch * sizeof(Elf64_Shdr));
		for (size_t i = 0; !err && i < batch; i++)
			err = look_at(e, &names, &e->buf.shdr[i], ret);
	}
	return err;
}

/* Is this the string at *at, which ends inside len bytes? Then *at is moved behind it. */
static bool take_string(const char **at, size_t *len, const char *want)
{
	size_t n = strlen(want) + 1;

	if (n > *len || memcmp(*at, want, n) != 0)
		return false;
	*at += n;
	*len -= n;
	return true;
}

static int add_site(const struct elf *e, const struct sections *s, const struct desc *d,
		    struct wanted *w)
{
	uint64_t moved = s->has_base ? s->base - d->base : 0;
	struct usdt_site site = { 0, 0 };
	struct extent at;

	if (!elf_at(e, d->location + moved, true, &at))
		return 0;
	site.offset = at.offset;
	if (d->semaphore) {
		if (!elf_at(e, d->semaphore + moved, false, &at) || at.size < 2 || !at.offset)
			return 0; /* it could never be turned on */
		site.semaphore = at.offset;
	}
	for (size_t i = 0; i < w->n; i++) {
		if (w->sites[i].offset == site.offset)
			return 0;
	}
	if (w->n == w->cap)
		return fail(-E2BIG, "probe %s:%s is at more than %zu places", w->provider, w->name,
			    w->cap);
	w->sites[w->n++] = site;
	return 0;
}

/* location, base and semaphore, then provider, name and arguments, each ending in NUL. */
static int take_note(const struct elf *e, const struct sections *s, const char *text, size_t len,
		     struct wanted *w)
{
	struct desc d;

	if (len < sizeof(d))
		return 0;
	memcpy(&d, text, sizeof(d));
	text += sizeof(d);
	len -= sizeof(d);
	if (!take_string(&text, &len, w->provider) || !take_string(&text, &len, w->name))
		return 0;
	return add_site(e, s, &d, w);
}

static int take_notes(const struct elf *e, const struct sections *s, const char *buf, size_t len,
		      struct wanted *w)
{
	static const char owner[] = "stapsdt";
	size_t at = 0;

	while (len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t desc, end;
		int err = 0;

		memcpy(&note, buf + at, sizeof(note));
		desc = at + sizeof(note) + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		end = desc + ((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (desc > len || note.n_descsz > len - desc)
			break;
		if (note.n_type == NT_STAPSDT && note.n_namesz == sizeof(owner) &&
		    !memcmp(buf + at + sizeof(note), owner, sizeof(owner)))
			err = take_note(e, s, buf + desc, note.n_descsz, w);
		if (err)
			return err;
		if (end > len)
			break;
		at = (size_t)end;
	}
	return 0;
}

int usdt_find(int fd, const char *provider, const char *name, struct usdt_site *sites, size_t cap)
{
	struct wanted w = { .provider = provider, .name = name, .sites = sites, .cap = cap };
	struct elf *e = xcalloc(1, sizeof(*e));
	struct sections s = { .base = 0 };
	char *buf = NULL;
	int err;

	err = elf_init(e, fd);
	if (!err)
		err = find_sections(e, &s);
	if (err || !s.notes.size)
		goto out;
	if (s.notes.size > NOTES_BYTES_MAX) {
		err = fail(-E2BIG, "notes of %llu bytes", (unsigned long long)s.notes.size);
		goto out;
	}
	buf = xcalloc(1, (size_t)s.notes.size);
	err = elf_read(e, s.notes.offset, buf, (size_t)s.notes.size);
	if (!err)
		err = take_notes(e, &s, buf, (size_t)s.notes.size, &w);
out:
	free(buf);
	free(e);
	return err ? err : (int)w.n;
}
