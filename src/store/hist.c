// SPDX-License-Identifier: Apache-2.0
/* Histograms as blobs: only the buckets in use, as varints. Files come from anywhere: checked. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "store/store_int.h"

static size_t put(uint8_t *dst, uint32_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		dst[n++] = (uint8_t)(value | 0x80);
	dst[n++] = (uint8_t)value;
	return n;
}

static int get(const uint8_t *src, size_t len, size_t *at, uint32_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		uint8_t byte;

		if (*at >= len)
			return -EBADMSG;
		byte = src[(*at)++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = (uint32_t)value;
			return value > UINT32_MAX ? -EBADMSG : 0;
		}
	}
	return -EBADMSG;
}

size_t hist_pack(const uint32_t hist[HIST_BUCKETS], uint8_t *dst)
{
	size_t n = 0;

	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		if (!hist[i])
			continue;
		dst[n++] = (uint8_t)i; /* below 128: one byte, and a varint too */
		n += put(dst + n, hist[i]);
	}
	return n;
}

int hist_unpack(const uint8_t *src, size_t len, uint32_t ret[HIST_BUCKETS])
{
	size_t at = 0;

	memset(ret, 0, HIST_BUCKETS * sizeof(*ret));
	while (at < len) {
		uint32_t bucket, count;

		if (get(src, len, &at, &bucket) || get(src, len, &at, &count) ||
		    bucket >= HIST_BUCKETS || count > UINT32_MAX - ret[bucket])
			return fail(-EBADMSG, "histogram of %zu bytes is damaged at %zu", len, at);
		ret[bucket] += count;
	}
	return 0;
}
