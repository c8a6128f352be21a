// SPDX-License-Identifier: Apache-2.0
/* Calls into blocks. What a field was in the last call of its kind is not written again. */
#include "store/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "store/pack_int.h"

#define SLOTS (2 * PACK_KINDS) /* a power of two */

struct packer {
	struct packed_kind kind[PACK_KINDS];
	struct packed_last last[PACK_KINDS];
	struct packed_dict dict;
	uint16_t slot[SLOTS]; /* kind + 1; 0 is free */
	uint16_t dict_slot[PACKED_DICT * 4]; /* where a value was put, as a guess */
	uint32_t kinds, calls, recent; /* recent: kind of the last call */
	uint64_t first_ns, last_ns, at_ns; /* at_ns: start of the last call */
	bool taken; /* the next call begins a new block */
	size_t len;
	uint8_t head[PACK_KINDS_MAX];
	uint8_t data[PACK_BYTES + PACK_CALL_MAX];
};

struct packer *packer_new(void)
{
	return xcalloc(1, sizeof(struct packer));
}

void packer_free(struct packer *p)
{
	free(p);
}

/* The rest is written before it is read. */
static void start_block(struct packer *p)
{
	memset(p->slot, 0, sizeof(p->slot));
	p->dict.count = p->kinds = p->calls = p->recent = 0;
	p->at_ns = 0;
	p->len = 0;
	p->taken = false;
}

static size_t put(uint8_t *dst, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		dst[n++] = (uint8_t)(value | 0x80);
	dst[n++] = (uint8_t)value;
	return n;
}

static size_t put_signed(uint8_t *dst, uint64_t delta)
{
	return put(dst, delta << 1 ^ -(delta >> 63));
}

static bool is_kind(const struct packed_kind *k, const struct packed_call *c)
{
	return k->op == c->op && k->stack == c->stack && k->next == c->next;
}

/* The kind of a call; one that is new is made. PACK_KINDS: no room. */
static uint32_t kind_of(struct packer *p, const struct packed_call *c)
{
	uint64_t hash =
		(c->op ^ c->stack * 0x9e3779b97f4a7c15ull ^ c->next << 7) * 0xff51afd7ed558ccdull;
	uint32_t at = (uint32_t)(hash >> 32) % SLOTS;

	if (p->recent < p->kinds && is_kind(&p->kind[p->recent], c))
		return p->recent;
	for (; p->slot[at]; at = (at + 1) % SLOTS)
		if (is_kind(&p->kind[p->slot[at] - 1], c))
			return p->slot[at] - 1u;
	if (p->kinds == PACK_KINDS)
		return PACK_KINDS;
	p->kind[p->kinds] = (struct packed_kind){ c->op, c->next, c->stack, 0, 0 };
	p->last[p->kinds] = packed_first;
	p->slot[at] = (uint16_t)(p->kinds + 1);
	return p->kinds++;
}

/* A value that may come again: how long ago it was told, or 0 and by how much it differs from was. */
static size_t put_value(struct packer *p, uint8_t *dst, uint64_t value, uint64_t was)
{
	struct packed_dict *d = &p->dict;
	uint16_t *guess = &p->dict_slot[(value * 0x9e3779b97f4a7c15ull) >> 54];
	size_t n;

	_Static_assert(sizeof(p->dict_slot) / sizeof(p->dict_slot[0]) == 1 << 10, "64 - 54 bits");
	if (*guess < d->count && d->value[*guess] == value) /* what is left of another block: not */
		return put(dst, (d->count - 1 - *guess) % PACKED_DICT + 1);
	n = put(dst, 0);
	n += put_signed(dst + n, value - was);
	*guess = (uint16_t)(d->count % PACKED_DICT);
	packed_dict_add(d, value);
	return n;
}

static size_t put_split(uint8_t *dst, const struct packed_call *c)
{
	uint64_t bits = 0;
	size_t n;

	for (int i = 0; i < STATE_COUNT; i++)
		bits |= c->state_ns[i] ? 1ull << i : 0;
	for (int i = 0; i < COUNTER_COUNT; i++)
		bits |= c->counter[i] ? 1ull << (STATE_COUNT + i) : 0;
	n = put(dst, bits);
	for (int i = 0; i < STATE_COUNT; i++)
		if (c->state_ns[i])
			n += put(dst + n, c->state_ns[i]);
	for (int i = 0; i < COUNTER_COUNT; i++)
		if (c->counter[i])
			n += put(dst + n, c->counter[i]);
	return n;
}

/* Did it run all the time, as most do? */
static bool only_ran(const struct packed_call *c)
{
	uint64_t other = c->state_ns[STATE_RUN] ^ c->dur_ns;

	for (int i = 0; i < STATE_COUNT; i++)
		other |= i == STATE_RUN ? 0 : c->state_ns[i];
	for (int i = 0; i < COUNTER_COUNT; i++)
		other |= c->counter[i];
	return !other;
}

static uint64_t differs(const struct packed_call *c, const struct packed_last *last)
{
	uint64_t bits = only_ran(c) ? 0 : PACKED_SPLIT;

#define X(bit, field, how) bits |= c->field == last->field ? 0 : PACKED_##bit;
	PACKED_FIELDS(X)
#undef X
	return bits;
}

#define PUT_DELTA(field) n += put_signed(dst + n, (uint64_t)c->field - (uint64_t)last->field)
#define PUT_VALUE(field) n += put_value(p, dst + n, (uint64_t)c->field, (uint64_t)last->field)

bool packer_add(struct packer *p, const struct packed_call *c)
{
	struct packed_last *last;
	uint64_t bits;
	uint8_t *dst;
	uint32_t k;
	size_t n;

	if (p->taken)
		start_block(p);
	if (p->calls == PACK_CALLS || p->len > PACK_BYTES)
		return false;
	k = kind_of(p, c);
	if (k == PACK_KINDS)
		return false;
	if (!p->calls)
		p->first_ns = p->last_ns = c->start_ns;
	last = &p->last[k];
	bits = differs(c, last);
	dst = p->data + p->len;
	n = put(dst, k);
	n += put(dst + n, bits);
	n += put_signed(dst + n, c->start_ns - p->at_ns);
	n += put(dst + n, c->dur_ns);
#define X(bit, field, how)                                                                         \
	if (bits & PACKED_##bit) {                                                                 \
		PUT_##how(field);                                                                  \
		last->field = c->field;                                                            \
	}
	PACKED_FIELDS(X)
#undef X
	if (bits & PACKED_SPLIT)
		n += put_split(dst + n, c);
	p->len += n;
	p->kind[k].calls++;
	p->kind[k].ns += c->dur_ns;
	p->recent = k;
	p->at_ns = c->start_ns;
	p->first_ns = min_u64(p->first_ns, c->start_ns);
	p->last_ns = max_u64(p->last_ns, c->start_ns);
	p->calls++;
	return true;
}

/* A number for each op and the ids behind them: kinds of a block share few ops. */
static size_t put_ops(struct packer *p, uint16_t number[PACK_KINDS][2])
{
	uint64_t op[2 * PACK_KINDS];
	uint32_t ops = 0;
	size_t n;

	for (uint32_t i = 0; i < 2 * p->kinds; i++) {
		uint64_t id = i % 2 ? p->kind[i / 2].next : p->kind[i / 2].op;
		uint32_t at = 0;

		if (i % 2 && !id) {
			number[i / 2][1] = 0;
			continue;
		}
		while (at < ops && op[at] != id)
			at++;
		if (at == ops)
			op[ops++] = id;
		number[i / 2][i % 2] = (uint16_t)(at + 1);
	}
	n = put(p->head, ops);
	for (uint32_t i = 0; i < ops; i++)
		for (int b = 0; b < 8; b++)
			p->head[n++] = (uint8_t)(op[i] >> (8 * b));
	return n;
}

void packer_take(struct packer *p, struct packed_block *ret)
{
	uint16_t number[PACK_KINDS][2] = { { 0 } };
	size_t n = 0;

	*ret = (struct packed_block){ 0 };
	if (!p->calls || p->taken)
		return;
	p->taken = true;
	n = put_ops(p, number);
	for (uint32_t i = 0; i < p->kinds; i++) {
		n += put(p->head + n, number[i][0] - 1u);
		n += put(p->head + n, number[i][1]);
		n += put(p->head + n, p->kind[i].stack);
		n += put(p->head + n, p->kind[i].calls);
		n += put(p->head + n, p->kind[i].ns);
	}
	*ret = (struct packed_block){
		.first_ns = p->first_ns,
		.last_ns = p->last_ns,
		.calls = p->calls,
		.kinds = p->head,
		.kinds_len = n,
		.data = p->data,
		.data_len = p->len,
	};
}
