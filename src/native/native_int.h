/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/native: what its files share. */
#ifndef NATIVE_NATIVE_INT_H
#define NATIVE_NATIVE_INT_H

#include "native/image.h"
#include "native/names.h"
#include "native/native.h"
#include "native/procs.h"

#define IMAGES_MAX 256
#define IMAGE_BYTES_MAX (12u << 20) /* of all tables together; the least recently used files go */
#define CALL_BYTES_MAX (192ull << 20) /* read from files in one call */

struct native {
	struct image *image[IMAGES_MAX];
	uint64_t serial, call;
	uint64_t budget; /* bytes that this call may still read */
	const char *debug_root; /* "/usr/lib/debug", or what a test has */
	struct names names;
	struct procs procs;
	struct elf elf; /* scratch */
	struct eh_buffer eh; /* scratch */
};

/* What an address of a file is called. */
struct answer {
	const char *func; /* never NULL */
	bool interpreter;
};

/* An address that wants a name. */
struct want {
	struct image *image;
	const char *module; /* where the file is said to be; for .gnu_debuglink */
	uint64_t addr; /* of the file */
	uint64_t func_start; /* of its FDE; addr where it has none */
	uint64_t func_size;
	bool set_up; /* that function begins with a frame already set up: it is part of another */
	struct answer answer;
};

/* Answer each of want[0..n), which are all of one file that is open. */
void symbols_find(struct native *n, struct want *want, size_t count);

/* A variable that wants its symbol, as it is in the file. */
struct variable {
	uint64_t addr; /* of the file */
	char symbol[SYMBOL_CAP]; /* filled in; "": has none */
};

/* All of one file that is open. */
void symbols_variables(struct native *n, struct image *im, const char *module,
		       struct variable *variable, size_t count);

/*
 * Variables of 8 bytes that the code before `end` loads, by their addresses: as many as fit, the last
 * first. Only x86-64's loads relative to the code are known.
 */
size_t stub_loads(const uint8_t *code, size_t len, uint64_t end, uint64_t *ret, size_t cap);

/* The one of these that holds the handle, by its address in the process. */
bool stub_variable(uint32_t pid, const struct native_stub *stub, uint64_t *ret);

/* The kernel in the symbol of a stub's variable, demangled; false: it is none. */
bool stub_kernel(const char *symbol, char *dst, size_t cap);

#define INTERPRETER_LOOP "_PyEval_EvalFrameDefault"

/* Is an address without a symbol in a part of the evaluation loop? */
bool cold_loop(const struct want *w);

/* Decide where the file's symbols come from. */
void symbols_open(struct native *n, struct image *im, const char *module);

/* The debug file that belongs to im, opened into im->debug; false: none. */
bool debug_open(struct native *n, struct image *im, const char *module);

/* Open it again in a later call. */
bool debug_reopen(struct native *n, struct image *im);

/* Decompress .gnu_debugdata into a file in memory; an fd, or -1. */
int debug_unpack(struct native *n, const struct image *im);

#endif
