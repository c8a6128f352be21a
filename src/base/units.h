/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units, both ways: what a user types and what a user reads. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The parsers take the whole string or refuse it: -EINVAL what is not of the form, -ERANGE what is
 * too large; why() names the value and shows one that works. *ret is written only on success.
 */

/* "20" (seconds), "250ms", "1.5s", "5m", "5min", "1h", "2d"; also ns and us. */
int parse_duration(const char *s, uint64_t *ret_ns);

/* "4096" (bytes), "64k", "1.5m", "10g", "1t": powers of 1024, in either case; "64KiB" too. */
int parse_size(const char *s, uint64_t *ret_bytes);

/* Decimal digits and nothing else, at most max. */
int parse_u64(const char *s, uint64_t max, uint64_t *ret);

/*
 * A moment of the wall clock, in ns since 1970. now_ns is what relative times refer to.
 *   "2026-11-15T03:00:00Z"  UTC; without Z, or with a blank for T, local time
 *   "03:12", "03:12:30"     the most recent such local time that is not after now
 *   "@1700000000.5"         seconds since 1970
 *   "-5m"                   that long before now
 * Seconds may be left out or carry a fraction.
 */
int parse_time(const char *s, uint64_t now_ns, uint64_t *ret_ns);

/*
 * The formatters write into dst, which ends in NUL unless cap is 0, and return it. UNITS_CAP
 * always suffices.
 */
#define UNITS_CAP 32

/* "850 ns", "7.2 us", "48.3 ms", "1.24 s", "2m 05s", "3h 07m", "2d 04h": three digits at most. */
char *format_ns(char *dst, size_t cap, uint64_t ns);

/* "512 B", "1.5 KiB", "64 MiB". */
char *format_bytes(char *dst, size_t cap, uint64_t bytes);

/* "14,504". */
char *format_count(char *dst, size_t cap, uint64_t count);

/* Local time of day, "03:12:30.123". */
char *format_clock(char *dst, size_t cap, uint64_t wall_ns);

#endif
