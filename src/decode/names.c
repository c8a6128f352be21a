// SPDX-License-Identifier: Apache-2.0
/* Names for losses, for what is shed, and for host events: as the store keeps them, and as people read them. */
#include "decode/record.h"

const char *const loss_names[LOSS_COUNT] = {
#define X(id, text) [LOSS_##id] = #id,
	LOSSES(X)
#undef X
};

const char *const loss_texts[LOSS_COUNT] = {
#define X(id, text) [LOSS_##id] = text,
	LOSSES(X)
#undef X
};

const char *const shed_names[SHED_COUNT] = {
#define X(id, text) [SHED_##id] = #id,
	SHEDS(X)
#undef X
};

const char *const shed_texts[SHED_COUNT] = {
#define X(id, text) [SHED_##id] = text,
	SHEDS(X)
#undef X
};

const char *const host_event_names[HOST_COUNT] = {
#define X(id, text) [HOST_##id] = #id,
	HOST_EVENTS(X)
#undef X
};
