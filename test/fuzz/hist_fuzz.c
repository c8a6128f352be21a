// SPDX-License-Identifier: Apache-2.0
/* hist_unpack() on any bytes: what it accepts packs again to the same histogram. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "decode/decode.h"
#include "store/store_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { BLOB_MAX = HIST_BLOB_MAX };

static void need(bool cond)
{
	if (!cond)
		abort();
}

static void check(const uint32_t hist[HIST_BUCKETS], size_t len)
{
	uint8_t *blob = malloc(BLOB_MAX); /* exact, so that a byte too far is seen */
	uint32_t again[HIST_BUCKETS];
	uint64_t total = 0, last = 0;
	size_t packed = hist_pack(hist, blob);

	need(packed <= BLOB_MAX);
	need(packed <= len); /* nothing is written in fewer bytes than ours */
	need(!hist_unpack(blob, packed, again));
	need(memcmp(hist, again, sizeof(again)) == 0);
	free(blob);

	for (int i = 0; i < HIST_BUCKETS; i++)
		total += hist[i];
	for (int i = 0; i <= 16; i++) {
		uint64_t now = hist_quantile(hist, i / 16.0);

		need(now >= last && now <= hist_floor(HIST_BUCKETS));
		need(total || !now);
		last = now;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint32_t hist[HIST_BUCKETS];
	uint8_t *blob = malloc(len ? len : 1);
	int err;

	memcpy(blob, data, len);
	err = hist_unpack(blob, len, hist);
	free(blob);
	if (!err)
		check(hist, len);
	else
		need(err == -EBADMSG && why(err)[0]);

	/* The bytes as counts: whatever is packed comes back. */
	memset(hist, 0, sizeof(hist));
	memcpy(hist, data, len < sizeof(hist) ? len : sizeof(hist));
	check(hist, BLOB_MAX);
	return 0;
}
