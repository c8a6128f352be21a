/* SPDX-License-Identifier: Apache-2.0 */
/* What units.c and units_time.c share: decimal numbers, read exactly. */
#ifndef BASE_UNITS_INT_H
#define BASE_UNITS_INT_H

#include <stdint.h>

#define NS_PER_S 1000000000ull

struct decimal {
	uint64_t whole;
	uint64_t frac; /* in 1e-9; digits beyond the ninth are dropped */
};

/*
 * The scanners move *s behind what they understood. -EINVAL: not of the form; -ERANGE: of the form
 * but too large, *s moved all the same. They say no why(): the caller knows the whole value.
 */

/* "12", "12.5" */
int scan_decimal(const char **s, struct decimal *ret);

/* ".5" or nothing, which leaves *ret_ns alone. */
int scan_fraction(const char **s, uint64_t *ret_ns);

/* d * scale, rounded down; -ERANGE if that is too large. */
int scale_decimal(const struct decimal *d, uint64_t scale, uint64_t *ret);

#endif
