/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors of GPUs, as NVIDIA's driver reports them. Where it has no such tracepoint this is never run. */
#ifndef PROBE_GPU_BPF_H
#define PROBE_GPU_BPF_H

#include "probe/lib.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, XID_EVENTS);
	__type(value, struct xid_event);
} xids SEC(".maps");

/* By its raw arguments: types of the driver's own BTF are not needed, nor that it has any. */
SEC("raw_tp/nvidia_dev_xid")
int BPF_PROG(gpu_error, struct pci_dev *device, __u32 code, const char *text)
{
	struct xid_event event = {};
	const char *name;

	if (!bpf_core_type_exists(struct pci_dev))
		return 0;
	name = BPF_CORE_READ(device, dev.init_name);
	if (!name)
		name = BPF_CORE_READ(device, dev.kobj.name);
	event.at_ns = now_ns();
	event.code = code;
	bpf_probe_read_kernel_str(event.bus_id, sizeof(event.bus_id), name);
	bpf_probe_read_kernel_str(event.text, sizeof(event.text), text);
	if (bpf_map_push_elem(&xids, &event, 0))
		count(loss[LOSS_no_host_event]);
	return 0;
}

#endif
