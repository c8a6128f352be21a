/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native frames of a stack: a bounded copy of a C stack is unwound by the .eh_frame sections of
 * the files that the process maps, and every address gets its symbol. The files are hostile input:
 * everything is bounded, nothing is trusted, and a file is read with pread, never mapped.
 */
#ifndef NATIVE_NATIVE_H
#define NATIVE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/python.h"

#define NATIVE_FRAMES 96

struct native_frame {
	uint64_t ip; /* inside the call, not behind it */
	uint64_t cfa; /* the frame reaches from the stack pointer below up to here */
	uint64_t sp;
	const char *func; /* demangled, UTF-8, no control characters; "" where it is not known */
	const char *module; /* path of the mapped file; "" where the address is in none */
	bool interpreter; /* CPython's evaluation loop, by its symbol */
};

struct native_stack {
	struct native_frame
		frame[NATIVE_FRAMES]; /* innermost, the caller of the traced op, first */
	int frames;
	bool complete; /* reached the end of the stack, or of the copy; false: lost its way */
};

struct native; /* what is known about files and processes. One thread. */

struct native *native_new(void);
void native_free(struct native *n);

/* Strings live until native_free(). False: nothing could be unwound. */
bool native_unwind(struct native *n, const struct c_stack *c, struct native_stack *ret);

/* The symbol that covers an address of the process; false, and "" : not known. */
bool native_symbol(struct native *n, uint32_t pid, uint64_t addr, const char **ret_func,
		   const char **ret_module);

/* The same for several at once: large tables are read once for all of them. */
struct native_name {
	uint64_t addr;
	const char *func, *module; /* filled in; "" is not known */
};
void native_symbols(struct native *n, uint32_t pid, struct native_name *name, size_t count);

/*
 * The kernels of stubs that nvcc made: since CUDA 13 a stub keeps the handle of its kernel in a static
 * variable and passes that to the runtime. The code before `site` is searched for a load of a variable
 * that holds the handle; its symbol has the kernel's name in it.
 */
struct native_stub {
	uint64_t site, handle; /* where the call returns to, and what it was given */
	const char *func; /* filled in; "" is not known */
};
void native_stubs(struct native *n, uint32_t pid, struct native_stub *stub, size_t count);

/* The file that is mapped there; "": none. Nothing of it is read. */
const char *native_module(struct native *n, uint32_t pid, uint64_t addr);

/* A C++ or Rust symbol as people write it; others stay as they are. */
void native_demangle(const char *symbol, char *dst, size_t cap);

/* True: no memory is left for names, new ones come out as ""; the caller makes a new one. */
bool native_full(const struct native *n);

/* The process is gone, or its mappings have changed. */
void native_forget(struct native *n, uint32_t pid);

#endif
