/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4). Own: the library that has it is ten times the size of all that we link. */
#ifndef INTEGRITY_SHA256_H
#define INTEGRITY_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_HEX (2 * SHA256_BYTES + 1)

struct sha256 {
	uint32_t h[8];
	uint32_t used; /* of block */
	uint64_t len;
	uint8_t block[64];
};

/* No allocation, no lock, no errno: may be used after fork() in a process with threads. */
void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t len);
void sha256_end(struct sha256 *s, uint8_t ret[SHA256_BYTES]);

char *sha256_hex(char dst[SHA256_HEX], const uint8_t sum[SHA256_BYTES]);

#endif
