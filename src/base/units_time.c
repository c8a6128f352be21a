// SPDX-License-Identifier: Apache-2.0
/* parse_time(): moments of the wall clock as people write them. */
#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "base/fail.h"
#include "base/text.h"
#include "base/units.h"
#include "base/units_int.h"

/* Exactly n digits whose value is between min and max. */
static bool scan_field(const char **s, int n, int min, int max, int *ret)
{
	int v = 0;

	for (int i = 0; i < n; i++, ++*s) {
		if (**s < '0' || **s > '9')
			return false;
		v = v * 10 + (**s - '0');
	}
	*ret = v;
	return v >= min && v <= max;
}

static bool scan_char(const char **s, char c)
{
	if (**s != c)
		return false;
	++*s;
	return true;
}

/* "03:12", "03:12:30", "03:12:30.5" */
static bool scan_clock(const char **s, struct tm *tm, uint64_t *frac_ns)
{
	if (!scan_field(s, 2, 0, 23, &tm->tm_hour) || !scan_char(s, ':') ||
	    !scan_field(s, 2, 0, 59, &tm->tm_min))
		return false;
	if (!scan_char(s, ':'))
		return true;
	return scan_field(s, 2, 0, 59, &tm->tm_sec) && !scan_fraction(s, frac_ns);
}

/* "2026-11-15" */
static bool scan_date(const char **s, struct tm *tm)
{
	struct tm normal;
	int year, mon;

	if (!scan_field(s, 4, 1970, 9999, &year) || !scan_char(s, '-') ||
	    !scan_field(s, 2, 1, 12, &mon) || !scan_char(s, '-') ||
	    !scan_field(s, 2, 1, 31, &tm->tm_mday))
		return false;
	tm->tm_year = year - 1900;
	tm->tm_mon = mon - 1;
	normal = *tm;
	(void)timegm(&normal); /* for its side effect: 30 February becomes 2 March */
	return normal.tm_mday == tm->tm_mday;
}

static int to_ns(time_t s, uint64_t frac_ns, uint64_t *ret_ns)
{
	struct decimal d = { .whole = (uint64_t)s, .frac = frac_ns };

	return s < 0 ? -ERANGE : scale_decimal(&d, NS_PER_S, ret_ns);
}

/* "2026-11-15T03:00:00Z" */
static int read_date_time(const char *s, uint64_t *ret_ns)
{
	struct tm tm = { .tm_isdst = -1 };
	uint64_t frac_ns = 0;
	bool utc;

	if (!scan_date(&s, &tm) || !(scan_char(&s, 'T') || scan_char(&s, ' ')) ||
	    !scan_clock(&s, &tm, &frac_ns))
		return -EINVAL;
	utc = scan_char(&s, 'Z');
	if (*s)
		return -EINVAL;
	return to_ns(utc ? timegm(&tm) : mktime(&tm), frac_ns, ret_ns);
}

/*
 * "03:12": the latest one up to now. On the days when clocks change an hour may be missing, or come
 * twice, so each of the last days is tried with and without summer time, and what comes back as
 * another time of day did not exist.
 */
static int read_clock(const char *s, uint64_t now_ns, uint64_t *ret_ns)
{
	time_t now = (time_t)(now_ns / NS_PER_S);
	struct tm at = { 0 }, today;
	uint64_t frac_ns = 0, ns;
	int err = -ERANGE;

	if (!scan_clock(&s, &at, &frac_ns) || *s)
		return -EINVAL;
	if (!localtime_r(&now, &today))
		return -ERANGE;
	for (int i = 0; i < 6; i++) {
		struct tm tm = { .tm_year = today.tm_year,
				 .tm_mon = today.tm_mon,
				 .tm_mday = today.tm_mday - i / 2,
				 .tm_hour = at.tm_hour,
				 .tm_min = at.tm_min,
				 .tm_sec = at.tm_sec,
				 .tm_isdst = i % 2 };
		time_t t = mktime(&tm);

		if (tm.tm_hour != at.tm_hour || tm.tm_min != at.tm_min || to_ns(t, frac_ns, &ns))
			continue;
		if (ns <= now_ns && (err || ns > *ret_ns)) {
			*ret_ns = ns;
			err = 0;
		}
	}
	return err;
}

static int read_epoch(const char *s, uint64_t *ret_ns)
{
	struct decimal d;
	int err = scan_decimal(&s, &d);

	if (err == -EINVAL || *s)
		return -EINVAL;
	return err ? err : scale_decimal(&d, NS_PER_S, ret_ns);
}

static int read_relative(const char *s, uint64_t now_ns, uint64_t *ret_ns)
{
	uint64_t ago_ns;
	int err = parse_duration(s, &ago_ns);

	if (err)
		return err;
	if (ago_ns > now_ns)
		return -ERANGE;
	*ret_ns = now_ns - ago_ns;
	return 0;
}

int parse_time(const char *s, uint64_t now_ns, uint64_t *ret_ns)
{
	uint64_t ns = 0;
	char shown[48];
	int err;

	if (s[0] == '@')
		err = read_epoch(s + 1, &ns);
	else if (s[0] == '-')
		err = read_relative(s + 1, now_ns, &ns);
	else if (s[0] && s[1] && s[2] != ':')
		err = read_date_time(s, &ns);
	else
		err = read_clock(s, now_ns, &ns);
	text_safe(shown, sizeof(shown), s);
	if (err == -ERANGE)
		return fail(err, "'%s' is outside the years 1970 to 2554", shown);
	if (err)
		return fail(err,
			    "'%s' is not a time (try 03:12, '2026-11-15 03:00:00', "
			    "2026-11-15T03:00:00Z, @1700000000 or -5m)",
			    shown);
	*ret_ns = ns;
	return 0;
}
