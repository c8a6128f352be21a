/* SPDX-License-Identifier: Apache-2.0 */
/* Read a small file, such as those of /proc, whole and bounded; or memory of another process. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Up to cap - 1 bytes of a file, always followed by a NUL (buf is "" after an error). A longer file
 * is not an error: *ret_len is then cap - 1. ret_len may be NULL, cap may not be 0. Never blocks on
 * a FIFO and never makes a terminal ours.
 */
int file_read(const char *path, char *buf, size_t cap, size_t *ret_len);

/* The same, path relative to an open directory. */
int file_read_at(int dirfd, const char *path, char *buf, size_t cap, size_t *ret_len);

/* Exactly so many bytes, or false. The process may be gone, or be another by now. */
bool file_read_memory(uint32_t pid, uint64_t addr, void *dst, size_t size);

#endif
