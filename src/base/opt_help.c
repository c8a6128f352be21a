// SPDX-License-Identifier: Apache-2.0
/* Prints a table of options, aligned and wrapped. */
#include <string.h>

#include "base/opt.h"
#include "base/util.h"

#define WIDTH 79 /* a terminal of 80 columns wraps a full line */
#define MAX_LEFT 30 /* a longer "-x, --name ARG" has its help on the next line */

static const char *arg_of(const struct opt *o)
{
	if (o->type == OPT_FLAG)
		return "";
	return o->arg ? o->arg : "VALUE";
}

/* How wide the left column of a row is: "  -x, --name ARG". */
static size_t left_width(const struct opt *o)
{
	const char *arg = arg_of(o);

	return strlen("  -x, --") + strlen(o->name) + (*arg ? 1 + strlen(arg) : 0);
}

static void put_left(FILE *out, const struct opt *o)
{
	const char *arg = arg_of(o);

	if (o->letter)
		fprintf(out, "  -%c, ", o->letter);
	else
		fputs("      ", out);
	fprintf(out, "--%s%s%s", o->name, *arg ? " " : "", arg);
}

/* Words from column `at` on, each new line starting at column `indent`. */
static void put_wrapped(FILE *out, const char *text, size_t at, size_t indent)
{
	while (*text) {
		size_t len = strcspn(text, " ");

		if (at > indent && at + 1 + len > WIDTH) {
			putc('\n', out);
			at = 0;
		}
		if (at > indent)
			at += (size_t)fprintf(out, " ");
		else
			at += (size_t)fprintf(out, "%*s", (int)(indent - at), "");
		at += fwrite(text, 1, len, out);
		text += len;
		text += strspn(text, " ");
	}
	putc('\n', out);
}

void opt_help(FILE *out, const struct opt *opts)
{
	size_t left = 0;

	for (const struct opt *o = opts; o->name; o++) {
		if (o->help && left_width(o) <= MAX_LEFT)
			left = max_u64(left, left_width(o));
	}
	left += 2;
	for (const struct opt *o = opts; o->name; o++) {
		size_t at = o->help ? left_width(o) : 0;

		if (!o->help)
			continue;
		put_left(out, o);
		if (at + 2 > left) {
			putc('\n', out);
			at = 0;
		}
		put_wrapped(out, o->help, at, left);
	}
}
