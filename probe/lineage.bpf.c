// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Storage lineage, an object of its own: `culprit io` loads nothing else. */
#include "probe/lineage_done.bpf.h"
#include "probe/lineage_wait.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
