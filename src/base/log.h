/* SPDX-License-Identifier: Apache-2.0 */
/* Chatter on stderr. Any text is safe to pass: each line goes through text_safe(). */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>

enum { LOG_WARN = 0, LOG_DEBUG = 1 };

/* What is above this level is not written. Set once, at start. */
extern int log_level;

/* One entry per line of text; a final newline is optional; a line is cut at about 1000 bytes. */
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for callbacks that bring a va_list. */
void log_va(int level, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

#endif
