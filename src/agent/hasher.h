/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of our own that reads files and hashes them, one at a time, at the lowest priority of CPU and disk and
 * at most so many bytes a second. It gets descriptors, has no other files and no rights, so what it reads
 * cannot hurt the agent; and its time is not the agent's, whose limit is for tracing.
 */
#ifndef AGENT_HASHER_H
#define AGENT_HASHER_H

#include "integrity/digest.h"

struct hasher;

int hasher_new(uint64_t bytes_per_second, struct hasher **ret);
void hasher_free(struct hasher *h);

/* Readable when a digest is there. */
int hasher_fd(const struct hasher *h);

/* Begin with the file behind fd, which stays the caller's. -EBUSY: it has one already. */
int hasher_start(struct hasher *h, int fd);

/* 1: it is done, *ret_err says how (-EAGAIN: it was written to meanwhile); 0: not yet; negative: gone. */
int hasher_done(struct hasher *h, int *ret_err, struct digest *ret);

#endif
