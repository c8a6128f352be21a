// SPDX-License-Identifier: Apache-2.0
/* The parts of an ELF64 file that lead to its symbols: header, segments, sections, PT_DYNAMIC. */
#include "capture/elf_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"

#define FILE_MAX (4ull << 30)
#define STRINGS_MAX (128ull << 20)
#define SYMBOLS_MAX (4ull << 20)
#define PHDRS_MAX 256
#define SHDRS_MAX 65536
#define DYNAMIC_MAX 4096

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are used as they are read");

int elf_read(struct elf *e, uint64_t offset, void *dst, size_t len)
{
	char *to = dst;

	if (offset > e->size || len > e->size - offset)
		return fail(-EBADMSG, "%zu bytes at offset %llu of a file of %llu", len,
			    (unsigned long long)offset, (unsigned long long)e->size);
	while (len) {
		ssize_t got = pread(e->fd, to, len, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(-errno, "read ELF file: %s", strerror(errno));
		if (!got)
			return fail(-EBADMSG, "the ELF file shrank while it was read");
		to += got;
		offset += (uint64_t)got;
		len -= (size_t)got;
	}
	return 0;
}

static int add_segment(struct elf *e, const Elf64_Phdr *p)
{
	if (p->p_type != PT_LOAD && p->p_type != PT_DYNAMIC && p->p_type != PT_NOTE)
		return 0;
	if (p->p_offset > e->size || p->p_filesz > e->size - p->p_offset ||
	    p->p_filesz > UINT64_MAX - p->p_vaddr)
		return fail(-EBADMSG, "a segment reaches beyond the end of the ELF file");

	if (p->p_type == PT_DYNAMIC) {
		e->dynamic = (struct extent){ p->p_offset, p->p_filesz };
	} else if (p->p_type == PT_NOTE) {
		if (e->n_notes < NOTES_MAX)
			e->notes[e->n_notes++] = (struct extent){ p->p_offset, p->p_filesz };
	} else if (e->n_loads == LOADS_MAX) {
		return fail(-E2BIG, "more than %d loaded segments", LOADS_MAX);
	} else {
		e->loads[e->n_loads++] =
			(struct load){ p->p_vaddr, p->p_offset, p->p_filesz, p->p_flags & PF_X };
	}
	return 0;
}

static int read_head(struct elf *e)
{
	const Elf64_Ehdr *h = &e->head;
	struct stat st;
	int err;

	if (fstat(e->fd, &st))
		return fail(-errno, "stat ELF file: %s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(*h))
		return fail(-ENOEXEC, "not an ELF file");
	e->size = (uint64_t)st.st_size;
	if (e->size > FILE_MAX)
		return fail(-E2BIG, "ELF file of %llu bytes", (unsigned long long)e->size);

	err = elf_read(e, 0, &e->head, sizeof(e->head));
	if (err)
		return err;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    (h->e_type != ET_DYN && h->e_type != ET_EXEC && h->e_ident[EI_DATA] == ELFDATA2LSB))
		return fail(-ENOEXEC, "not a 64-bit ELF program or library");
	if (h->e_ident[EI_DATA] != ELFDATA2LSB)
		return fail(-ENOTSUP, "not a little-endian ELF file");
	if (h->e_machine != EM_X86_64 && h->e_machine != EM_AARCH64)
		return fail(-ENOTSUP, "ELF file for machine %u", h->e_machine);
	return 0;
}

int elf_init_debug(struct elf *e, int fd)
{
	e->fd = fd;
	return read_head(e);
}

int elf_init(struct elf *e, int fd)
{
	int err = elf_init_debug(e, fd);

	if (err)
		return err;
	if (e->head.e_phentsize != sizeof(Elf64_Phdr) || e->head.e_phnum > PHDRS_MAX)
		return fail(-EBADMSG, "%u program headers of %u bytes", e->head.e_phnum,
			    e->head.e_phentsize);
	err = elf_read(e, e->head.e_phoff, e->buf.phdr, e->head.e_phnum * sizeof(Elf64_Phdr));
	for (size_t i = 0; !err && i < e->head.e_phnum; i++)
		err = add_segment(e, &e->buf.phdr[i]);
	return err;
}

bool elf_at(const struct elf *e, uint64_t addr, bool exec, struct extent *ret)
{
	for (size_t i = 0; i < e->n_loads; i++) {
		const struct load *l = &e->loads[i];

		if ((exec && !l->exec) || addr < l->addr || addr - l->addr >= l->size)
			continue;
		*ret = (struct extent){ l->offset + (addr - l->addr), l->size - (addr - l->addr) };
		return true;
	}
	return false;
}

int elf_sections(struct elf *e, uint64_t *ret)
{
	uint64_t n = e->head.e_shnum;
	Elf64_Shdr first;
	int err;

	*ret = 0;
	if (!e->head.e_shoff || e->head.e_shentsize != sizeof(first) || e->head.e_shoff > e->size ||
	    sizeof(first) > e->size - e->head.e_shoff)
		return 0;
	if (!n) {
		err = elf_read(e, e->head.e_shoff, &first, sizeof(first));
		if (err)
			return err;
		n = first.sh_size;
	}
	if (n > SHDRS_MAX)
		return fail(-E2BIG, "%llu section headers", (unsigned long long)n);
	if (n * sizeof(first) <= e->size - e->head.e_shoff)
		*ret = n;
	return 0;
}

static int section_symtab(struct elf *e, uint64_t n_sections, const Elf64_Shdr *s,
			  struct symtab *ret)
{
	Elf64_Shdr names;
	int err;

	if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_link >= n_sections)
		return fail(-EBADMSG,
			    "symbol table with entries of %llu bytes, names in section %u",
			    (unsigned long long)s->sh_entsize, s->sh_link);
	err = elf_read(e, e->head.e_shoff + s->sh_link * sizeof(names), &names, sizeof(names));
	if (err)
		return err;
	if (names.sh_type != SHT_STRTAB)
		return fail(-EBADMSG, "symbol names in a section of type %u", names.sh_type);
	ret->syms = (struct extent){ s->sh_offset, s->sh_size };
	ret->strings = (struct extent){ names.sh_offset, names.sh_size };
	return 0;
}

static int find_by_sections(struct elf *e, struct symtab *dynsym, struct symtab *symtab)
{
	const size_t step = ARRAY_LEN(e->buf.shdr);
	Elf64_Shdr found[2] = { { 0 }, { 0 } };
	uint64_t n;
	int err;

	err = elf_sections(e, &n);
	for (uint64_t at = 0; !err && at < n; at += step) {
		size_t batch = (size_t)min_u64(step, n - at);

		err = elf_read(e, e->head.e_shoff + at * sizeof(Elf64_Shdr), e->buf.shdr,
			       batch * sizeof(Elf64_Shdr));
		for (size_t i = 0; !err && i < batch; i++) {
			const Elf64_Shdr *s = &e->buf.shdr[i];

			if (s->sh_type == SHT_DYNSYM && !found[0].sh_type)
				found[0] = *s;
			if (s->sh_type == SHT_SYMTAB && !found[1].sh_type)
				found[1] = *s;
		}
	}
	if (!err && found[0].sh_type)
		err = section_symtab(e, n, &found[0], dynsym);
	if (!err && found[1].sh_type)
		err = section_symtab(e, n, &found[1], symtab);
	return err;
}

/* DT_HASH says how many symbols there are. */
static int count_by_hash(struct elf *e, uint64_t addr, uint64_t *ret)
{
	uint32_t head[2]; /* buckets, chains */
	struct extent at;
	int err;

	if (!elf_at(e, addr, false, &at) || at.size < sizeof(head))
		return fail(-EBADMSG, "symbol hash outside the file");
	err = elf_read(e, at.offset, head, sizeof(head));
	if (!err)
		*ret = head[1];
	return err;
}

/* The highest symbol that n buckets at an offset lead to. */
static int max_bucket(struct elf *e, uint64_t offset, uint64_t n, uint32_t *ret)
{
	const size_t step = ARRAY_LEN(e->buf.word);

	*ret = 0;
	for (uint64_t at = 0; at < n; at += step) {
		size_t batch = (size_t)min_u64(step, n - at);
		int err = elf_read(e, offset + at * 4, e->buf.word, batch * 4);

		if (err)
			return err;
		for (size_t i = 0; i < batch; i++)
			if (e->buf.word[i] > *ret)
				*ret = e->buf.word[i];
	}
	return 0;
}

/* DT_GNU_HASH does not: the last chain has to be followed to its end mark. */
static int count_by_gnu_hash(struct elf *e, uint64_t addr, uint64_t *ret)
{
	const size_t step = ARRAY_LEN(e->buf.word);
	uint32_t head[4]; /* buckets, first hashed symbol, bloom words, bloom shift */
	uint64_t buckets, chains, index;
	struct extent at;
	uint32_t last;
	int err;

	if (!elf_at(e, addr, false, &at) || at.size < sizeof(head))
		return fail(-EBADMSG, "symbol hash outside the file");
	err = elf_read(e, at.offset, head, sizeof(head));
	if (err)
		return err;
	buckets = sizeof(head) + head[2] * 8ull;
	chains = buckets + head[0] * 4ull;
	if (head[0] > SYMBOLS_MAX || chains > at.size)
		return fail(-EBADMSG, "symbol hash of %u buckets", head[0]);

	err = max_bucket(e, at.offset + buckets, head[0], &last);
	if (err)
		return err;
	if (last < head[1]) { /* nothing is hashed */
		*ret = head[1];
		return 0;
	}
	for (index = last - head[1]; index < SYMBOLS_MAX;) {
		uint64_t room = at.size - chains;
		size_t batch;

		if (index * 4 + 4 > room)
			return fail(-EBADMSG, "symbol hash without an end");
		batch = (size_t)min_u64(step, (room - index * 4) / 4);
		err = elf_read(e, at.offset + chains + index * 4, e->buf.word, batch * 4);
		if (err)
			return err;
		for (size_t i = 0; i < batch; i++, index++) {
			if (e->buf.word[i] & 1) {
				*ret = head[1] + index + 1;
				return 0;
			}
		}
	}
	return fail(-E2BIG, "more than %llu symbols", SYMBOLS_MAX);
}

/* What the dynamic linker itself goes by: works when section headers were stripped. */
static int find_by_dynamic(struct elf *e, struct symtab *ret)
{
	size_t n = (size_t)min_u64(e->dynamic.size / sizeof(Elf64_Dyn), DYNAMIC_MAX);
	uint64_t syms = 0, strings = 0, strings_size = 0, hash = 0, gnu_hash = 0, count = 0;
	struct extent at;
	int err;

	err = elf_read(e, e->dynamic.offset, e->buf.dyn, n * sizeof(Elf64_Dyn));
	if (err)
		return err;
	for (size_t i = 0; i < n && e->buf.dyn[i].d_tag != DT_NULL; i++) {
		const Elf64_Dyn *d = &e->buf.dyn[i];

		if (d->d_tag == DT_SYMTAB)
			syms = d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			strings = d->d_un.d_ptr;
		else if (d->d_tag == DT_STRSZ)
			strings_size = d->d_un.d_val;
		else if (d->d_tag == DT_HASH)
			hash = d->d_un.d_ptr;
		else if (d->d_tag == DT_GNU_HASH)
			gnu_hash = d->d_un.d_ptr;
	}
	if (!syms || !strings || (!hash && !gnu_hash))
		return 0; /* a static program */

	err = hash ? count_by_hash(e, hash, &count) : count_by_gnu_hash(e, gnu_hash, &count);
	if (err)
		return err;
	if (!elf_at(e, strings, false, &at) || strings_size > at.size)
		return fail(-EBADMSG, "symbol names outside the file");
	ret->strings = (struct extent){ at.offset, strings_size };
	if (!elf_at(e, syms, false, &at) || count > at.size / sizeof(Elf64_Sym))
		return fail(-EBADMSG, "%llu symbols outside the file", (unsigned long long)count);
	ret->syms = (struct extent){ at.offset, count * sizeof(Elf64_Sym) };
	return 0;
}

int elf_symtabs(struct elf *e, struct symtab *dynsym, struct symtab *symtab)
{
	int err;

	memset(dynsym, 0, sizeof(*dynsym));
	memset(symtab, 0, sizeof(*symtab));
	err = find_by_sections(e, dynsym, symtab);
	if (!err && !dynsym->syms.size && e->dynamic.size)
		err = find_by_dynamic(e, dynsym);
	return err;
}

int elf_symtab_check(const struct elf *e, const struct symtab *t)
{
	if (t->syms.offset > e->size || t->syms.size > e->size - t->syms.offset ||
	    t->strings.offset > e->size || t->strings.size > e->size - t->strings.offset)
		return fail(-EBADMSG, "a symbol table reaches beyond the end of the ELF file");
	if (t->syms.size / sizeof(Elf64_Sym) > SYMBOLS_MAX || t->strings.size > STRINGS_MAX)
		return fail(-E2BIG, "%llu symbols with %llu bytes of names",
			    (unsigned long long)(t->syms.size / sizeof(Elf64_Sym)),
			    (unsigned long long)t->strings.size);
	return 0;
}
