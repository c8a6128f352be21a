/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to src/native: one mapped file, and what was learnt about it. A file is open only during a
 * call of native_unwind() or native_symbol(): an agent that kept descriptors would keep a container's
 * file system from being unmounted.
 */
#ifndef NATIVE_IMAGE_H
#define NATIVE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/elf_file.h"
#include "native/cfi.h"

#define BUILD_ID_CAP 129

struct hash;

struct source {
	int fd; /* -1: not open */
	uint64_t size;
	uint64_t *budget; /* bytes that may still be read in this call, borrowed */
};

/* Exactly len bytes, or false. */
bool source_read(const struct source *s, uint64_t offset, void *dst, size_t len);

/* What makes a file the same file. */
struct identity {
	uint64_t dev, inode; /* as /proc/PID/maps says */
	uint64_t real_dev, real_inode, size, mtime_ns; /* as fstat says */
	char build_id[BUILD_ID_CAP];
};

/* Where .eh_frame and its sorted table are. */
struct eh_entry {
	uint64_t start, fde; /* virtual addresses */
};

struct eh {
	bool found;
	uint64_t hdr_addr, table_addr, table_offset, count;
	uint8_t encoding; /* PTR_OMIT: no table; `index` then, made by reading all of .eh_frame */
	uint64_t frame_addr, frame_size; /* size: to the end of its segment at most */
	struct eh_entry *index;
	bool indexed;
};

/* A symbol that could name an address. */
struct sym {
	uint64_t addr;
	uint32_t name; /* in the string table */
	uint32_t size : 30, local : 1, untyped : 1;
};

enum symbols_from { FROM_NONE, FROM_FILE, FROM_DEBUG, FROM_MINI };

struct symbols {
	enum symbols_from from;
	struct extent syms, strings;
	struct sym *index; /* by address; NULL: not made, or too large and read every time */
	size_t n;
	bool indexed;
	char *text; /* FROM_MINI: the strings, since reading them again would mean decompressing */
};

#define SYMBOLS_MAX_TABLES 2

struct image {
	struct identity id;
	uint64_t serial; /* never used again for another file */
	uint64_t call; /* the last call that used it */
	size_t bytes; /* of the tables below */
	struct source own, debug;
	struct load loads[LOADS_MAX];
	size_t n_loads;
	struct eh eh;
	bool readable; /* an ELF file of this machine */
	bool symbols_known;
	struct symbols symbols[SYMBOLS_MAX_TABLES]; /* best first */
	char *debug_path; /* below the folder of debug files; NULL: none */
	struct extent debuglink, debugdata; /* sections; size 0: none */
	struct symtab dynsym, symtab;
	struct extent
		loop; /* in the file: exported part of CPython's evaluation loop; size 0: none */
	bool loop_known;
	struct hash *answers; /* address in the file -> struct answer */
};

/* Read the headers of the file that im->own is open on. `e` is scratch. */
void image_read_headers(struct image *im, struct elf *e);

void image_free(struct image *im);

/* File offset <-> virtual address; the extent ends with the segment. */
bool image_at(const struct image *im, uint64_t addr, struct extent *ret);
bool image_addr(const struct image *im, uint64_t offset, uint64_t *ret);

/* A section by name among those of a file whose header e has; size 0: there is none. */
bool image_section(struct elf *e, const char *name, Elf64_Shdr *ret);

#define EH_RECORD_MAX 65536

struct eh_buffer {
	uint8_t cie[EH_RECORD_MAX], fde[EH_RECORD_MAX];
};

/* Where the unwind information is; called once the headers are read. */
void eh_open(struct image *im, struct elf *e);

/* The FDE that covers an address of the file. Borrows from buf. */
bool eh_find(struct image *im, uint64_t addr, struct eh_buffer *buf, struct fde *ret);

/* Calls fn with each FDE and where it is, in the order of the section. A false return ends it. */
void eh_each(const struct image *im, struct eh_buffer *buf,
	     bool (*fn)(const struct fde *f, uint64_t addr, void *arg), void *arg);

#endif
