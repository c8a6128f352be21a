// SPDX-License-Identifier: Apache-2.0
/* Tests of tag/: labels, attributes, environments. */
#include "tag/tag.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "test/test.h"

TEST(tag_is_the_hash_of_its_label)
{
	CHECK_U64(tag_hash(""), 0);
	/* Published values of FNV-1a. */
	CHECK_U64(tag_hash("a"), 0xaf63dc4c8601ec8cull);
	CHECK_U64(tag_hash("foobar"), 0x85944171f73967e8ull);
	return 0;
}

TEST(tag_label_is_text)
{
	char longest[TAG_LABEL_MAX + 1];

	CHECK(!tag_label_check("checkpoint_write/run42/step80000/shard17"));
	CHECK(!tag_label_check("Lauf 42: pr\xc3\xbc"
			       "fen"));
	CHECK(tag_label_check("") == -EINVAL);
	CHECK(tag_label_check("a\nb") == -EINVAL);
	CHECK(tag_label_check("a\x1b[31m") == -EINVAL);
	CHECK(tag_label_check("\xff") == -EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[TAG_LABEL_MAX - 1] = '\0';
	CHECK(!tag_label_check(longest));
	longest[TAG_LABEL_MAX - 1] = 'x';
	longest[TAG_LABEL_MAX] = '\0';
	CHECK(tag_label_check(longest) == -EINVAL);
	CHECK(strstr(why(-EINVAL), "127"));
	return 0;
}

#define CHECKPOINT(text, ret) tag_attr_checkpoint(text, sizeof(text) - 1, ret)

TEST(tag_attribute_of_a_checkpoint_is_words)
{
	struct tag_attr a = { 0 };

	CHECK(!CHECKPOINT("sha256:enabled", &a));
	CHECK(a.checked && !a.no_hash && !a.dense && !a.has_size && !a.label[0]);
	a = (struct tag_attr){ 0 };
	CHECK(!CHECKPOINT("sha256:disabled, dense size=4096,run42/step1", &a));
	CHECK(a.checked && a.no_hash && a.dense && a.has_size);
	CHECK_U64(a.size, 4096);
	CHECK_STR(a.label, "run42/step1");
	a = (struct tag_attr){ 0 };
	CHECK(!CHECKPOINT("", &a)); /* to be there is enough */
	CHECK(a.checked);
	a = (struct tag_attr){ 0 };
	CHECK(!CHECKPOINT("1\0", &a));
	CHECK(a.checked && !a.label[0]);
	return 0;
}

TEST(tag_attribute_that_is_none_changes_nothing)
{
	struct tag_attr a = { .label = "before" };
	char large[600];

	memset(large, 'x', sizeof(large));
	CHECK(CHECKPOINT("size=x", &a) == -EBADMSG);
	CHECK(CHECKPOINT("size=99999999999999999999999", &a) == -EBADMSG);
	CHECK(CHECKPOINT("a\0b", &a) == -EBADMSG);
	CHECK(CHECKPOINT("dense \x01", &a) == -EBADMSG);
	CHECK(tag_attr_checkpoint(large, sizeof(large), &a) == -EBADMSG);
	CHECK(tag_attr_label(large, sizeof(large), &a) == -EBADMSG);
	CHECK(tag_attr_label("", 0, &a) == -EBADMSG);
	CHECK(!a.checked && !a.dense);
	CHECK_STR(a.label, "before");
	return 0;
}

TEST(tag_label_of_a_checkpoint_asks_for_checking)
{
	struct tag_attr a = { 0 };

	CHECK(!tag_attr_label("checkpoint_write/run42", 22, &a));
	CHECK(a.checked);
	a = (struct tag_attr){ 0 };
	CHECK(!tag_attr_label("data/shard17", 12, &a));
	CHECK(!a.checked);
	CHECK_STR(a.label, "data/shard17");
	return 0;
}

#define ENV(text, ret) tag_env_parse(text, sizeof(text) - 1, ret)

TEST(tag_of_an_environment)
{
	char label[TAG_LABEL_MAX];

	CHECK(!ENV("A=1\0CULPRIT_TAG=run42\0B=2\0", label));
	CHECK_STR(label, "run42");
	CHECK(!ENV("CULPRIT_TAG=no end", label));
	CHECK_STR(label, "no end");
	CHECK(ENV("XCULPRIT_TAG=a\0CULPRIT_TAGS=b\0A=CULPRIT_TAG=c\0", label) == -ENODATA);
	CHECK(ENV("CULPRIT_TAG=\0", label) == -ENODATA);
	CHECK(ENV("", label) == -ENODATA);
	return 0;
}

TEST(tag_of_a_long_environment_is_cut_like_in_the_kernel)
{
	char text[400] = "CULPRIT_TAG=", label[TAG_LABEL_MAX];

	memset(text + 12, 'x', sizeof(text) - 12);
	CHECK(!tag_env_parse(text, sizeof(text), label));
	CHECK_U64(strlen(label), TAG_LABEL_MAX - 1);
	return 0;
}

TEST(tag_open_wants_files_and_folders)
{
	struct tag_file file;
	uint32_t generation;
	struct tag_attr attr;
	int fd;

	CHECK(tag_open("/dev/null") == -EBADF);
	CHECK(tag_open("/proc/self/exe") == -ELOOP); /* a link */
	CHECK(tag_open("/nothing/there") == -ENOENT);
	fd = tag_open("/");
	CHECK(fd >= 0);
	CHECK(!tag_file_of(fd, &file, &generation));
	CHECK(file.ino && !file.pad);
	close(fd);
	CHECK(tag_attr_read(-1, &attr) == -ENODATA);
	return 0;
}
