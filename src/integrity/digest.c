// SPDX-License-Identifier: Apache-2.0
/* Digests: made, written as text, read back. */
#include "integrity/digest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/units.h"
#include "base/util.h"

#define CHUNK (256u << 10)

char *digest_format(char dst[DIGEST_TEXT], const struct digest *d)
{
	snprintf(dst, DIGEST_TEXT, "sha256:%s size=%llu mtime=%llu", d->hex,
		 (unsigned long long)d->size, (unsigned long long)d->mtime_ns);
	return dst;
}

static int take_number(const char *text, const char *name, uint64_t *ret)
{
	const char *at = strstr(text, name);
	char number[24];
	size_t n;

	if (!at)
		return -EBADMSG;
	at += strlen(name);
	n = strspn(at, "0123456789");
	if (!n || n >= sizeof(number) || (at[n] && at[n] != ' '))
		return -EBADMSG;
	memcpy(number, at, n);
	number[n] = '\0';
	return parse_u64(number, INT64_MAX, ret) ? -EBADMSG : 0;
}

int digest_parse(const char *value, size_t len, struct digest *ret)
{
	char text[DIGEST_TEXT];

	*ret = (struct digest){ 0 };
	if (len >= sizeof(text) || memchr(value, '\0', len))
		return fail(-EBADMSG, "%s holds something else", DIGEST_ATTR);
	memcpy(text, value, len);
	text[len] = '\0';
	if (!starts_with(text, "sha256:") ||
	    strspn(text + 7, "0123456789abcdef") != SHA256_HEX - 1 ||
	    text[7 + SHA256_HEX - 1] != ' ' || take_number(text, " size=", &ret->size) ||
	    take_number(text, " mtime=", &ret->mtime_ns)) {
		*ret = (struct digest){ 0 };
		return fail(-EBADMSG, "%s is no digest: '%s'", DIGEST_ATTR, text);
	}
	memcpy(ret->hex, text + 7, SHA256_HEX - 1);
	return 0;
}

int digest_read(int fd, struct digest *ret)
{
	char value[DIGEST_TEXT];
	ssize_t len = fgetxattr(fd, DIGEST_ATTR, value, sizeof(value));

	*ret = (struct digest){ 0 };
	if (len < 0)
		return errno == ERANGE ? -EBADMSG : -ENODATA;
	return digest_parse(value, (size_t)len, ret);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Sleep until so many bytes are not too many for the time since the start. */
static void keep_pace(uint64_t start, uint64_t bytes, uint64_t per_second)
{
	uint64_t due = start + bytes / per_second * 1000000000ull +
		       bytes % per_second * 1000000000ull / per_second;
	uint64_t now = now_ns();

	if (due > now) {
		struct timespec ts = { (time_t)((due - now) / 1000000000ull),
				       (long)((due - now) % 1000000000ull) };

		nanosleep(&ts, NULL);
	}
}

int digest_make(int fd, uint64_t bytes_per_second, struct digest *ret)
{
	static uint8_t chunk[CHUNK]; /* one hash at a time in a process */
	uint8_t sum[SHA256_BYTES];
	uint64_t start = now_ns(), at = 0;
	struct stat before, after;
	struct sha256 s;
	ssize_t n;

	*ret = (struct digest){ 0 };
	if (fstat(fd, &before))
		return -errno;
	sha256_begin(&s);
	while ((n = pread(fd, chunk, sizeof(chunk), (off_t)at)) > 0) {
		sha256_add(&s, chunk, (size_t)n);
		at += (uint64_t)n;
		if (bytes_per_second)
			keep_pace(start, at, bytes_per_second);
	}
	if (n < 0)
		return -errno;
	if (fstat(fd, &after))
		return -errno;
	if (after.st_size != before.st_size || after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
	    after.st_mtim.tv_nsec != before.st_mtim.tv_nsec || at != (uint64_t)after.st_size)
		return -EAGAIN;
	sha256_end(&s, sum);
	sha256_hex(ret->hex, sum);
	ret->size = at;
	ret->mtime_ns =
		(uint64_t)after.st_mtim.tv_sec * 1000000000ull + (uint64_t)after.st_mtim.tv_nsec;
	return 0;
}
