// SPDX-License-Identifier: Apache-2.0
/* Writes log lines to stderr, one write per line so that threads do not interleave. */
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int log_level = LOG_WARN;

static void put_line(int level, const char *line)
{
	char safe[1024];

	text_safe(safe, sizeof(safe), line);
	fprintf(stderr, "%s: %s\n", level > LOG_WARN ? "debug" : "warning", safe);
}

static void put_lines(int level, char *text)
{
	while (*text) {
		char *end = strchrnul(text, '\n');
		char *next = *end ? end + 1 : end;

		*end = '\0';
		put_line(level, text);
		text = next;
	}
}

void log_va(int level, const char *fmt, va_list ap)
{
	char buf[1024], *text = buf;
	va_list again;
	int len;

	if (level > log_level)
		return;
	va_copy(again, ap);
	len = vsnprintf(buf, sizeof(buf), fmt, ap);
	/* A verifier log is far longer than any buffer; without memory its beginning will do. */
	if (len >= (int)sizeof(buf) && vasprintf(&text, fmt, again) < 0)
		text = buf;
	va_end(again);
	if (len >= 0)
		put_lines(level, text);
	if (text != buf)
		free(text);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(LOG_WARN, fmt, ap);
	va_end(ap);
}

void log_debug(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(LOG_DEBUG, fmt, ap);
	va_end(ap);
}
