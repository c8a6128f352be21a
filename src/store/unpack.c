// SPDX-License-Identifier: Apache-2.0
/* Blocks into calls. Whatever the bytes are, nothing is read or written that is not ours. */
#include <errno.h>
#include <stdlib.h>

#include "store/pack.h"
#include "store/pack_int.h"

struct reader {
	const uint8_t *at, *end;
};

/* Nothing at all may be NULL, as SQLite gives it. */
static struct reader read_from(const uint8_t *bytes, size_t len)
{
	static const uint8_t nothing;

	return len ? (struct reader){ bytes, bytes + len } : (struct reader){ &nothing, &nothing };
}

struct unpacker {
	struct reader data;
	struct packed_kind *kind;
	struct packed_last *last; /* of each kind */
	uint32_t kinds, calls;
	uint64_t at_ns;
	struct packed_dict dict;
};

static int get(struct reader *r, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		if (shift == 63 && byte > 1)
			break; /* more than 64 bits */
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return 0;
		}
	}
	return -EBADMSG;
}

static int get_signed(struct reader *r, uint64_t *ret)
{
	uint64_t value;
	int err = get(r, &value);

	*ret = err ? 0 : value >> 1 ^ -(value & 1);
	return err;
}

/* ---- kinds ---- */

struct ops {
	const uint8_t *id; /* 8 bytes each */
	uint64_t count;
};

static int get_ops(struct reader *r, struct ops *ret)
{
	if (get(r, &ret->count) || ret->count > (uint64_t)(r->end - r->at) / 8)
		return -EBADMSG;
	ret->id = r->at;
	r->at += 8 * ret->count;
	return 0;
}

static uint64_t op_id(const struct ops *ops, uint64_t number)
{
	uint64_t id = 0;

	for (int b = 0; b < 8; b++)
		id |= (uint64_t)ops->id[8 * number + b] << (8 * b);
	return id;
}

static int get_kind(struct reader *r, const struct ops *ops, struct packed_kind *ret)
{
	uint64_t op, next;

	if (get(r, &op) || get(r, &next) || get(r, &ret->stack) || get(r, &ret->calls) ||
	    get(r, &ret->ns) || op >= ops->count || next > ops->count)
		return -EBADMSG;
	ret->op = op_id(ops, op);
	ret->next = next ? op_id(ops, next - 1) : 0;
	return 0;
}

int packed_kinds(const uint8_t *kinds, size_t len, int (*fn)(const struct packed_kind *, void *),
		 void *arg)
{
	struct reader r = read_from(kinds, len);
	struct packed_kind kind;
	struct ops ops;
	int err;

	if (!len)
		return 0;
	err = get_ops(&r, &ops);
	for (int n = 0; !err && r.at < r.end; n++) {
		err = n < PACK_KINDS ? get_kind(&r, &ops, &kind) : -EBADMSG;
		if (!err)
			err = fn(&kind, arg);
	}
	return err;
}

/* ---- calls ---- */

static int add_kind(const struct packed_kind *kind, void *arg)
{
	struct unpacker *u = arg;

	u->kind[u->kinds] = *kind;
	u->last[u->kinds++] = packed_first;
	return 0;
}

struct unpacker *unpacker_new(const uint8_t *kinds, size_t kinds_len, const uint8_t *data,
			      size_t data_len)
{
	size_t most = kinds_len / 5 + 1; /* a kind has at least five bytes */
	struct unpacker *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	if (most > PACK_KINDS)
		most = PACK_KINDS;
	u->kind = calloc(most, sizeof(*u->kind));
	u->last = calloc(most, sizeof(*u->last));
	u->data = read_from(data, data_len);
	if (!u->kind || !u->last || packed_kinds(kinds, kinds_len, add_kind, u)) {
		unpacker_free(u);
		return NULL;
	}
	return u;
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	free(u->kind);
	free(u->last);
	free(u);
}

static int get_delta(struct unpacker *u, uint64_t was, uint64_t *ret)
{
	uint64_t delta;
	int err = get_signed(&u->data, &delta);

	*ret = was + delta;
	return err;
}

static int get_value(struct unpacker *u, uint64_t was, uint64_t *ret)
{
	struct packed_dict *d = &u->dict;
	uint64_t ago;
	int err = get(&u->data, &ago);

	if (err || ago > d->count || ago > PACKED_DICT)
		return -EBADMSG;
	if (ago) {
		*ret = d->value[(d->count - ago) % PACKED_DICT];
		return 0;
	}
	err = get_delta(u, was, ret);
	packed_dict_add(d, *ret);
	return err;
}

static int get_split(struct reader *r, struct packed_call *ret)
{
	uint64_t bits;
	int err = get(r, &bits);

	if (err || bits >> (STATE_COUNT + COUNTER_COUNT))
		return -EBADMSG;
	for (int i = 0; i < STATE_COUNT; i++)
		if (bits >> i & 1)
			err |= get(r, &ret->state_ns[i]);
	for (int i = 0; i < COUNTER_COUNT; i++)
		if (bits >> (STATE_COUNT + i) & 1)
			err |= get(r, &ret->counter[i]);
	return err ? -EBADMSG : 0;
}

#define GET_DELTA(was, ret) get_delta(u, was, ret)
#define GET_VALUE(was, ret) get_value(u, was, ret)

static int get_fields(struct unpacker *u, uint64_t bits, struct packed_last *last,
		      struct packed_call *ret)
{
	uint64_t value;

#define X(bit, field, how)                                                                         \
	if (bits & PACKED_##bit) {                                                                 \
		if (GET_##how((uint64_t)last->field, &value))                                      \
			return -EBADMSG;                                                           \
		last->field = (__typeof__(last->field))value;                                      \
	}                                                                                          \
	ret->field = last->field;
	PACKED_FIELDS(X)
#undef X
	if (bits & PACKED_SPLIT)
		return get_split(&u->data, ret);
	ret->state_ns[STATE_RUN] = ret->dur_ns;
	return 0;
}

int unpacker_next(struct unpacker *u, struct packed_call *ret)
{
	uint64_t kind, bits, delta;

	if (u->data.at == u->data.end)
		return 0;
	*ret = (struct packed_call){ 0 };
	if (u->calls++ >= PACK_CALLS || get(&u->data, &kind) || get(&u->data, &bits) ||
	    get_signed(&u->data, &delta) || get(&u->data, &ret->dur_ns) || kind >= u->kinds ||
	    bits >= PACKED_END || get_fields(u, bits, &u->last[kind], ret)) {
		u->data.at = u->data.end; /* nothing after it can be told */
		return -EBADMSG;
	}
	u->at_ns += delta;
	ret->start_ns = u->at_ns;
	ret->op = u->kind[kind].op;
	ret->next = u->kind[kind].next;
	ret->stack = u->kind[kind].stack;
	return 1;
}
