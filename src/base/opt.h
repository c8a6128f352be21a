/* SPDX-License-Identifier: Apache-2.0 */
/* Options as data: one table per command parses argv, explains mistakes and prints the help. */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stddef.h>
#include <stdio.h>

/* The type of the struct member an option fills. */
enum opt_type {
	OPT_FLAG, /* bool */
	OPT_STR, /* const char *, borrowed from argv */
	OPT_U64, /* uint64_t */
	OPT_DURATION, /* uint64_t, ns */
	OPT_SIZE, /* uint64_t, bytes */
	OPT_TIME, /* uint64_t, wall clock ns; see parse_time() */
};

/* A table ends with a row whose name is NULL. */
struct opt {
	const char *name; /* without the dashes */
	char letter; /* 0 = none */
	enum opt_type type;
	size_t offset; /* of the member in *dest */
	const char *arg; /* what the help calls the value: "FILE" */
	const char *help; /* NULL: not listed */
};

/*
 * Fill *dest from argv, whose first element is the command's name. Options and operands may mix:
 * argv is reordered so that the operands come last, in their order, and *ret_operands is the index
 * of the first. Everything after "--" is an operand, and what begins with "-- ". The last of two equal options wins; a member
 * without an option keeps its value. Names are never abbreviated. A flag takes no separate value,
 * but --flag=no and --no-flag turn it off. On error *dest may be half filled.
 */
int opt_parse(const struct opt *opts, int argc, char **argv, void *dest, int *ret_operands);

/* One aligned entry per option, in table order, below 80 columns. */
void opt_help(FILE *out, const struct opt *opts);

#endif
