/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPUs say of themselves, and their errors, into the store. */
#ifndef AGENT_GPUS_H
#define AGENT_GPUS_H

#include "capture/capture.h"
#include "gpu/gpu.h"
#include "store/store.h"

struct gpus;

/* samples: ask NVML. library: NULL is wherever it is found. */
struct gpus *gpus_new(bool samples, const char *library);
void gpus_free(struct gpus *g);

/* Take what is there. Between the ticks, too: errors are to have their time. */
int gpus_read(struct gpus *g, struct capture *capture, struct store *store, uint64_t now);

/* Ids of rows are void: tell everything anew. */
void gpus_forget(struct gpus *g);

/* All zeros: nobody asks. */
void gpus_status(const struct gpus *g, struct gpu_helper_status *ret);

#endif
