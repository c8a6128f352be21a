// SPDX-License-Identifier: Apache-2.0
/* One object or section of an ELF file by its name, and where the file was mapped. */
#include <stdbool.h>
#include <unistd.h>

#include "base/util.h"
#include "capture/elf_file.h"

#define CHAIN_MAX 4096 /* symbols of one bucket */
#define NAMES_MAX 65536 /* names that a slow search reads */
#define DYNAMIC_MAX 4096
#define NAME_CAP 64

/* Where the dynamic linker looks. */
struct exports {
	struct extent syms, strings, hash; /* from there to the end of its segment */
	uint32_t buckets, first, bloom;
};

static bool find_exports(struct elf *e, struct exports *ret)
{
	size_t n = (size_t)min_u64(e->dynamic.size / sizeof(Elf64_Dyn), DYNAMIC_MAX);
	uint64_t syms = 0, strings = 0, hash = 0;
	uint32_t head[4]; /* buckets, first hashed symbol, bloom words, bloom shift */

	if (!n || elf_read(e, e->dynamic.offset, e->buf.dyn, n * sizeof(Elf64_Dyn)))
		return false;
	for (size_t i = 0; i < n && e->buf.dyn[i].d_tag != DT_NULL; i++) {
		const Elf64_Dyn *d = &e->buf.dyn[i];

		if (d->d_tag == DT_SYMTAB)
			syms = d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			strings = d->d_un.d_ptr;
		else if (d->d_tag == DT_GNU_HASH)
			hash = d->d_un.d_ptr;
	}
	if (!hash || !elf_at(e, syms, false, &ret->syms) ||
	    !elf_at(e, strings, false, &ret->strings) || !elf_at(e, hash, false, &ret->hash) ||
	    ret->hash.size < sizeof(head) || elf_read(e, ret->hash.offset, head, sizeof(head)))
		return false;
	ret->buckets = head[0];
	ret->first = head[1];
	ret->bloom = head[2];
	return ret->buckets != 0;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/* A 32-bit word of the hash table, which is as long as its segment at most. */
static bool hash_word(struct elf *e, const struct exports *x, uint64_t at, uint32_t *ret)
{
	return at <= x->hash.size && x->hash.size - at >= sizeof(*ret) &&
	       !elf_read(e, x->hash.offset + at, ret, sizeof(*ret));
}

static bool has_name(struct elf *e, const struct extent *strings, uint64_t at, const char *name)
{
	size_t len = strlen(name) + 1;
	char got[NAME_CAP];

	return len <= sizeof(got) && at <= strings->size && len <= strings->size - at &&
	       !elf_read(e, strings->offset + at, got, len) && !memcmp(got, name, len);
}

static bool is_object(const Elf64_Sym *sym)
{
	return ELF64_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_shndx != SHN_UNDEF;
}

/* False in *ret_hashed: there is no such table. */
static bool find_export(struct elf *e, const char *name, bool *ret_hashed, Elf64_Sym *ret)
{
	uint32_t hash = gnu_hash(name), index, word;
	uint64_t buckets, chains;
	struct exports x;

	*ret_hashed = find_exports(e, &x);
	if (!*ret_hashed)
		return false;
	buckets = 16 + x.bloom * 8ull;
	chains = buckets + x.buckets * 4ull;
	if (!hash_word(e, &x, buckets + hash % x.buckets * 4ull, &index) || index < x.first)
		return false;
	for (int i = 0; i < CHAIN_MAX; i++, index++) {
		uint64_t at = index * (uint64_t)sizeof(*ret);

		if (!hash_word(e, &x, chains + (index - x.first) * 4ull, &word))
			return false;
		if ((word | 1) == (hash | 1) && at <= x.syms.size &&
		    x.syms.size - at >= sizeof(*ret) &&
		    !elf_read(e, x.syms.offset + at, ret, sizeof(*ret)) && is_object(ret) &&
		    has_name(e, &x.strings, ret->st_name, name))
			return true;
		if (word & 1 || index == UINT32_MAX)
			return false;
	}
	return false;
}

static bool find_in_table(struct elf *e, const struct symtab *t, const char *name, Elf64_Sym *ret)
{
	const size_t step = ARRAY_LEN(e->buf.sym);
	uint64_t n = t->syms.size / sizeof(Elf64_Sym);
	int names = 0;

	if (elf_symtab_check(e, t))
		return false;
	for (uint64_t at = 0; at < n; at += step) {
		size_t batch = (size_t)min_u64(step, n - at);

		if (elf_read(e, t->syms.offset + at * sizeof(Elf64_Sym), e->buf.sym,
			     batch * sizeof(Elf64_Sym)))
			return false;
		for (size_t i = 0; i < batch; i++) {
			const Elf64_Sym *sym = &e->buf.sym[i];

			if (!is_object(sym))
				continue;
			if (has_name(e, &t->strings, sym->st_name, name)) {
				*ret = *sym;
				return true;
			}
			if (++names == NAMES_MAX)
				return false;
		}
	}
	return false;
}

bool elf_object(struct elf *e, const char *name, bool slowly, Elf64_Sym *ret)
{
	struct symtab dynsym, symtab;
	bool hashed;

	if (find_export(e, name, &hashed, ret))
		return true;
	if (!slowly || elf_symtabs(e, &dynsym, &symtab))
		return false;
	return (!hashed && find_in_table(e, &dynsym, name, ret)) ||
	       find_in_table(e, &symtab, name, ret);
}

bool elf_section(struct elf *e, const char *name, Elf64_Shdr *ret)
{
	const size_t step = ARRAY_LEN(e->buf.shdr);
	Elf64_Shdr names;
	struct extent text;
	uint64_t n;

	if (elf_sections(e, &n) || e->head.e_shstrndx >= n ||
	    elf_read(e, e->head.e_shoff + e->head.e_shstrndx * sizeof(names), &names,
		     sizeof(names)) ||
	    names.sh_offset > e->size || names.sh_size > e->size - names.sh_offset)
		return false;
	text = (struct extent){ names.sh_offset, names.sh_size };
	for (uint64_t at = 0; at < n; at += step) {
		size_t batch = (size_t)min_u64(step, n - at);

		if (elf_read(e, e->head.e_shoff + at * sizeof(names), e->buf.shdr,
			     batch * sizeof(names)))
			return false;
		for (size_t i = 0; i < batch; i++) {
			if (has_name(e, &text, e->buf.shdr[i].sh_name, name)) {
				*ret = e->buf.shdr[i];
				return true;
			}
		}
	}
	return false;
}

bool elf_bias(const struct elf *e, uint64_t start, uint64_t offset, uint64_t *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	/* A page of the file may be in two segments: the first one is mapped at the lower address. */
	for (size_t i = 0; i < e->n_loads; i++) {
		const struct load *l = &e->loads[i];
		uint64_t from = l->offset / page * page;

		if (offset < from || offset - from >= l->offset - from + l->size)
			continue;
		*ret = start - (l->addr - (l->offset - from)) - (offset - from);
		return true;
	}
	return false;
}
