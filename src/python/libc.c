// SPDX-License-Identifier: Apache-2.0
/*
 * Where the C library keeps a thread's values of pthread_setspecific(). glibc tells debuggers, in
 * descriptors of three words: bits of an element, elements, offset in bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "capture/elf_file.h"
#include "python/python_int.h"

#define FIRST_BLOCK 512 /* 32 keys of 16 bytes, in front of `specific` */
#define SPECIFIC_MAX 65536
#define STEP 16
#define DATA 8 /* behind the sequence number of a key */

/*
 * Where nobody tells: `specific` in glibc 2.21 to 2.43, 0 if not known; the values in musl 1.2, which
 * was never tried here. On aarch64 the thread pointer is behind struct pthread.
 */
#if defined(__aarch64__)
#define SPECIFIC 0
#define MUSL_VALUES 112
#define MUSL_TP 200
#define GLIBC_TP(size) ((int32_t)(size))
#else
#define SPECIFIC (784 + FIRST_BLOCK)
#define MUSL_VALUES 128
#define MUSL_TP 0
#define GLIBC_TP(size) 0
#endif

static bool read_word(struct elf *e, const struct mem *m, uint64_t bias, const char *name,
		      size_t word, uint32_t *ret)
{
	Elf64_Sym sym;

	/* Before glibc 2.34 they are no exports; Debian's libpthread keeps them in .symtab. */
	return elf_object(e, name, true, &sym) && sym.st_size >= (word + 1) * sizeof(*ret) &&
	       mem_u32(m, sym.st_value + bias + word * sizeof(*ret), ret);
}

static bool is_libc(const char *base)
{
	return starts_with(base, "libc.so") || starts_with(base, "libc-2.") ||
	       starts_with(base, "libpthread");
}

/* `specific` in struct pthread, and the size of that. */
static bool ask_glibc(const struct py_files *f, const struct mem *m, uint32_t *ret_specific,
		      uint32_t *ret_size)
{
	struct elf *e = xcalloc(1, sizeof(*e));
	bool found = false;

	for (size_t i = 0; i < f->n && !found; i++) {
		const struct py_file *file = &f->file[i];
		uint64_t bias;
		int fd;

		if (!is_libc(file->base))
			continue;
		fd = py_file_open(f, file);
		if (fd < 0)
			continue;
		memset(e, 0, sizeof(*e));
		found = !elf_init(e, fd) && elf_bias(e, file->start, file->offset, &bias) &&
			read_word(e, m, bias, "_thread_db_pthread_specific", 2, ret_specific) &&
			read_word(e, m, bias, "_thread_db_sizeof_pthread", 0, ret_size);
		close(fd);
	}
	free(e);
	return found;
}

static const struct py_file *musl(const struct py_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		if (starts_with(f->file[i].base, "ld-musl-") ||
		    starts_with(f->file[i].base, "libc.musl-"))
			return &f->file[i];
	}
	return NULL;
}

bool py_tsd(const struct py_files *f, const struct mem *m, struct py_tsd *ret, char *why,
	    size_t why_cap)
{
	uint32_t specific, size;

	if (musl(f)) {
		*ret = (struct py_tsd){
			.tp = MUSL_TP,
			.from = MUSL_VALUES - MUSL_TP,
			.step = sizeof(uint64_t),
			.indirect = 1,
		};
		return true;
	}
	if (!ask_glibc(f, m, &specific, &size)) {
		specific = SPECIFIC;
		size = 0;
	}
	if (!specific) {
		str_copy(why, why_cap, "no C library that says where its threads keep values");
		return false;
	}
	if (specific < FIRST_BLOCK || specific > SPECIFIC_MAX || size > SPECIFIC_MAX) {
		snprintf(why, why_cap, "its C library keeps values at %u in threads of %u bytes",
			 specific, size);
		return false;
	}
	*ret = (struct py_tsd){
		.tp = GLIBC_TP(size),
		.from = (int32_t)specific - FIRST_BLOCK + DATA - GLIBC_TP(size),
		.level2 = FIRST_BLOCK,
		.step = STEP,
	};
	return true;
}
