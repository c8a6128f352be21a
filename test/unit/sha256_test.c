// SPDX-License-Identifier: Apache-2.0
/* Tests of integrity/sha256.c and digest.c: the standard's examples, and text that is none of ours. */
#include "integrity/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "integrity/digest.h"
#include "test/test.h"

static const char *sum_of(const void *bytes, size_t len, size_t step)
{
	static char hex[SHA256_HEX];
	uint8_t sum[SHA256_BYTES];
	struct sha256 s;

	sha256_begin(&s);
	for (size_t at = 0; at < len; at += step)
		sha256_add(&s, (const char *)bytes + at, min_u64(step, len - at));
	sha256_end(&s, sum);
	return sha256_hex(hex, sum);
}

TEST(sha256_of_the_standard)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	CHECK_STR(sum_of("", 0, 1),
		  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	CHECK_STR(sum_of("abc", 3, 3),
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	CHECK_STR(sum_of(two, sizeof(two) - 1, 64),
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	return 0;
}

TEST(sha256_of_a_million)
{
	static char million[1000000];
	char whole[SHA256_HEX];

	memset(million, 'a', sizeof(million));
	str_copy(whole, sizeof(whole), sum_of(million, 1000000, 1000000));
	CHECK_STR(whole, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	CHECK_STR(sum_of(million, 1000000, 63), whole);
	CHECK_STR(sum_of(million, 1000000, 65), whole);
	return 0;
}

TEST(digest_is_what_it_was)
{
	struct digest d = { .size = 7, .mtime_ns = 1794768471154770291ull }, back;
	char text[DIGEST_TEXT];

	str_copy(d.hex, sizeof(d.hex), sum_of("abc", 3, 3));
	digest_format(text, &d);
	CHECK(!digest_parse(text, strlen(text), &back));
	CHECK_STR(back.hex, d.hex);
	CHECK_U64(back.size, 7);
	CHECK_U64(back.mtime_ns, d.mtime_ns);
	return 0;
}

TEST(digest_that_is_none)
{
	static const char *const texts[] = {
		"",
		"sha256:",
		"sha256:abc size=1 mtime=2",
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad size= mtime=1",
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad size=1 mtime=1x",
		"sha256:BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad size=1 mtime=1",
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad0 size=1 mtime=1",
	};
	struct digest d;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CHECK(digest_parse(texts[i], strlen(texts[i]), &d) == -EBADMSG);
		CHECK(!d.hex[0]);
	}
	return 0;
}

TEST(digest_of_a_file)
{
	char path[] = "/tmp/culprit-digest-XXXXXX";
	struct digest d;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK(write(fd, "abc", 3) == 3);
	CHECK(!digest_make(fd, 1 << 20, &d));
	CHECK_STR(d.hex, sum_of("abc", 3, 3));
	CHECK_U64(d.size, 3);
	CHECK(d.mtime_ns);
	close(fd);
	unlink(path);
	CHECK(digest_make(-1, 0, &d) == -EBADF);
	return 0;
}
