// SPDX-License-Identifier: Apache-2.0
/* opt_parse() on any argv: no word is lost or invented, and a refusal says why. */
#include "base/opt.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define MAX_ARGS 64

struct dest {
	bool json, no_wait;
	const char *db;
	uint64_t count, window, size, since;
};

static const struct opt opts[] = {
	{ "db", 'd', OPT_STR, offsetof(struct dest, db), "FILE", "h" },
	{ "json", 'j', OPT_FLAG, offsetof(struct dest, json), NULL, "h" },
	{ "no-wait", 'n', OPT_FLAG, offsetof(struct dest, no_wait), NULL, "h" },
	{ "count", 'c', OPT_U64, offsetof(struct dest, count), "N", "h" },
	{ "window", 'w', OPT_DURATION, offsetof(struct dest, window), "TIME", "h" },
	{ "max-size", 0, OPT_SIZE, offsetof(struct dest, size), "SIZE", "h" },
	{ "since", 's', OPT_TIME, offsetof(struct dest, since), "WHEN", "h" },
	{ 0 },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void need(bool cond)
{
	if (!cond)
		abort();
}

static int by_address(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	return (x > y) - (x < y);
}

/* The words in memory order are argv as it was. */
static void check_same_words(char **argv, int argc, char *const *before)
{
	char *sorted[MAX_ARGS];

	memcpy(sorted, argv, sizeof(*argv) * (size_t)argc);
	qsort(sorted, (size_t)argc, sizeof(*sorted), by_address);
	need(!memcmp(sorted, before, sizeof(*sorted) * (size_t)argc));
}

/* Each NUL ends a word. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = calloc(1, len + 1), *argv[MAX_ARGS] = { 0 }, *before[MAX_ARGS];
	struct dest d = { .db = "" };
	int argc = 0, operands = -1, err;

	memcpy(text, data, len);
	for (size_t at = 0; at < len && argc < MAX_ARGS; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	memcpy(before, argv, sizeof(argv));
	err = opt_parse(opts, argc, argv, &d, &operands);
	check_same_words(argv, argc, before);
	if (err) {
		need(err < 0 && operands == -1 && why(err)[0]);
	} else {
		need(operands >= 0 && operands <= argc);
		for (int i = operands; i + 1 < argc; i++)
			need(argv[i] < argv[i + 1]); /* operands keep their order */
		need(strlen(d.db) <= len);
	}
	free(text);
	return 0;
}
