// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the FDE of an address. The sorted table of .eh_frame_hdr is searched where it lies in the file:
 * libtorch has 340,000 entries, and an unwinder needs a few dozen of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "native/image.h"

#define INDEX_MAX 65536 /* FDEs, where there is no sorted table */
#define FRAME_BYTES_MAX (16ull << 20) /* read to make that index */

/* .eh_frame_hdr: version, three encodings, then address of .eh_frame and number of entries. */
static bool read_table(struct image *im, uint64_t addr, uint64_t size)
{
	struct eh *eh = &im->eh;
	uint8_t head[4 + 2 * 8];
	struct extent at;
	struct bytes b;
	uint64_t version, frame_enc, count_enc;

	if (!image_at(im, addr, &at))
		return false;
	size = min_u64(min_u64(size, at.size), sizeof(head));
	if (!source_read(&im->own, at.offset, head, (size_t)size))
		return false;
	b = bytes_of(head, (size_t)size);
	version = bytes_number(&b, 1);
	frame_enc = bytes_number(&b, 1);
	count_enc = bytes_number(&b, 1);
	eh->encoding = (uint8_t)bytes_number(&b, 1);
	eh->hdr_addr = addr;
	if (version != 1 || !bytes_pointer(&b, (uint8_t)frame_enc, addr + 4, addr, &eh->frame_addr))
		return false;
	if (!bytes_pointer(&b, (uint8_t)count_enc, addr + (uint64_t)(b.at - head), addr,
			   &eh->count) ||
	    !pointer_size(eh->encoding) || (eh->encoding & PTR_INDIRECT))
		eh->encoding = PTR_OMIT;
	eh->table_addr = addr + (uint64_t)(b.at - head);
	eh->table_offset = at.offset + (uint64_t)(b.at - head);
	if (eh->encoding != PTR_OMIT)
		eh->count = min_u64(eh->count, (at.size - (uint64_t)(b.at - head)) /
						       (2 * pointer_size(eh->encoding)));
	return true;
}

void eh_open(struct image *im, struct elf *e)
{
	struct eh *eh = &im->eh;
	struct extent at;
	Elf64_Shdr s;

	for (size_t i = 0; i < e->head.e_phnum && !eh->found; i++) {
		Elf64_Phdr p;

		if (!source_read(&im->own, e->head.e_phoff + i * sizeof(p), &p, sizeof(p)))
			return;
		if (p.p_type == PT_GNU_EH_FRAME)
			eh->found = read_table(im, p.p_vaddr, p.p_filesz);
	}
	if (!eh->found) {
		memset(eh, 0, sizeof(*eh));
		eh->encoding = PTR_OMIT;
		if (!image_section(e, ".eh_frame", &s))
			return;
		eh->frame_addr = s.sh_addr;
		eh->frame_size = s.sh_size;
		eh->found = true;
	}
	if (!image_at(im, eh->frame_addr, &at)) {
		eh->frame_size = 0;
		eh->found = eh->encoding != PTR_OMIT;
		return;
	}
	eh->frame_size = eh->frame_size ? min_u64(eh->frame_size, at.size) : at.size;
}

struct record {
	struct bytes body; /* behind the id */
	uint64_t addr; /* of body */
	uint64_t id_addr, next;
	uint32_t id; /* 0: a CIE; else how far back its CIE begins */
};

/* The CIE or FDE at an address. False at the end mark too. */
static bool read_record(const struct image *im, uint64_t addr, uint8_t *buf, struct record *ret)
{
	uint64_t len, head = 4;
	struct extent at;
	uint8_t first[12];
	struct bytes b;

	if (!image_at(im, addr, &at) || at.size < 4)
		return false;
	if (!source_read(&im->own, at.offset, first, (size_t)min_u64(at.size, sizeof(first))))
		return false;
	b = bytes_of(first, (size_t)min_u64(at.size, sizeof(first)));
	len = bytes_number(&b, 4);
	if (len == UINT32_MAX) {
		len = bytes_number(&b, 8);
		head = 12;
	}
	if (b.bad || len < 4 || len > EH_RECORD_MAX || len > at.size - head ||
	    !source_read(&im->own, at.offset + head, buf, (size_t)len))
		return false;
	ret->body = bytes_of(buf, (size_t)len);
	ret->id = (uint32_t)bytes_number(&ret->body, 4);
	ret->id_addr = addr + head;
	ret->addr = addr + head + 4;
	ret->next = addr + head + len;
	return true;
}

static bool read_cie(const struct image *im, uint64_t addr, uint8_t *buf, struct cie *ret)
{
	struct record r;

	return read_record(im, addr, buf, &r) && !r.id && cfi_parse_cie(r.body, r.addr, ret);
}

static bool read_fde(const struct image *im, uint64_t addr, struct eh_buffer *buf, struct fde *ret)
{
	struct record r;

	return read_record(im, addr, buf->fde, &r) && r.id && r.id <= r.id_addr &&
	       read_cie(im, r.id_addr - r.id, buf->cie, &ret->cie) &&
	       cfi_parse_fde(r.body, r.addr, ret);
}

static bool table_entry(const struct image *im, uint64_t i, struct eh_entry *ret)
{
	const struct eh *eh = &im->eh;
	size_t size = pointer_size(eh->encoding);
	uint64_t skip = i * 2 * size;
	uint8_t raw[16];
	struct bytes b = bytes_of(raw, 2 * size);

	return source_read(&im->own, eh->table_offset + skip, raw, 2 * size) &&
	       bytes_pointer(&b, eh->encoding, eh->table_addr + skip, eh->hdr_addr, &ret->start) &&
	       bytes_pointer(&b, eh->encoding, eh->table_addr + skip + size, eh->hdr_addr,
			     &ret->fde);
}

static int by_start(const void *a, const void *b)
{
	const struct eh_entry *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void eh_each(const struct image *im, struct eh_buffer *buf,
	     bool (*fn)(const struct fde *f, uint64_t addr, void *arg), void *arg)
{
	uint64_t at = im->eh.frame_addr, end = at + min_u64(im->eh.frame_size, FRAME_BYTES_MAX);
	uint64_t cie_addr = 0;
	struct fde f;
	struct record r;
	bool have_cie = false;

	for (; at < end && read_record(im, at, buf->fde, &r); at = r.next) {
		if (!r.id || r.id > r.id_addr)
			continue;
		if (!have_cie || cie_addr != r.id_addr - r.id) { /* many FDEs share one */
			cie_addr = r.id_addr - r.id;
			have_cie = read_cie(im, cie_addr, buf->cie, &f.cie);
		}
		if (have_cie && cfi_parse_fde(r.body, r.addr, &f) && !fn(&f, at, arg))
			return;
	}
}

struct indexing {
	struct eh *eh;
	size_t cap;
};

static bool add_entry(const struct fde *f, uint64_t addr, void *arg)
{
	struct indexing *x = arg;
	struct eh *eh = x->eh;

	if (eh->count == x->cap) {
		x->cap = x->cap ? 2 * x->cap : 256;
		eh->index = xrealloc(eh->index, x->cap, sizeof(*eh->index));
	}
	eh->index[eh->count++] = (struct eh_entry){ f->start, addr };
	return eh->count < INDEX_MAX;
}

static void make_index(struct image *im, struct eh_buffer *buf)
{
	struct indexing x = { &im->eh, 0 };

	im->eh.indexed = true;
	im->eh.count = 0;
	eh_each(im, buf, add_entry, &x);
	if (!im->eh.count)
		return;
	im->eh.index = xrealloc(im->eh.index, im->eh.count, sizeof(*im->eh.index));
	im->bytes += im->eh.count * sizeof(*im->eh.index);
	qsort(im->eh.index, im->eh.count, sizeof(*im->eh.index), by_start);
}

bool eh_find(struct image *im, uint64_t addr, struct eh_buffer *buf, struct fde *ret)
{
	struct eh *eh = &im->eh;
	struct eh_entry found = { 0, 0 };
	uint64_t low = 0, high;
	bool any = false;

	if (!eh->found)
		return false;
	if (eh->encoding == PTR_OMIT && !eh->indexed)
		make_index(im, buf);
	for (high = eh->count; low < high;) {
		uint64_t middle = low + (high - low) / 2;
		struct eh_entry entry;

		if (eh->index)
			entry = eh->index[middle];
		else if (!table_entry(im, middle, &entry))
			return false;
		if (entry.start <= addr) {
			found = entry;
			any = true;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return any && read_fde(im, found.fde, buf, ret) && addr >= ret->start &&
	       addr - ret->start < ret->size;
}
