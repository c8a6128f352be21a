// SPDX-License-Identifier: Apache-2.0
/* The unit parsers on any text, and what the formatters print read back. */
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"

#define UNTOUCHED 0x5ca1ab1e5ca1ab1eull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void need(int cond)
{
	if (!cond)
		abort();
}

/* A refusal has a reason on one line and leaves the result alone. */
static void check(int err, uint64_t got)
{
	if (!err)
		return;
	need(err < 0 && got == UNTOUCHED);
	need(why(err)[0] && !strchr(why(err), '\n'));
}

static void parse_all(const char *s, uint64_t now_ns)
{
	uint64_t got = UNTOUCHED;

	check(parse_duration(s, &got), got);
	got = UNTOUCHED;
	check(parse_size(s, &got), got);
	got = UNTOUCHED;
	check(parse_u64(s, 1ull << 40, &got), got);
	got = UNTOUCHED;
	check(parse_time(s, now_ns, &got), got);
	if ((s[0] == '-' || (s[0] && s[1] && s[2] == ':')) && got != UNTOUCHED)
		need(got <= now_ns);
}

static void format_all(uint64_t v)
{
	char text[UNITS_CAP];
	uint64_t back = 0;

	format_ns(text, sizeof(text), v);
	if (v < 59000000000) {
		need(!parse_duration(text, &back));
		need(fabs((double)back - (double)v) <= (double)v / 200);
	}
	format_bytes(text, sizeof(text), v);
	if (v < 1ull << 49) {
		need(!parse_size(text, &back));
		need(fabs((double)back - (double)v) <= (double)v / 200 + 1);
	}
	format_clock(text, sizeof(text), v);
	if (v > 86400000000000) {
		need(!parse_time(text, v, &back));
		need(back <= v && v - back < 86400000000000);
	}
	format_count(text, sizeof(text), v);
	for (char *comma = strchr(text, ','); comma; comma = strchr(comma, ','))
		memmove(comma, comma + 1, strlen(comma));
	need(!parse_u64(text, UINT64_MAX, &back) && back == v);
}

/* Eight bytes are a number and the present time, the rest is text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint64_t v = 0;
	size_t head = len < sizeof(v) ? len : sizeof(v);
	char *s = calloc(1, len - head + 1);

	setenv("TZ", "UTC0", 1); /* a zone without jumps: the clock then reads back exactly */
	memcpy(&v, data, head);
	memcpy(s, data + head, len - head);
	parse_all(s, v);
	format_all(v);
	free(s);
	return 0;
}
