/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes tell of NCCL, as user space handles it: checked, with names. */
#ifndef DECODE_NCCL_H
#define DECODE_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/nccl.h"

struct nccl_record {
	enum nccl_event_kind kind;
	const struct op *op; /* static; NULL: a communicator from before we looked */
	uint32_t serial, pid, tid;
	uint32_t number; /* of the communicator; 0: of none */
	uint64_t comm, hash, parent; /* hash, parent: 0 is not known */
	int32_t rank, nranks; /* -1: not known */
	int32_t color, key; /* of a split */
	int32_t ret;
	bool grouped;
	uint64_t seq;
	uint64_t start_ns,
		end_ns; /* boot time; of a communicator: start is 0 where it was not seen */
	uint64_t count, stream;
	uint64_t bytes;
	bool bytes_known; /* false: of a type that we do not know */
	char type[16], redop[16]; /* "float32", "sum"; "": no such argument */
	int32_t root; /* or peer; -1: no such argument */
	uint64_t p2p, sent; /* of one that is gone: its counts; seq is that of its collectives */
};

/* Check and translate one record. Anything off is -EBADMSG, and the caller counts it. */
int decode_nccl(const void *bytes, size_t len, struct nccl_record *ret);

/* The arguments of an op of NCCL, wire/nccl.def; kind NCCL_NONE: it is none. */
extern const struct nccl_args nccl_args[OP_SLOTS];

#endif
