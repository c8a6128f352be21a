// SPDX-License-Identifier: Apache-2.0
/* Names for losses, for what is shed, and for host events: as the store keeps them, and as people read them. */
#include "decode/record.h"

#include "base/util.h"
#include "wire/lineage.h"

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

const char *loss_text(const char *name)
{
	static const struct {
		const char *name, *text;
	} reasons[] = {
#define X(id, text) { #id, text },
		LOSSES(X)
#undef X
#define X(id, text) { "io_" #id, text },
			LINEAGE_LOSSES(X)
#undef X
				{ "unstored_seconds", "seconds that the store refused" },
		{ "gpu_errors", "errors of GPUs not stored: too many at once" },
		{ "device_troubles", "troubles of devices not stored: too many at once" },
		{ "tag_records", "changes of tags lost: the ring was full" },
		{ "tag_tables_full", "tags not kept: too many tasks or files have one" },
		{ "tag_news", "tags of tasks not stored: too many at once" },
		{ "tag_files",
		  "times that new attributes of files may have been missed: too many at once" },
	};

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (streq(reasons[i].name, name))
			return reasons[i].text;
	return NULL;
}

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
