/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of requests by disk, file and owner, as `io` shows them at its end. */
#ifndef CMD_IO_SUM_H
#define CMD_IO_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/lineage.h"

struct io_sums;

struct io_sums *io_sums_new(void);
void io_sums_free(struct io_sums *s);

/* At most 65536 are told apart; then the rest of a disk is one. */
void io_sums_add(struct io_sums *s, const char *disk, const char *file, const char *owner,
		 const struct lineage_flow *added, const struct lineage_maps *maps);
void io_sums_print(struct io_sums *s, const struct lineage_stats *stats, uint64_t shown, bool json);

/* A tag as people write it: 80042 or 0x138aa. */
int io_tag(const char *text, uint64_t *ret);

#endif
