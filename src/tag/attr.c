// SPDX-License-Identifier: Apache-2.0
/* Extended attributes that tag a file: anybody who may write to it has put them there. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/units.h"
#include "base/util.h"
#include "tag/tag.h"

#define VALUE_MAX 512

static int take_label(const char *bytes, size_t len, struct tag_attr *ret)
{
	char label[TAG_LABEL_MAX];

	if (len >= sizeof(label) || memchr(bytes, '\0', len))
		return fail(-EBADMSG, "a label of %zu bytes, or with a NUL", len);
	memcpy(label, bytes, len);
	label[len] = '\0';
	if (tag_label_check(label))
		return -EBADMSG;
	memcpy(ret->label, label, sizeof(label));
	return 0;
}

static bool is(const char *word, size_t len, const char *text)
{
	return len == strlen(text) && !memcmp(word, text, len);
}

static int take_word(const char *word, size_t len, struct tag_attr *ret)
{
	char number[24];

	if (is(word, len, "sha256:enabled") || is(word, len, "1")) {
		ret->no_hash = false;
	} else if (is(word, len, "sha256:disabled")) {
		ret->no_hash = true;
	} else if (is(word, len, "dense")) {
		ret->dense = true;
	} else if (len > 5 && !memcmp(word, "size=", 5)) {
		if (len - 5 >= sizeof(number))
			return fail(-EBADMSG, "a size of %zu digits", len - 5);
		memcpy(number, word + 5, len - 5);
		number[len - 5] = '\0';
		if (parse_u64(number, INT64_MAX, &ret->size))
			return -EBADMSG;
		ret->has_size = true;
	} else {
		return take_label(word, len, ret);
	}
	return 0;
}

int tag_attr_checkpoint(const char *value, size_t len, struct tag_attr *ret)
{
	struct tag_attr got = *ret;

	got.checked = true;
	while (len && !value[len - 1])
		len--; /* some tools store the end of the string as well */
	for (size_t at = 0, n; at < len; at += n + 1) {
		for (n = 0; at + n < len && value[at + n] != ' ' && value[at + n] != ','; n++)
			;
		if (n && take_word(value + at, n, &got))
			return -EBADMSG;
	}
	*ret = got;
	return 0;
}

int tag_attr_label(const char *value, size_t len, struct tag_attr *ret)
{
	int err;

	while (len && !value[len - 1])
		len--;
	err = take_label(value, len, ret);
	if (!err && starts_with(ret->label, "checkpoint"))
		ret->checked = true;
	return err;
}

int tag_attr_read(int fd, struct tag_attr *ret)
{
	char value[VALUE_MAX];
	ssize_t checkpoint, label;

	*ret = (struct tag_attr){ 0 };
	checkpoint = fgetxattr(fd, TAG_ATTR_CHECKPOINT, value, sizeof(value));
	if (checkpoint >= 0 && tag_attr_checkpoint(value, (size_t)checkpoint, ret))
		checkpoint = -1;
	label = fgetxattr(fd, TAG_ATTR, value, sizeof(value));
	if (label >= 0 && tag_attr_label(value, (size_t)label, ret))
		label = -1;
	return checkpoint < 0 && label < 0 ? -ENODATA : 0;
}

int tag_file_of(int fd, struct tag_file *ret, uint32_t *ret_generation)
{
	struct stat st;
	long generation = 0; /* the kernel writes an int, its headers say long */

	if (fstat(fd, &st))
		return -errno;
	*ret = (struct tag_file){ .dev = (uint32_t)(major(st.st_dev) << 20 | minor(st.st_dev)),
				  .ino = st.st_ino };
	*ret_generation = ioctl(fd, FS_IOC_GETVERSION, &generation) ? 0 : (uint32_t)generation;
	return 0;
}

int tag_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fail(-errno, "%s: %s", path, strerror(errno));
	if (!fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return fd;
	close(fd);
	return fail(-EBADF, "%s: neither a file nor a folder", path);
}
