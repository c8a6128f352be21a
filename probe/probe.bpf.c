// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Everything that runs in the kernel, as one object: the parts share inlined code and maps. */
#include "probe/call.bpf.h"
#include "probe/gpu.bpf.h"
#include "probe/host.bpf.h"
#include "probe/overlay.bpf.h"
#include "probe/settle.bpf.h"
#include "probe/tenant.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
