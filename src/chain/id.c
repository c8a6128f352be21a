// SPDX-License-Identifier: Apache-2.0
/*
 * The identity of a chain: a hash of what makes it the same one. By value and name only, so that
 * every machine and every run of the agent gives the same id.
 */
#include <string.h>

#include "chain/chain_int.h"

static uint64_t mix_byte(uint64_t id, unsigned char byte)
{
	return (id ^ byte) * 0x100000001b3ull;
}

/* Whole numbers at once: this runs for every hop of every wait. */
static uint64_t mix(uint64_t id, uint64_t value)
{
	id = (id ^ value) * 0x9e3779b97f4a7c15ull;
	return id ^ id >> 32;
}

static uint64_t mix_text(uint64_t id, const char *text, size_t cap)
{
	for (size_t i = 0; i < cap && text[i]; i++)
		id = mix_byte(id, (unsigned char)text[i]);
	return mix_byte(id, 0); /* so that no text runs into what follows */
}

/* By name, since the numbers change when a version learns of another; each name once. */
static uint64_t name_id(const char *const names[], uint64_t *known, int i)
{
	if (!known[i])
		known[i] = mix_text(0xcbf29ce484222325ull, names[i], SIZE_MAX);
	return known[i];
}

bool state_has_object(enum state state)
{
	switch (state) {
	case STATE_FUTEX:
	case STATE_PIPE:
	case STATE_SOCKET:
	case STATE_READ:
	case STATE_WRITE:
	case STATE_FSYNC:
		return true;
	default:
		return false; /* elsewhere obj is an address of code and the like */
	}
}

/* A disk has an interrupt for each of its queues, "nvme0q3": without the number it is the device. */
static size_t device_len(const char *device, size_t cap)
{
	size_t len = strnlen(device, cap), end = len;

	while (end && device[end - 1] >= '0' && device[end - 1] <= '9')
		end--;
	return end > 1 && end < len && strchr("q.-_", device[end - 1]) ? end - 1 : len;
}

/* Not which CPU, serial, queue or descriptor: they differ from one time to the next. */
static uint64_t mix_hop(uint64_t id, const struct hop *h, enum but but)
{
	static uint64_t states[STATE_COUNT], wakers[WAKER_COUNT], things[OBJECT_COUNT];
	static uint64_t relations[RELATION_COUNT];

	id = mix(id, (uint64_t)h->pid << 32 | h->tid);
	id = mix(id, (uint64_t)(uint32_t)h->nr << 32 | h->cpu_pid);
	id = mix(id, name_id(state_names, states, (int)h->state));
	id = mix(id, name_id(waker_names, wakers, (int)h->by));
	id = mix(id, name_id(object_names, things, (int)h->object));
	id = mix(id, name_id(relation_names, relations, (int)h->relation));
	if (!(but & BUT_OBJECTS) && state_has_object(h->state))
		id = mix(id, h->obj);
	if (!(but & BUT_STACKS) && h->stack)
		id = mix(id, h->stack);
	if (h->device[0])
		id = mix_text(id, h->device, device_len(h->device, sizeof(h->device)));
	return mix_text(id, h->name, sizeof(h->name));
}

uint64_t chain_id_but(const struct chain *c, enum but but)
{
	uint64_t id = mix_byte(0xcbf29ce484222325ull, c->complete);

	for (int i = 0; i < c->hops; i++)
		id = mix_hop(id, &c->hop[i], but);
	return id;
}

uint64_t chain_id(const struct chain *c)
{
	return chain_id_but(c, BUT_NOTHING);
}

uint64_t chain_bare_id(const struct chain *c)
{
	return chain_id_but(c, BUT_STACKS);
}
