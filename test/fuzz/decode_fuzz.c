// SPDX-License-Identifier: Apache-2.0
/* decode() on any bytes: what it accepts is safe to store and print, what it refuses has a reason. */
#include "decode/decode.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void need(bool cond)
{
	if (!cond)
		abort();
}

static void check(const struct record *rec, const struct call_event *e)
{
	need(rec->op >= op_table && rec->op <= &op_table[OP_GAP]);
	need(rec->op->symbol != NULL);
	if (rec->next)
		need(rec->op == &op_table[OP_GAP] && rec->next < &op_table[OP_COUNT] && !rec->aux);
	else
		need(rec->aux == e->aux);
	need(rec->who_count <= WHO_MAX);
	need(rec->start_ns + rec->dur_ns >= rec->start_ns);
	need(rec->start_ns == e->start_ns && rec->dur_ns == e->dur_ns);
	need(rec->usual_ns == e->usual_ns && rec->site == e->site);
	need(memcmp(rec->state_ns, e->state_ns, sizeof(rec->state_ns)) == 0);
	need(memcmp(rec->counter, e->counter, sizeof(rec->counter)) == 0);
	for (int i = 0; i < WHO_MAX; i++) {
		need(strnlen(rec->who[i].comm, COMM_LEN) < COMM_LEN);
		need(rec->who[i].ns == e->who[i].ns && rec->who[i].pid == e->who[i].pid);
	}
}

static bool untouched(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++) {
		if (p[i] != 0xa5)
			return false;
	}
	return true;
}

static void one(const uint8_t *data, size_t len)
{
	struct record rec;
	struct call_event e;
	int err;

	memset(&rec, 0xa5, sizeof(rec));
	err = decode(data, len, &rec);
	if (!err) {
		need(len == sizeof(e));
		memcpy(&e, data, sizeof(e));
		check(&rec, &e);
	} else {
		need(err == -EBADMSG && why(err)[0]);
		need(untouched(&rec, sizeof(rec)));
	}
}

/* As it is, and made to look right in the fields that nearly always refuse it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *bytes = malloc(len ? len : 1); /* exact, so that a byte too far is seen */
	struct call_event e;

	memcpy(bytes, data, len);
	one(bytes, len);
	free(bytes);

	memset(&e, 0, sizeof(e));
	memcpy(&e, data, len < sizeof(e) ? len : sizeof(e));
	e.size = sizeof(e);
	e.op %= OP_SLOTS;
	e.who_count %= WHO_MAX + 2;
	one((const uint8_t *)&e, sizeof(e));
	return 0;
}
