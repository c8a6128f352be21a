// SPDX-License-Identifier: Apache-2.0
/* Ring bytes to records. The ring is written by the kernel, but nothing here trusts it. */
#include "decode/decode.h"

#include <errno.h>
#include <string.h>

#include "base/fail.h"

int decode(const void *bytes, size_t len, struct record *ret)
{
	struct call_event e;

	if (len != sizeof(e))
		return fail(-EBADMSG, "record of %zu bytes, expected %zu", len, sizeof(e));
	memcpy(&e, bytes, sizeof(e)); /* the ring aligns to 8, a fuzzer to nothing */
	if (e.size != len)
		return fail(-EBADMSG, "record of %zu bytes claims %u", len, e.size);
	if (e.op > OP_GAP)
		return fail(-EBADMSG, "record names op %u of %d", e.op, OP_COUNT);
	if (e.who_count > WHO_MAX)
		return fail(-EBADMSG, "record names %u culprits of %d", e.who_count, WHO_MAX);
	if (e.start_ns + e.dur_ns < e.start_ns)
		return fail(-EBADMSG, "record ends before it starts");

	*ret = (struct record){
		.op = &op_table[e.op],
		.serial = e.serial,
		.pid = e.pid,
		.tid = e.tid,
		.ret = e.ret,
		.because = e.because,
		.depth = e.depth,
		.start_ns = e.start_ns,
		.dur_ns = e.dur_ns,
		.bytes = e.bytes,
		.stream = e.stream,
		.aux = e.aux,
		.out = e.out,
		.usual_ns = e.usual_ns,
		.site = e.site,
		.stack = e.stack,
		.who_count = e.who_count,
	};
	if (e.op == OP_GAP && e.aux < OP_COUNT) {
		ret->next = &op_table[e.aux];
		ret->aux = 0;
	}
	memcpy(ret->state_ns, e.state_ns, sizeof(ret->state_ns));
	memcpy(ret->counter, e.counter, sizeof(ret->counter));
	memcpy(ret->who, e.who, sizeof(ret->who));
	for (uint32_t i = 0; i < WHO_MAX; i++)
		ret->who[i].comm[COMM_LEN - 1] = '\0';
	return 0;
}

uint64_t hist_quantile(const uint32_t hist[HIST_BUCKETS], double q)
{
	uint64_t total = 0, below = 0;
	double want;

	for (uint32_t i = 0; i < HIST_BUCKETS; i++)
		total += hist[i];
	if (!total)
		return 0;
	want = q * (double)total;
	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		if (hist[i] && (double)(below + hist[i]) >= want) {
			/* Inside a bucket the counts are taken as evenly spread. */
			double part = (want - (double)below) / (double)hist[i];
			uint64_t low = i ? hist_floor(i) : 0, high = hist_floor(i + 1);

			return low + (uint64_t)((part < 0 ? 0 : part) * (double)(high - low));
		}
		below += hist[i];
	}
	return hist_floor(HIST_BUCKETS);
}
