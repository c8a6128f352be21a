/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/python: the steps of py_find(). */
#ifndef PYTHON_PYTHON_INT_H
#define PYTHON_PYTHON_INT_H

#include "python/python.h"

/* The memory of the process: exactly `size` bytes, or false. */
struct mem {
	bool (*read)(void *arg, uint64_t addr, void *dst, size_t size);
	void *arg;
};

static inline bool mem_u64(const struct mem *m, uint64_t addr, uint64_t *ret)
{
	return m->read(m->arg, addr, ret, sizeof(*ret));
}

static inline bool mem_u32(const struct mem *m, uint64_t addr, uint32_t *ret)
{
	return m->read(m->arg, addr, ret, sizeof(*ret));
}

/* A mapped file that has an interpreter in it. Addresses are those in the process. */
struct py_module {
	char name[64]; /* base name of the file, safe to print */
	uint64_t runtime; /* _PyRuntime */
	uint64_t runtime_size; /* as its symbol says; 0: found without one */
	uint64_t none, version, code_type; /* 0: no such symbol */
};

/* How the C library keeps what pthread_setspecific() was given. */
struct py_tsd {
	int32_t from; /* as in struct py_layout */
	uint16_t level2;
	uint8_t step, indirect;
	int32_t tp; /* from pthread_self() to the thread pointer */
};

enum py_arch { ARCH_x86_64, ARCH_aarch64, ARCH_COUNT };

/* The lock's size: two pthread_mutex_t are in it. */
#if defined(__aarch64__)
#define ARCH_HERE ARCH_aarch64
#define GIL_SIZE 224
#else
#define ARCH_HERE ARCH_x86_64
#define GIL_SIZE 208
#endif

/* What is the same in every build of a minor version: one row of the table in layout.c. */
struct py_row {
	uint16_t version;
	uint16_t key[ARCH_COUNT]; /* in _PyRuntime: autoTSSkey._key; 4 below is _is_initialized */
	uint16_t initialized, main; /* in _PyRuntime; main: interpreters.main */
	uint16_t runtime_size[ARCH_COUNT]; /* 0: differs from build to build */
	uint16_t threads; /* in PyInterpreterState: the first thread state */
	/* In _PyRuntime up to 3.11, from then on in PyInterpreterState: a pointer, and what it points
	 * at, which is inside the main interpreter. */
	uint16_t gil, gil_own;
	int16_t ts_native; /* PyThreadState.native_thread_id; -1: none */
	struct py_layout layout; /* but for the addresses */
};

/* NULL: a version that is not known. */
const struct py_row *py_row(unsigned version);

/*
 * Do the interpreter's own offsets, which it has since 3.13, agree with the row? False: `why` says
 * where not. Older ones have none, which is fine.
 */
bool py_offsets_agree(const struct mem *m, const struct py_row *row, uint64_t runtime, char *why,
		      size_t why_cap);

#define PY_COOKIE "xdebugpy" /* the first bytes of _PyRuntime since 3.13 */
#define PY_COOKIE_LEN 8

/* 0x30b for 3.11: told by the module, else by its file's name; 0: not known. */
unsigned py_version(const struct mem *m, const struct py_module *mod);

/* Everything but the search for the module: what the memory of the process says. */
enum py_found py_check(const struct mem *m, const struct py_module *mod, const struct py_tsd *tsd,
		       struct py_layout *ret, char *why, size_t why_cap);

/* A file with code in it that the process maps, by its first mapping. */
struct py_file {
	uint64_t start, end, offset, inode;
	uint32_t dev_major, dev_minor;
	bool exec, is_exe, is_python; /* is_python: by its name */
	char base[64]; /* of its path; cut, and not safe to print */
};

struct py_files {
	int pid;
	struct py_file *file;
	size_t n;
};

/* False: the process is gone, or may not be looked at. */
bool py_files_load(struct py_files *f, int pid);
void py_files_release(struct py_files *f);

/* An fd, or a negative errno. */
int py_file_open(const struct py_files *f, const struct py_file *file);

/*
 * Call fn for each file that has an interpreter, the likeliest first; a non-zero return from fn stops
 * the walk.
 */
void py_modules(const struct py_files *f, const struct mem *m,
		int (*fn)(const struct py_module *mod, void *arg), void *arg);

/* One ELF file, of which the piece at `offset` was mapped at `start`; slowly: without a hash too. */
bool py_module_in(int fd, uint64_t start, uint64_t offset, bool slowly, struct py_module *ret);

/* False: a C library whose threads are not known; why says which. */
bool py_tsd(const struct py_files *f, const struct mem *m, struct py_tsd *ret, char *why,
	    size_t why_cap);

#endif
