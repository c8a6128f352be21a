// SPDX-License-Identifier: Apache-2.0
/* What classes, owners and errors are called. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "lineage/lineage.h"

#define NAME(id, text) [LINEAGE_##id] = #id,
#define TEXT(id, text) [LINEAGE_##id] = text,
const char *const lineage_class_names[LINEAGE_CLASS_COUNT] = { LINEAGE_CLASSES(NAME) };
const char *const lineage_class_texts[LINEAGE_CLASS_COUNT] = { LINEAGE_CLASSES(TEXT) };

#define OWNER_NAME(id, text) [LINEAGE_OWNER_##id] = #id,
#define OWNER_TEXT(id, text) [LINEAGE_OWNER_##id] = text,
const char *const lineage_owner_names[LINEAGE_OWNER_COUNT] = { LINEAGE_OWNERS(OWNER_NAME) };
const char *const lineage_owner_texts[LINEAGE_OWNER_COUNT] = { LINEAGE_OWNERS(OWNER_TEXT) };

#define LOSS_NAME(id, text) [LINEAGE_LOSS_##id] = "io_" #id,
#define LOSS_TEXT(id, text) [LINEAGE_LOSS_##id] = text,
const char *const lineage_loss_names[LINEAGE_LOSS_COUNT] = { LINEAGE_LOSSES(LOSS_NAME) };
const char *const lineage_loss_texts[LINEAGE_LOSS_COUNT] = { LINEAGE_LOSSES(LOSS_TEXT) };

const char *lineage_op(uint8_t op)
{
	static const char *const names[] = {
		[0] = "read",  [1] = "write",  [2] = "flush", [3] = "discard",
		[5] = "erase", [7] = "append", [9] = "zero"
	};

	return op < ARRAY_LEN(names) && names[op] ? names[op] : "other";
}

/* The numbers are the block layer's own (BLK_STS_*), and have not changed since 4.13. */
const char *lineage_error(uint32_t status, char *dst, size_t cap)
{
	static const char *const names[] = {
		[1] = "not supported", [2] = "timeout",       [3] = "no space",
		[4] = "transport",     [5] = "target failed", [6] = "reservation conflict",
		[7] = "medium error",  [8] = "protection",    [9] = "no resource",
		[10] = "I/O error",
	};

	if (status < ARRAY_LEN(names) && names[status])
		return names[status];
	snprintf(dst, cap, "error %u", status);
	return dst;
}

const char *lineage_fs_name(uint32_t magic)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} known[] = {
		{ 0xef53, "ext4" },     { 0x58465342, "xfs" }, { 0x9123683e, "btrfs" },
		{ 0xf2f52010, "f2fs" }, { 0x4d44, "vfat" },    { 0x794c7630, "overlay" },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].magic == magic)
			return known[i].name;
	return "";
}
