// SPDX-License-Identifier: Apache-2.0
/* The last error of each thread, kept as text that is safe to print. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static _Thread_local struct {
	int code;
	char text[512];
} last;

int fail(int code, const char *fmt, ...)
{
	char raw[sizeof(last.text)]; /* an argument may be what why() returned */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	text_safe(last.text, sizeof(last.text), raw); /* reasons quote paths, names and values */
	last.code = code;
	return code;
}

int fail_in(int code, const char *fmt, ...)
{
	char doing[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(doing, sizeof(doing), fmt, ap);
	va_end(ap);
	return fail(code, "%s: %s", doing, why(code));
}

const char *why(int code)
{
	return last.code == code ? last.text : strerror(-code);
}
