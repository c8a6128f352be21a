/* SPDX-License-Identifier: Apache-2.0 */
/* For those that read more of an ELF file than its functions: where its tables are. */
#ifndef CAPTURE_ELF_FILE_H
#define CAPTURE_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOADS_MAX 64
#define NOTES_MAX 8
#define CHUNK 65536

struct extent {
	uint64_t offset, size;
};

struct load {
	uint64_t addr, offset, size;
	bool exec;
};

struct elf {
	int fd; /* borrowed */
	uint64_t size;
	Elf64_Ehdr head;
	struct load loads[LOADS_MAX]; /* inside the file, all of them */
	struct extent notes[NOTES_MAX];
	size_t n_loads, n_notes;
	struct extent dynamic; /* size 0: none */
	union {
		char bytes[CHUNK];
		Elf64_Phdr phdr[CHUNK / sizeof(Elf64_Phdr)];
		Elf64_Shdr shdr[CHUNK / sizeof(Elf64_Shdr)];
		Elf64_Sym sym[CHUNK / sizeof(Elf64_Sym)];
		Elf64_Dyn dyn[CHUNK / sizeof(Elf64_Dyn)];
		Elf64_Rela rela[CHUNK / sizeof(Elf64_Rela)];
		uint32_t word[CHUNK / sizeof(uint32_t)];
	} buf; /* any table passes through here, a piece at a time */
};

struct symtab {
	struct extent syms, strings; /* syms.size 0: there is none */
};

/* Read the header and the segments of a zeroed e. */
int elf_init(struct elf *e, int fd);

/* Only the header: the segments of a file of debug information lie in another file. */
int elf_init_debug(struct elf *e, int fd);

/* Exactly len bytes at an offset, or an error: never less. */
int elf_read(struct elf *e, uint64_t offset, void *dst, size_t len);

/* The file bytes from a virtual address to the end of its segment; executable ones if asked. */
bool elf_at(const struct elf *e, uint64_t addr, bool exec, struct extent *ret);

/* How many section headers can be read; 0 when they were stripped or lie outside the file. */
int elf_sections(struct elf *e, uint64_t *ret);

/* Where .dynsym and .symtab claim to be. */
int elf_symtabs(struct elf *e, struct symtab *dynsym, struct symtab *symtab);

/*
 * An object (STT_OBJECT) by its name: among the exports through their hash table, which costs a few
 * reads however large the file is; through every symbol, also those of .symtab, if `slowly`.
 */
bool elf_object(struct elf *e, const char *name, bool slowly, Elf64_Sym *ret);

/*
 * What the pointer at an address will be in a process, less the bias: as the file's relocations say, or
 * its bytes where there are none. False: the file does not say, or it is 0.
 */
bool elf_pointer(struct elf *e, uint64_t addr, uint64_t *ret);

/* A section by its name; it may lie anywhere. */
bool elf_section(struct elf *e, const char *name, Elf64_Shdr *ret);

/* What was added to the file's addresses when the piece at `offset` was mapped at `start`. */
bool elf_bias(const struct elf *e, uint64_t start, uint64_t offset, uint64_t *ret);

/* Is a table inside the file and not too large to be read? */
int elf_symtab_check(const struct elf *e, const struct symtab *t);

#endif
