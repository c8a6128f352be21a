/* SPDX-License-Identifier: Apache-2.0 */
/* What a file was, and when: kept in the store, and on the file itself as DIGEST_ATTR. */
#ifndef INTEGRITY_DIGEST_H
#define INTEGRITY_DIGEST_H

#include <stdbool.h>

#include "integrity/sha256.h"

#define DIGEST_ATTR "user.ai.sha256"
#define DIGEST_TEXT 160

struct digest {
	char hex[SHA256_HEX]; /* "": not known */
	uint64_t size;
	uint64_t mtime_ns;
};

/* "sha256:HEX size=N mtime=NS" */
char *digest_format(char dst[DIGEST_TEXT], const struct digest *d);

/* Bytes of anybody. -EBADMSG: no such thing; *ret is then empty. */
int digest_parse(const char *value, size_t len, struct digest *ret);

/* Of an open file. -ENODATA: it has none; -EBADMSG: something else. */
int digest_read(int fd, struct digest *ret);

/* Hash an open file from its beginning, at most so many bytes a second (0: any). */
int digest_make(int fd, uint64_t bytes_per_second, struct digest *ret);

#endif
