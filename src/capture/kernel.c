// SPDX-License-Identifier: Apache-2.0
/* The kernel's own description of itself (BTF), and /proc/devices. */
#include "capture/kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* One copy for the process: parsing takes a while. */
static const struct btf *own_btf(void)
{
	static struct btf *btf;

	if (!btf)
		btf = btf__load_vmlinux_btf();
	return libbpf_get_error(btf) ? NULL : btf;
}

/* Offset of a per-CPU variable inside its section; -1: none of that name. */
static int64_t percpu_offset(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	const struct btf_var_secinfo *var = section ? btf_var_secinfos(section) : NULL;

	for (int i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(btf, var[i].type);

		if (streq(btf__name_by_offset(btf, type->name_off), name))
			return var[i].offset;
	}
	return -1;
}

/* Offset of a member, also inside one level of anonymous struct or union; -1: none. */
static int64_t member_offset(const struct btf *btf, const struct btf_type *type, const char *name,
			     int depth)
{
	for (int i = 0; type && btf_is_composite(type) && i < btf_vlen(type); i++) {
		const struct btf_member *m = &btf_members(type)[i];
		const char *own = btf__name_by_offset(btf, m->name_off);
		int64_t at = btf_member_bit_offset(type, (uint32_t)i) / 8, inner;

		if (streq(own, name))
			return at;
		if (*own || !depth)
			continue;
		inner = member_offset(btf, btf__type_by_id(btf, m->type), name, depth - 1);
		if (inner >= 0)
			return at + inner;
	}
	return -1;
}

/* It has moved about: a variable of its own before 6.2 and since 6.15, in pcpu_hot between. */
static int64_t preempt_count(const struct btf *btf)
{
	int64_t at = percpu_offset(btf, "__preempt_count"), hot = percpu_offset(btf, "pcpu_hot");
	int64_t inside;
	int id;

	if (at >= 0 || hot < 0)
		return at;
	id = btf__find_by_name_kind(btf, "pcpu_hot", BTF_KIND_STRUCT);
	inside =
		id < 0 ? -1
		       : member_offset(btf, btf__type_by_id(btf, (uint32_t)id), "preempt_count", 2);
	return inside < 0 ? -1 : hot + inside;
}

static void gpu_majors(uint32_t ret[4])
{
	FILE *f = fopen("/proc/devices", "re");
	char line[128];
	int n = 0;

	while (f && n < 4 && fgets(line, sizeof(line), f)) {
		char *end;
		unsigned long major = strtoul(line, &end, 10);

		if (strncmp(line, "Block", 5) == 0)
			break;
		if (end != line && strncmp(end, " nvidia", 7) == 0)
			ret[n++] = (uint32_t)major;
	}
	if (f)
		(void)fclose(f);
}

void kernel_read(struct kernel *ret)
{
	const struct btf *btf = own_btf();
	int64_t base, at;

	*ret = (struct kernel){ 0 };
	gpu_majors(ret->gpu_major);
	base = btf ? percpu_offset(btf, "runqueues") : -1;
	if (base < 0)
		return;
	at = preempt_count(btf);
	if (at >= 0)
		ret->preempt_count_offset = at - base;
	at = percpu_offset(btf, "steal_time");
	if (at >= 0)
		ret->steal_offset = at - base;
}

bool kernel_has_tracepoint(const char *name, bool pointer)
{
	const struct btf *btf = own_btf();
	const struct btf_type *type;
	char full[96];
	int id;

	snprintf(full, sizeof(full), "btf_trace_%s", name);
	id = btf ? btf__find_by_name_kind(btf, full, BTF_KIND_TYPEDEF) : -1;
	if (id < 0)
		return false;
	if (!pointer)
		return true;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type); /* a pointer to */
	type = btf__type_by_id(btf,
			       type->type); /* ... a function; parameter 0 is the probe's data */
	return btf_is_func_proto(type) && btf_vlen(type) > 1 &&
	       btf_is_ptr(btf__type_by_id(btf, btf_params(type)[1].type));
}
