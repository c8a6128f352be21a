// SPDX-License-Identifier: Apache-2.0
/* What the kernel has of NVMe: in itself, or in a module. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <unistd.h>

#include "lineage/lineage_int.h"

#define MODULE "nvme_core"

static int64_t offset_of(const struct btf *btf, const struct btf_type *type, const char *field)
{
	const struct btf_member *m = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(btf, m[i].name_off);
		uint32_t bit = btf_member_bit_offset(type, i);

		if (name && strcmp(name, field) == 0 && bit % 8 == 0)
			return bit / 8;
	}
	return -1;
}

/* The driver's own part of a request lies behind it. */
static void find_fields(const struct btf *btf, struct nvme_kernel *ret)
{
	int rq = btf__find_by_name_kind(btf, "request", BTF_KIND_STRUCT);
	int own = btf__find_by_name_kind(btf, "nvme_request", BTF_KIND_STRUCT);
	int64_t size, status, retries;

	if (rq < 0 || own < 0)
		return;
	size = btf__resolve_size(btf, (uint32_t)rq);
	status = offset_of(btf, btf__type_by_id(btf, (uint32_t)own), "status");
	retries = offset_of(btf, btf__type_by_id(btf, (uint32_t)own), "retries");
	if (size <= 0 || status < 0 || retries < 0)
		return;
	ret->status = (uint32_t)(size + status);
	ret->retries = (uint32_t)(size + retries);
}

static bool has_setup(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "btf_trace_nvme_setup_cmd", BTF_KIND_TYPEDEF) > 0;
}

void nvme_kernel(struct nvme_kernel *ret)
{
	struct btf *base = btf__load_vmlinux_btf(), *module;

	*ret = (struct nvme_kernel){ 0 };
	if (libbpf_get_error(base))
		return;
	ret->there = has_setup(base);
	if (ret->there) {
		find_fields(base, ret);
	} else if (!access("/sys/module/" MODULE, F_OK)) {
		ret->there = true; /* whether it has the tracepoint shows when it is attached */
		module = btf__load_module_btf(MODULE, base);
		if (!libbpf_get_error(module)) {
			find_fields(module, ret);
			btf__free(module);
		}
	}
	btf__free(base);
}
