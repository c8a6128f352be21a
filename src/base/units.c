// SPDX-License-Identifier: Apache-2.0
/* Durations, sizes and counts: parsed without floating point, printed with three digits. */
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "base/fail.h"
#include "base/text.h"
#include "base/units_int.h"
#include "base/util.h"

struct unit {
	const char *name;
	uint64_t scale;
};

/* The first name of a scale is the one printed. */
static const struct unit durations[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", NS_PER_S },
	{ "", NS_PER_S },
	{ "m", 60 * NS_PER_S },
	{ "min", 60 * NS_PER_S },
	{ "h", 3600 * NS_PER_S },
	{ "d", 86400 * NS_PER_S },
};

static const char *const size_suffixes[] = { "", "k", "m", "g", "t" };

/* A value quoted in an error: short, so that the advice after it is not cut off. */
struct quoted {
	char text[48];
};

static const char *quote(struct quoted *q, const char *s)
{
	return text_safe(q->text, sizeof(q->text), s);
}

int scan_fraction(const char **s, uint64_t *ret_ns)
{
	uint64_t ns = 0, place = NS_PER_S / 10;

	if (**s != '.')
		return 0;
	++*s;
	if (**s < '0' || **s > '9')
		return -EINVAL;
	for (; **s >= '0' && **s <= '9'; ++*s) {
		ns += place * (uint64_t)(**s - '0'); /* from the tenth digit on, place is 0 */
		place /= 10;
	}
	*ret_ns = ns;
	return 0;
}

static int scan_digits(const char **s, uint64_t *ret)
{
	uint64_t v = 0;
	bool over = false;

	if (**s < '0' || **s > '9')
		return -EINVAL;
	for (; **s >= '0' && **s <= '9'; ++*s) {
		over |= __builtin_mul_overflow(v, 10, &v);
		over |= __builtin_add_overflow(v, (uint64_t)(**s - '0'), &v);
	}
	*ret = v;
	return over ? -ERANGE : 0;
}

int scan_decimal(const char **s, struct decimal *ret)
{
	int range = scan_digits(s, &ret->whole);
	int err = range == -EINVAL ? range : 0;

	ret->frac = 0;
	if (!err)
		err = scan_fraction(s, &ret->frac); /* a malformed number is not merely too large */
	return err ? err : range;
}

int scale_decimal(const struct decimal *d, uint64_t scale, uint64_t *ret)
{
	unsigned __int128 v = (unsigned __int128)d->whole * scale;

	v += (unsigned __int128)d->frac * scale / NS_PER_S;
	if (v > UINT64_MAX)
		return -ERANGE;
	*ret = (uint64_t)v;
	return 0;
}

static int read_duration(const char *s, uint64_t *ret_ns)
{
	struct decimal d;
	int range = scan_decimal(&s, &d);

	if (range == -EINVAL)
		return range;
	while (*s == ' ')
		s++;
	for (size_t i = 0; i < ARRAY_LEN(durations); i++) {
		if (streq(s, durations[i].name))
			return range ? range : scale_decimal(&d, durations[i].scale, ret_ns);
	}
	return -EINVAL;
}

int parse_duration(const char *s, uint64_t *ret_ns)
{
	int err = read_duration(s, ret_ns);
	struct quoted q;

	if (err == -ERANGE)
		return fail(err, "'%s' is too long a duration (the most is 213503d)", quote(&q, s));
	if (err)
		return fail(err, "'%s' is not a duration (try 20s, 250ms, 5m or 1h)", quote(&q, s));
	return 0;
}

/* "k", "kb" and "kib" mean the same; all but the first letter is decoration. */
static bool is_size_suffix(const char *s, const char *suffix)
{
	size_t len = strlen(suffix);

	if (strncasecmp(s, suffix, len) != 0)
		return false;
	s += len;
	return !*s || strcasecmp(s, "b") == 0 || (len && strcasecmp(s, "ib") == 0);
}

static int read_size(const char *s, uint64_t *ret_bytes)
{
	struct decimal d;
	int range = scan_decimal(&s, &d);

	if (range == -EINVAL)
		return range;
	while (*s == ' ')
		s++;
	for (size_t i = 0; i < ARRAY_LEN(size_suffixes); i++) {
		if (!is_size_suffix(s, size_suffixes[i]))
			continue;
		if (i == 0 && d.frac)
			return -EINVAL; /* there is no half byte */
		return range ? range : scale_decimal(&d, 1ull << (10 * i), ret_bytes);
	}
	return -EINVAL;
}

int parse_size(const char *s, uint64_t *ret_bytes)
{
	int err = read_size(s, ret_bytes);
	struct quoted q;

	if (err == -ERANGE)
		return fail(err, "'%s' is too large a size (the most is 16777215t)", quote(&q, s));
	if (err)
		return fail(err, "'%s' is not a size (try 4096, 64k or 10g)", quote(&q, s));
	return 0;
}

int parse_u64(const char *s, uint64_t max, uint64_t *ret)
{
	const char *end = s;
	struct quoted q;
	uint64_t v = 0;
	int err = scan_digits(&end, &v);

	if (err == -EINVAL || *end)
		return fail(-EINVAL, "'%s' is not a whole number", quote(&q, s));
	if (err || v > max)
		return fail(-ERANGE, "%s is too large (the most is %" PRIu64 ")", quote(&q, s),
			    max);
	*ret = v;
	return 0;
}

/*
 * v in units of scale, three digits at most, zeros after the point dropped. False: it would be
 * limit units or more, once rounded.
 */
static bool format_scaled(char *dst, size_t cap, uint64_t v, const struct unit *unit,
			  uint64_t limit)
{
	uint64_t pow = 100;

	for (int decs = 2; decs >= 0; decs--, pow /= 10) {
		unsigned __int128 r = ((unsigned __int128)v * pow + unit->scale / 2) / unit->scale;
		uint64_t n = (uint64_t)r;

		if (r >= (unsigned __int128)limit * pow || (decs && r >= 1000))
			continue; /* so from here on r fits n */
		for (; decs && n % 10 == 0; decs--, pow /= 10)
			n /= 10;
		if (decs)
			snprintf(dst, cap, "%" PRIu64 ".%0*" PRIu64 " %s", n / pow, decs, n % pow,
				 unit->name);
		else
			snprintf(dst, cap, "%" PRIu64 " %s", n, unit->name);
		return true;
	}
	return false;
}

static uint64_t round_div(uint64_t v, uint64_t by)
{
	return v / by + (v % by >= by / 2);
}

char *format_ns(char *dst, size_t cap, uint64_t ns)
{
	static const uint64_t limits[] = { 1000, 1000, 1000, 60 };
	uint64_t n;

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		if (format_scaled(dst, cap, ns, &durations[i], limits[i]))
			return dst;
	}
	n = round_div(ns, NS_PER_S);
	if (n < 3600) {
		snprintf(dst, cap, "%" PRIu64 "m %02" PRIu64 "s", n / 60, n % 60);
		return dst;
	}
	n = round_div(ns, 60 * NS_PER_S);
	if (n < 1440) {
		snprintf(dst, cap, "%" PRIu64 "h %02" PRIu64 "m", n / 60, n % 60);
		return dst;
	}
	n = round_div(ns, 3600 * NS_PER_S);
	snprintf(dst, cap, "%" PRIu64 "d %02" PRIu64 "h", n / 24, n % 24);
	return dst;
}

char *format_bytes(char *dst, size_t cap, uint64_t bytes)
{
	static const struct unit units[] = {
		{ "B", 1 },
		{ "KiB", 1ull << 10 },
		{ "MiB", 1ull << 20 },
		{ "GiB", 1ull << 30 },
		{ "TiB", 1ull << 40 },
		{ "PiB", 1ull << 50 },
		{ "EiB", 1ull << 60 },
	};

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (format_scaled(dst, cap, bytes, &units[i], 1024))
			break; /* at the latest with EiB: there are 16 of them */
	}
	return dst;
}

char *format_count(char *dst, size_t cap, uint64_t count)
{
	char text[UNITS_CAP], *p = text + sizeof(text);
	int digits = 0;

	*--p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + count % 10);
		count /= 10;
		digits++;
	} while (count);
	(void)str_copy(dst, cap, p); /* cut only if the caller's buffer is below UNITS_CAP */
	return dst;
}

char *format_clock(char *dst, size_t cap, uint64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / NS_PER_S);
	unsigned int ms = (unsigned int)(wall_ns % NS_PER_S / 1000000);
	struct tm tm = { 0 };

	localtime_r(&s, &tm); /* fails only beyond the year 2^31, which a uint64_t cannot name */
	snprintf(dst, cap, "%02d:%02d:%02d.%03u", tm.tm_hour, tm.tm_min, tm.tm_sec, ms);
	return dst;
}
