// SPDX-License-Identifier: Apache-2.0
/* Checked allocation and bounded copy. */
#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void *or_die(void *p)
{
	if (!p) {
		fputs("out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	/* calloc(0) may return NULL, which is not a lack of memory. */
	return or_die(n && size ? calloc(n, size) : calloc(1, 1));
}

char *xstrdup(const char *s)
{
	return or_die(strdup(s));
}

void *xrealloc(void *ptr, size_t n, size_t size)
{
	return or_die(n && size ? reallocarray(ptr, n, size) : realloc(ptr, 1));
}

bool str_copy(char *dst, size_t cap, const char *src)
{
	size_t len = strnlen(src, cap);

	if (len < cap) {
		memcpy(dst, src, len + 1);
		return true;
	}
	if (cap) {
		memcpy(dst, src, cap - 1);
		dst[cap - 1] = '\0';
	}
	return false;
}

void str_add(char *dst, size_t cap, const char *fmt, ...)
{
	size_t len = strnlen(dst, cap);
	va_list ap;

	if (len == cap)
		return;
	va_start(ap, fmt);
	vsnprintf(dst + len, cap - len, fmt, ap);
	va_end(ap);
}
