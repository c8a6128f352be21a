// SPDX-License-Identifier: Apache-2.0
/* Findings for programs: what a disk did for the file. */
#include "explain/explain_int.h"

void json_disk(struct json *j, const struct finding *f)
{
	const struct finding_disk *d = &f->disk;

	if (!d->name[0])
		return;
	json_str(j, "device", d->name);
	json_u64(j, "requests", d->requests);
	json_u64(j, "bytes", d->bytes);
	json_u64(j, "p99_ns", d->p99_ns);
	json_u64(j, "max_ns", d->max_ns);
	if (d->has_offset)
		json_u64(j, "offset", d->offset);
	if (d->owner_pid) {
		json_u64(j, "owner_pid", d->owner_pid);
		json_str(j, "owner", d->owner);
	}
}
