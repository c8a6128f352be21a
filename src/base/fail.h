/* SPDX-License-Identifier: Apache-2.0 */
/* An error is a negative errno plus one sentence saying why. */
#ifndef BASE_FAIL_H
#define BASE_FAIL_H

/*
 * Record why something failed; text_safe() makes it one line, safe to print. Returns code, so a
 * caller writes `return fail(...)`.
 */
int fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Put what we were doing in front of the reason already recorded. Returns code. */
int fail_in(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The reason recorded for code on this thread, else strerror(). Borrowed until the next fail(). */
const char *why(int code);

#endif
