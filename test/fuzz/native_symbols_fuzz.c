// SPDX-License-Identifier: Apache-2.0
/* Any symbol table, string table and name; an index and a scan must give the same answers. */
#include "base/hash.h"
#include "test/fuzz/native_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define WANTS 8
#define SAME_UP_TO 24 /* symbols; beyond, an index looks only at the nearest */

static void ask(struct native *n, struct image *im, const uint8_t *data, struct want *w)
{
	for (int i = 0; i < WANTS; i++) {
		w[i] = (struct want){ .image = im,
				      .module = "/nowhere/file",
				      .addr = IMAGE_ADDR + data[i] * 5u,
				      .answer = { "", false } };
		w[i].func_start = w[i].addr - data[i] % 64;
	}
	symbols_find(n, w, WANTS);
	for (int i = 0; i < WANTS; i++)
		need_harmless(w[i].answer.func);
}

static void compare(struct native *n, struct image *im, const uint8_t *data)
{
	struct want first[WANTS], second[WANTS];
	bool small = true;

	ask(n, im, data, first);
	for (size_t i = 0; i < SYMBOLS_MAX_TABLES; i++) {
		struct symbols *t = &im->symbols[i];

		small = small && t->n <= SAME_UP_TO;
		free(t->index);
		t->index = NULL;
	}
	hash_free(im->answers);
	im->answers = NULL;
	ask(n, im, data, second);
	for (int i = 0; small && i < WANTS; i++)
		need(streq(first[i].answer.func, second[i].answer.func));
}

static void demangle(const uint8_t *data, size_t len)
{
	char symbol[SYMBOL_CAP] = { '_', data[0] & 1 ? 'Z' : 'R' }, plain[SYMBOL_CAP];
	size_t part = (size_t)min_u64(len - 1, sizeof(symbol) - 3);

	memcpy(symbol + 2, data + 1, part);
	names_demangle(symbol, plain, sizeof(plain));
	need(strlen(plain) < sizeof(plain));
	symbol[1] = 'Z';
	symbol[2] = 'Z';
	part = (size_t)min_u64(part + 2, sizeof(symbol) - 11);
	str_copy(symbol + part, sizeof(symbol) - part, "E8__handle");
	if (stub_kernel(symbol, plain, sizeof(plain)))
		need(strlen(plain) < sizeof(plain));
}

static void find_variables(struct native *n, struct image *im, const uint8_t *data, size_t len)
{
	struct variable v[2] = { { .addr = IMAGE_ADDR }, { .addr = IMAGE_ADDR + data[0] } };
	uint64_t load[3];

	symbols_variables(n, im, "/nowhere/file", v, 2);
	for (int i = 0; i < 2; i++)
		need(strlen(v[i].symbol) < sizeof(v[i].symbol));
	need(stub_loads(data, len, IMAGE_ADDR, load, 3) <= 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct native *n;
	struct fuzz_image im;
	struct image *file;
	size_t strings;
	int table;

	if (len < WANTS + 2 || len > 65536)
		return 0;
	n = n ? n : native_new();
	n->debug_root = "/nonexistent";
	if (data[0] % 4 == 3) {
		demangle(data, len);
		return 0;
	}
	image_begin(&im);
	strings = (size_t)min_u64(data[1] * 4ul, len);
	table = image_add(&im, ".symtab", data[0] & 1 ? SHT_SYMTAB : SHT_DYNSYM, data + strings,
			  len - strings);
	im.section[table].sh_entsize = sizeof(Elf64_Sym);
	im.section[table].sh_link = 3;
	image_add(&im, ".strtab", SHT_STRTAB, data, strings);
	/* Addresses near those that are asked for, or nothing would ever be found. */
	for (size_t i = 0; (data[0] & 8) && (i + 1) * sizeof(Elf64_Sym) <= len - strings; i++) {
		Elf64_Sym s;
		uint8_t *at = im.bytes + IMAGE_DATA + i * sizeof(s);

		memcpy(&s, at, sizeof(s));
		s.st_value = IMAGE_ADDR + s.st_value % 2048;
		s.st_size %= 512;
		s.st_name %= 1024;
		if (s.st_info & 1)
			s.st_info = STT_FUNC | (s.st_info & 0x10);
		memcpy(at, &s, sizeof(s));
	}
	image_end(&im);
	file = image_open(n, &im);
	find_variables(n, file, data, len);
	compare(n, file, data + 2);
	image_free(file);
	free(im.bytes);
	if (names_full(&n->names)) {
		native_free(n);
		n = NULL;
	}
	return 0;
}
