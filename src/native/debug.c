// SPDX-License-Identifier: Apache-2.0
/*
 * Symbols that a stripped file left elsewhere: a debug file of the host, by build id or by name, or
 * compressed inside the file. Debug files are looked for below one folder only and may not lead out.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "base/util.h"
#include "native/native_int.h"

#define UNPACKED_MAX (16u << 20)
#define PACKED_MAX (8u << 20)
#define LZMA_MEMORY_MAX (32u << 20)
#define CRC_FILE_MAX (64u << 20)
#define CHUNK_BYTES 65536

static int open_below(const char *root, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (dir < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close(dir);
	return fd;
}

static bool open_path(struct native *n, struct image *im, const char *path)
{
	struct stat st;
	int fd = open_below(n->debug_root, path);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return false;
	}
	im->debug = (struct source){ .fd = fd, .size = (uint64_t)st.st_size, .budget = &n->budget };
	return true;
}

bool debug_reopen(struct native *n, struct image *im)
{
	return im->debug.fd >= 0 || (im->debug_path && open_path(n, im, im->debug_path));
}

/* The notes of a debug file are found by section: its segments lie in the other file. */
static bool same_build_id(struct native *n, struct image *im)
{
	struct elf *e = &n->elf;
	size_t len = strlen(im->id.build_id) / 2;
	uint8_t note[16 + 64];
	char hex[3];
	Elf64_Shdr s;

	memset(e, 0, offsetof(struct elf, buf));
	if (!len || len > 64 || elf_init_debug(e, im->debug.fd) ||
	    !image_section(e, ".note.gnu.build-id", &s) || s.sh_size < 16 + len ||
	    !source_read(&im->debug, s.sh_offset, note, 16 + len))
		return false;
	for (size_t i = 0; i < len; i++) {
		snprintf(hex, sizeof(hex), "%02x", note[16 + i]);
		if (memcmp(hex, im->id.build_id + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

static bool same_crc(struct native *n, const struct image *im, uint32_t want)
{
	uLong crc = crc32(0, NULL, 0);
	char *buf = n->elf.buf.bytes;

	if (im->debug.size > CRC_FILE_MAX)
		return false;
	for (uint64_t at = 0; at < im->debug.size;) {
		size_t batch = (size_t)min_u64(sizeof(n->elf.buf.bytes), im->debug.size - at);

		if (!source_read(&im->debug, at, buf, batch))
			return false;
		crc = crc32(crc, (const Bytef *)buf, (uInt)batch);
		at += batch;
	}
	return crc == want;
}

static bool try_path(struct native *n, struct image *im, const char *path, const uint32_t *crc)
{
	if (!open_path(n, im, path))
		return false;
	if (im->id.build_id[0] ? same_build_id(n, im) : crc && same_crc(n, im, *crc)) {
		im->debug_path = xstrdup(path);
		return true;
	}
	close(im->debug.fd);
	im->debug.fd = -1;
	return false;
}

static bool by_build_id(struct native *n, struct image *im)
{
	char path[BUILD_ID_CAP + 32];

	if (strlen(im->id.build_id) < 4)
		return false;
	snprintf(path, sizeof(path), ".build-id/%.2s/%s.debug", im->id.build_id,
		 im->id.build_id + 2);
	return try_path(n, im, path, NULL);
}

/* A name, zeros to a multiple of four, a checksum. */
static bool read_link(const struct image *im, char *name, size_t cap, uint32_t *ret_crc)
{
	uint8_t raw[256 + 8];
	size_t size = (size_t)min_u64(im->debuglink.size, sizeof(raw)), len;
	struct bytes b;

	if (!size || !source_read(&im->own, im->debuglink.offset, raw, size))
		return false;
	len = strnlen((const char *)raw, size);
	if (!len || len >= size || len >= cap || memchr(raw, '/', len))
		return false;
	memcpy(name, raw, len + 1);
	b = bytes_of(raw, size);
	bytes_take(&b, (len + 4) / 4 * 4);
	*ret_crc = (uint32_t)bytes_number(&b, 4);
	return !b.bad && !streq(name, ".") && !streq(name, "..");
}

static bool by_link(struct native *n, struct image *im, const char *module)
{
	const char *slash = strrchr(module, '/');
	char name[256], path[PATH_MAX];
	uint32_t crc;
	int len;

	if (module[0] != '/' || !slash || !read_link(im, name, sizeof(name), &crc))
		return false;
	/* RESOLVE_BENEATH deals with what a path may contain. */
	len = snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - module), module, name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return false;
	return try_path(n, im, path + strspn(path, "/"), &crc);
}

bool debug_open(struct native *n, struct image *im, const char *module)
{
	return by_build_id(n, im) || (im->debuglink.size && by_link(n, im, module));
}

static bool write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t put = write(fd, data, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		data += put;
		len -= (size_t)put;
	}
	return true;
}

/* One step of the decoder: input from the file, output to the memory file. */
static lzma_ret unpack_step(lzma_stream *z, const struct image *im, uint64_t *at, uint8_t *in,
			    bool *ok)
{
	if (!z->avail_in && *at < im->debugdata.size) {
		size_t batch = (size_t)min_u64(CHUNK_BYTES, im->debugdata.size - *at);

		*ok = source_read(&im->own, im->debugdata.offset + *at, in, batch);
		z->next_in = in;
		z->avail_in = batch;
		*at += batch;
	}
	return lzma_code(z, *at == im->debugdata.size ? LZMA_FINISH : LZMA_RUN);
}

static bool unpack(struct native *n, const struct image *im, int fd)
{
	uint8_t *in = xcalloc(2, CHUNK_BYTES), *out = in + CHUNK_BYTES;
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret state = lzma_stream_decoder(&z, LZMA_MEMORY_MAX, 0);
	uint64_t at = 0, total = 0;
	bool ok = true;

	while (ok && state == LZMA_OK) {
		size_t made;

		z.next_out = out;
		z.avail_out = CHUNK_BYTES;
		state = unpack_step(&z, im, &at, in, &ok);
		made = CHUNK_BYTES - z.avail_out;
		total += made;
		/* Unpacking is slower than reading, and counts accordingly. */
		ok = ok && total <= UNPACKED_MAX && made * 4 <= n->budget &&
		     write_all(fd, out, made);
		n->budget -= ok ? made * 4 : 0;
	}
	lzma_end(&z);
	free(in);
	return ok && state == LZMA_STREAM_END;
}

int debug_unpack(struct native *n, const struct image *im)
{
	int fd;

	if (!im->debugdata.size || im->debugdata.size > PACKED_MAX)
		return -1;
	fd = memfd_create("debugdata", MFD_CLOEXEC);
	if (fd >= 0 && !unpack(n, im, fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}
