// SPDX-License-Identifier: Apache-2.0
/* Records of the ring, checked: nothing behind this reads past an end or trusts an index. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "lineage/lineage_int.h"

static void end_text(char *text, size_t size)
{
	text[size - 1] = '\0';
}

static int check_event(struct lineage_event *e)
{
	if (e->key.class >= LINEAGE_CLASS_COUNT || e->key.owner >= LINEAGE_OWNER_COUNT)
		return fail(-EBADMSG, "a request of class %u and owner %u", e->key.class,
			    e->key.owner);
	end_text(e->comm, sizeof(e->comm));
	return 0;
}

static int check_name(struct lineage_name *n)
{
	if (n->parts > LINEAGE_PARTS)
		return fail(-EBADMSG, "a name of %u folders", n->parts);
	end_text(n->last, sizeof(n->last));
	for (uint32_t i = 0; i < n->parts; i++)
		end_text(n->part[i], sizeof(n->part[i]));
	return 0;
}

int lineage_check(void *bytes, size_t len)
{
	uint32_t kind = 0;

	if (len >= sizeof(kind))
		memcpy(&kind, bytes, sizeof(kind));
	if (kind == LINEAGE_EVENT && len == sizeof(struct lineage_event))
		return check_event(bytes);
	if (kind == LINEAGE_NAME && len == sizeof(struct lineage_name))
		return check_name(bytes);
	if (kind == LINEAGE_ASK && len == sizeof(struct lineage_ask))
		return 0;
	if (kind == LINEAGE_WAKE && len == sizeof(struct lineage_wake)) {
		end_text(((struct lineage_wake *)bytes)->comm, LINEAGE_COMM);
		return 0;
	}
	return fail(-EBADMSG, "a record of kind %u and %zu bytes", kind, len);
}
