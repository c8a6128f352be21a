// SPDX-License-Identifier: Apache-2.0
/* Any .gnu_debuglink, any .gnu_debugdata: as it is, or properly compressed around any content. */
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>

#include "test/fuzz/native_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { COMPRESSED = 1, AS_ELF = 2, ON_DISK = 4, SAFE_LINK = 8 };

static char root[] = "/tmp/native-fuzz-XXXXXX";

static void clean_up(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/x.debug", root);
	unlink(path);
	rmdir(root);
}

/* The fuzzed bytes as symbols of a file of debug information. */
static size_t debug_file(const uint8_t *data, size_t len, uint8_t **ret)
{
	size_t strings = (size_t)min_u64(len, 64);
	struct fuzz_image im;
	int table;

	image_begin(&im);
	table = image_add(&im, ".symtab", SHT_SYMTAB, data + strings, len - strings);
	im.section[table].sh_entsize = sizeof(Elf64_Sym);
	im.section[table].sh_link = 3;
	image_add(&im, ".strtab", SHT_STRTAB, data, strings);
	image_end(&im);
	*ret = im.bytes;
	return im.size;
}

static void put_on_disk(const uint8_t *data, size_t len)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/x.debug", root);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	need(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}

/* What .gnu_debuglink must say of that file to be believed. */
static size_t good_link(const uint8_t *data, size_t len, uint8_t *dst)
{
	uint32_t crc = lzma_crc32(data, len, 0);

	memcpy(dst, "x.debug", 8);
	memcpy(dst + 8, &crc, 4);
	return 12;
}

static void look(const struct fuzz_image *im, const uint8_t *data)
{
	struct native *n = native_new();
	struct image *file = image_open(n, im);
	struct want w = { .image = file,
			  .module = "/file",
			  .addr = data[0] * 16ul,
			  .func_start = data[1],
			  .answer = { "", false } };

	n->debug_root = root;
	symbols_find(n, &w, 1);
	need_harmless(w.answer.func);
	need(file->bytes < 24u << 20);
	image_free(file);
	native_free(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static bool ready;
	uint8_t how, *debug = NULL, *packed, link[320];
	size_t size, used = 0, link_size;
	struct fuzz_image im;

	if (len < 8 || len > 65536)
		return 0;
	if (!ready) {
		need(mkdtemp(root) && !atexit(clean_up));
		ready = true;
	}
	how = *data++;
	len--;
	size = len;
	if (how & AS_ELF)
		size = debug_file(data, len, &debug);
	packed = xcalloc(1, size + 4096);
	if (how & COMPRESSED)
		need(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, debug ? debug : data, size,
					     packed, &used, size + 4096) == LZMA_OK);
	if (how & ON_DISK)
		put_on_disk(debug ? debug : data, size);
	link_size = (size_t)min_u64(len, sizeof(link));
	memcpy(link, data, link_size);
	if (how & SAFE_LINK)
		link_size = good_link(debug ? debug : data, size, link);
	image_begin(&im);
	image_add(&im, ".gnu_debuglink", SHT_PROGBITS, link, link_size);
	image_add(&im, ".gnu_debugdata", SHT_PROGBITS, used ? packed : data, used ? used : len);
	image_end(&im);
	look(&im, data);
	free(im.bytes);
	free(packed);
	free(debug);
	return 0;
}
