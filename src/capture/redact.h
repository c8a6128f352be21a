/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps secrets that people put on command lines out of everything we store. */
#ifndef CAPTURE_REDACT_H
#define CAPTURE_REDACT_H

#include <stddef.h>

/*
 * Join the NUL-separated arguments args[0..len), as /proc/PID/cmdline has them, by spaces into
 * dst, with secrets replaced by "***". What does not fit is cut off and ends in "...". dst is
 * always terminated; cap is at least 8. Other bytes are copied as they are: see text_safe().
 */
void redact_args(const char *args, size_t len, char *dst, size_t cap);

#endif
