// SPDX-License-Identifier: Apache-2.0
/* Names for the numbers: as the store keeps them, and as people read them. */
#include "chain/chain.h"

const char *const state_names[STATE_COUNT] = {
#define X(id, name, text) [STATE_##id] = #name,
	STATES(X)
#undef X
};

const char *const state_texts[STATE_COUNT] = {
#define X(id, name, text) [STATE_##id] = text,
	STATES(X)
#undef X
};

const char *const waker_names[WAKER_COUNT] = {
#define X(id, text) [WAKER_##id] = #id,
	WAKERS(X)
#undef X
};

const char *const object_names[OBJECT_COUNT] = {
#define X(id, text) [OBJECT_##id] = #id,
	OBJECTS(X)
#undef X
};

const char *const relation_names[RELATION_COUNT] = {
#define X(id, text) [RELATION_##id] = #id,
	RELATIONS(X)
#undef X
};
