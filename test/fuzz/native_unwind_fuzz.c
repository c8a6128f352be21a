// SPDX-License-Identifier: Apache-2.0
/*
 * Any unwind information and any stack: as a sorted table, as a bare .eh_frame, as one CIE and one FDE,
 * and through a mapping of our own process.
 */
#include "native/native.h"

#include "test/fuzz/native_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { WITH_TABLE = 1, WHOLE = 2, GIVEN_TABLE = 4, PLAIN = 8 };

static void walk(const struct fde *f, uint64_t pc, const uint8_t *stack, size_t size)
{
	struct cfi_memory m = { stack, 0x7000, size, false };
	struct cfi_state s = { .known = (1ull << CFI_REGS) - 1 };
	struct cfi_caller c;
	struct cfi_row row;

	for (int i = 0; i < CFI_REGS; i++)
		s.reg[i] = 0x7000 + (uint64_t)i * 8;
	if (cfi_row_at(f, pc, &row) && cfi_step(f, &row, &s, &m, &c) && !c.end)
		need(c.state.known >> CFI_SP & 1);
}

/* Two records without the file around them; the first byte says where the second begins. */
static void plain(const uint8_t *data, size_t len)
{
	size_t cie = len ? (size_t)min_u64(data[0], len - 1) : 0;
	struct fde f;

	if (!len || !cfi_parse_cie(bytes_of(data + 1, cie), 0x100, &f.cie) ||
	    !cfi_parse_fde(bytes_of(data + 1 + cie, len - 1 - cie), 0x200, &f))
		return;
	walk(&f, f.start, data, len);
	walk(&f, f.start + f.size / 2, data, len);
	walk(&f, f.start + f.size - 1, data, len);
}

static bool walk_fde(const struct fde *f, uint64_t addr, void *arg)
{
	const struct fuzz_image *im = arg;

	need(addr >= IMAGE_ADDR && addr < IMAGE_ADDR + im->size);
	walk(f, f->start + f->size - 1, im->bytes, im->size);
	return true;
}

static void check_stack(const struct native_stack *s)
{
	need(s->frames >= 0 && s->frames <= NATIVE_FRAMES);
	for (int i = 0; i < s->frames; i++) {
		need(s->frame[i].func && s->frame[i].module);
		need_harmless(s->frame[i].func);
		need_harmless(s->frame[i].module);
	}
}

static void whole(const struct fuzz_image *im, const uint8_t *data, size_t len)
{
	struct native *n = native_new();
	struct c_stack *c = xcalloc(1, sizeof(*c));
	struct native_stack s;
	int fd = image_file(im);
	char *map = mmap(NULL, im->size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	need(map != MAP_FAILED);
	c->pid = (uint32_t)getpid();
	c->bytes = (uint32_t)min_u64(len, sizeof(c->data));
	memcpy(c->data, data, c->bytes);
	for (size_t i = 0; i + 8 <= c->bytes; i += 8) { /* addresses that lie in the mapping */
		uint64_t word;

		memcpy(&word, c->data + i, 8);
		if (word % 3 == 0) {
			word = (uint64_t)map + word / 3 % im->size;
			memcpy(c->data + i, &word, 8);
		}
	}
	memcpy(&c->sp, c->data + 64, 2 * sizeof(uint64_t));
	c->sp &= 0xffff8;
	c->bp &= 0xffff8;
	for (int i = 0; i < 3; i++) {
		c->ip = (uint64_t)map + IMAGE_DATA + data[i % len] * 16ul;
		(void)native_unwind(n, c, &s); /* only where root may look at mappings */
		check_stack(&s);
	}
	munmap(map, im->size);
	close(fd);
	free(c);
	native_free(n);
}

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct native *n;
	uint8_t table[64] = { 1, 0x1b, 0x03, 0x3b };
	struct fuzz_image im;
	struct image *file;
	struct fde f;
	uint8_t how;

	if (len < 16 || len > 65536)
		return 0;
	n = n ? n : native_new();
	how = data[0];
	data++;
	len--;
	if (how & PLAIN) {
		plain(data, len);
		return 0;
	}
	image_begin(&im);
	if (how & GIVEN_TABLE) { /* a table that is right; what it points at is not */
		put32(table + 4, sizeof(table) - 4);
		put32(table + 8, 6);
		for (size_t i = 0; i < 6; i++) {
			put32(table + 12 + i * 8, (uint32_t)i * 64);
			put32(table + 16 + i * 8, (uint32_t)(sizeof(table) + data[i] * 4ul));
		}
		image_add(&im, ".eh_frame_hdr", SHT_PROGBITS, table, sizeof(table));
	}
	image_add(&im, ".eh_frame", SHT_PROGBITS, data, len);
	im.eh_hdr_size = how & (WITH_TABLE | GIVEN_TABLE) ? im.size - IMAGE_DATA : 0;
	image_end(&im);
	if (how & WHOLE) {
		whole(&im, data, len);
	} else {
		file = image_open(n, &im);
		need(file->readable);
		for (int i = 0; i < 8; i++) {
			uint64_t addr = IMAGE_ADDR + IMAGE_DATA + data[i] * 7u;

			if (eh_find(file, addr, &n->eh, &f)) {
				need(addr >= f.start && addr - f.start < f.size);
				walk(&f, addr, data, len);
			}
		}
		eh_each(file, &n->eh, walk_fde, &im);
		image_free(file);
	}
	free(im.bytes);
	return 0;
}
