// SPDX-License-Identifier: Apache-2.0
/* Parses argv by a table of options; the help text comes from opt_help.c. */
#include "base/opt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "base/units.h"
#include "base/util.h"

/* Where we are in argv, and what to do with what is found there. */
struct parser {
	const struct opt *opts;
	char **argv;
	int argc;
	int at; /* the argument being looked at */
	int operands; /* argv[operands] .. argv[at - 1] are operands found so far */
	char *dest;
};

static void store(const struct parser *p, const struct opt *o, const void *value, size_t size)
{
	memcpy(p->dest + o->offset, value, size);
}

static void store_flag(const struct parser *p, const struct opt *o, bool on)
{
	store(p, o, &on, sizeof(on));
}

static int parse_flag(const char *s, bool *ret)
{
	static const char *const words[] = { "false", "true", "no", "yes", "0", "1" };
	char shown[48];

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (streq(s, words[i])) {
			*ret = i % 2;
			return 0;
		}
	}
	return fail(-EINVAL, "'%s' is neither true nor false", text_safe(shown, sizeof(shown), s));
}

static int store_value(const struct parser *p, const struct opt *o, const char *s)
{
	uint64_t value = 0;
	bool on = false;
	int err = 0;

	switch (o->type) {
	case OPT_FLAG:
		err = parse_flag(s, &on);
		if (!err)
			store_flag(p, o, on);
		return err;
	case OPT_STR:
		store(p, o, &s, sizeof(s));
		return 0;
	case OPT_U64:
		err = parse_u64(s, UINT64_MAX, &value);
		break;
	case OPT_DURATION:
		err = parse_duration(s, &value);
		break;
	case OPT_SIZE:
		err = parse_size(s, &value);
		break;
	case OPT_TIME:
		err = parse_time(s, clock_wall_ns(), &value);
		break;
	}
	if (!err)
		store(p, o, &value, sizeof(value));
	return err;
}

/* Edits (insert, delete, replace) that turn a into b; at least limit if either is long. */
static size_t distance(const char *a, const char *b, size_t limit)
{
	size_t row[33], la = strlen(a), lb = strlen(b);

	if (lb >= ARRAY_LEN(row) || la >= ARRAY_LEN(row))
		return limit;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diag = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t swap = diag + (a[i - 1] != b[j - 1]);

			diag = row[j];
			row[j] = min_u64(swap, min_u64(row[j - 1], row[j]) + 1);
		}
	}
	return row[lb];
}

/* The row whose name the user most likely meant, or NULL. */
static const struct opt *nearest(const struct opt *opts, const char *name)
{
	const struct opt *found = NULL;
	size_t best = 3; /* further away it is a guess, not a typo */

	for (const struct opt *o = opts; o->name; o++) {
		size_t d = distance(name, o->name, best), len = strlen(o->name);

		if (strlen(name) > 1 && starts_with(o->name, name))
			d = 0; /* abbreviated, which we refuse but understand */
		if (d < best && d < (len < 4 ? min_u64(len, 2) : 3)) {
			best = d;
			found = o;
		}
	}
	return found;
}

static int unknown(const struct opt *opts, const char *name)
{
	bool negated = starts_with(name, "no-");
	const struct opt *o = nearest(opts, name);
	const char *no = "";
	char shown[48];

	if (!o && negated) {
		o = nearest(opts, name + 3);
		no = o && o->type == OPT_FLAG ? "no-" : "";
	}
	text_safe(shown, sizeof(shown), name);
	if (o)
		return fail(-EINVAL, "unknown option '--%s': did you mean --%s%s?", shown, no,
			    o->name);
	return fail(-EINVAL, "unknown option '--%s'", shown);
}

static const struct opt *by_name(const struct opt *opts, const char *name, size_t len)
{
	for (const struct opt *o = opts; o->name; o++) {
		if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
			return o;
	}
	return NULL;
}

static const struct opt *by_letter(const struct opt *opts, char letter)
{
	for (const struct opt *o = opts; o->name; o++) {
		if (o->letter && o->letter == letter)
			return o;
	}
	return NULL;
}

/* The next argument, whatever it looks like: "-5m" is a fine value. */
static int next_value(struct parser *p, const char **ret)
{
	if (p->at + 1 >= p->argc)
		return fail(-EINVAL, "a value is missing");
	*ret = p->argv[++p->at];
	return 0;
}

/* "--name", "--name=value", "--no-name" */
static int parse_long(struct parser *p, const char *name)
{
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	const struct opt *o = by_name(p->opts, name, len);
	char given[48];
	int err = 0;

	if (!o && starts_with(name, "no-")) {
		o = by_name(p->opts, name + 3, len - 3);
		if (o && o->type == OPT_FLAG) {
			if (value)
				return fail(-EINVAL, "--no-%s takes no value", o->name);
			store_flag(p, o, false);
			return 0;
		}
		o = NULL;
	}
	if (!o) {
		(void)str_copy(given, min_u64(len + 1, sizeof(given)), name);
		return unknown(p->opts, given);
	}
	if (!value && o->type == OPT_FLAG) {
		store_flag(p, o, true);
		return 0;
	}
	if (!value)
		err = next_value(p, &value);
	if (!err)
		err = store_value(p, o, value);
	return err ? fail_in(err, "--%s", o->name) : 0;
}

/* "-v", "-vq", "-dFILE", "-d FILE", "-vdFILE" */
static int parse_letters(struct parser *p, const char *s)
{
	for (; *s; s++) {
		const struct opt *o = by_letter(p->opts, *s);
		const char *value = s + 1;
		int err = 0;

		if (!o)
			return fail(-EINVAL, "unknown option '-%c'", *s);
		if (o->type == OPT_FLAG) {
			store_flag(p, o, true);
			continue;
		}
		if (!*value)
			err = next_value(p, &value);
		if (!err)
			err = store_value(p, o, value);
		return err ? fail_in(err, "-%c, --%s", o->letter, o->name) : 0;
	}
	return 0;
}

/* Move argv[first] .. argv[p->at] before the operands found so far. */
static void move_up(struct parser *p, int first)
{
	for (int i = first; i <= p->at; i++) {
		char *arg = p->argv[i];
		int skipped = i - p->operands;

		memmove(&p->argv[p->operands + 1], &p->argv[p->operands],
			(size_t)skipped * sizeof(*p->argv));
		p->argv[p->operands++] = arg;
	}
}

int opt_parse(const struct opt *opts, int argc, char **argv, void *dest, int *ret_operands)
{
	struct parser p = {
		.opts = opts, .argv = argv, .argc = argc, .at = 1, .operands = 1, .dest = dest
	};
	bool end = false;

	for (; p.at < argc && !end; p.at++) {
		const char *arg = argv[p.at];
		int first = p.at, err = 0;

		if (arg[0] != '-' || !arg[1])
			continue; /* "-" alone is an operand */
		if (starts_with(arg, "-- ")) /* so is SQL that begins with a comment */
			continue;
		end = streq(arg, "--");
		if (!end)
			err = arg[1] == '-' ? parse_long(&p, arg + 2) : parse_letters(&p, arg + 1);
		if (err)
			return err;
		move_up(&p, first);
	}
	*ret_operands = (int)min_u64((uint64_t)p.operands, (uint64_t)argc); /* argc may be 0 */
	return 0;
}
