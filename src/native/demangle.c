// SPDX-License-Identifier: Apache-2.0
/*
 * C++ and Rust names as people write them, by libiberty. Its header declares an xrealloc() of its own,
 * which is why base/util.h is not included here.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "native/names.h"

#define RUST_BACKREFS_MAX 16

static bool begins(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

struct output {
	char *dst;
	size_t cap, used;
	bool stop; /* leave by longjmp when dst is full */
	jmp_buf full;
};

static void take(const char *text, size_t len, void *arg)
{
	struct output *o = arg;
	size_t room = o->cap - 1 - o->used;
	size_t part = len < room ? len : room;

	memcpy(o->dst + o->used, text, part);
	o->used += part;
	o->dst[o->used] = '\0';
	if (part < len && o->stop)
		longjmp(o->full, 1);
}

/*
 * A name of a thousand bytes can expand to more text than there are atoms. The demangler has no way to
 * be told to stop, but with a callback it owns no memory either, so one may leave through the middle.
 */
static bool demangle_cxx(const char *symbol, struct output *o)
{
	o->stop = true;
	if (setjmp(o->full))
		return true; /* cut */
	return cplus_demangle_v3_callback(symbol, DMGL_NO_OPTS, take, o);
}

/* Rust's demangler allocates, so it must return; back references are what makes it take long. */
static bool demangle_rust(const char *symbol, struct output *o)
{
	size_t backrefs = 0;

	for (const char *s = symbol; *s; s++)
		backrefs += *s == 'B';
	o->stop = false;
	return (!begins(symbol, "_R") || backrefs <= RUST_BACKREFS_MAX) &&
	       rust_demangle_callback(symbol, DMGL_NO_OPTS, take, o);
}

void names_demangle(const char *symbol, char *dst, size_t cap)
{
	struct output o = { .dst = dst, .cap = cap };
	bool cxx = begins(symbol, "_Z");

	dst[0] = '\0';
	if (!cxx && !begins(symbol, "_R")) {
		snprintf(dst, cap, "%s", symbol);
		return;
	}
	if (demangle_rust(symbol, &o) && o.used)
		return;
	o.used = 0;
	dst[0] = '\0';
	if (cxx && demangle_cxx(symbol, &o) && o.used)
		return;
	snprintf(dst, cap, "%s", symbol);
}
