/* SPDX-License-Identifier: Apache-2.0 */
/* Probes that a program was built with (sys/sdt.h): where they are, from its .note.stapsdt. */
#ifndef CAPTURE_USDT_H
#define CAPTURE_USDT_H

#include <stddef.h>
#include <stdint.h>

struct usdt_site {
	uint64_t offset; /* file offset of the instruction, inside an executable PT_LOAD */
	uint64_t semaphore; /* file offset of the counter that turns it on; 0: always on */
};

/*
 * All places of one probe, such as "python", "gc__start", in the ELF file behind fd, which may be
 * hostile: read as in capture/elf.h. Places outside the file's segments do not count. Returns how
 * many were written to sites[0..cap), 0 when the file has none, or a negative errno as elf_find()
 * does, -E2BIG also for more than cap.
 */
int usdt_find(int fd, const char *provider, const char *name, struct usdt_site *sites, size_t cap);

#endif
