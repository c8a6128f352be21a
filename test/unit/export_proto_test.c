// SPDX-License-Identifier: Apache-2.0
#include "export/proto.h"

#include "test/test.h"

static uint8_t room[400];

static int bytes_are(const struct proto *p, const char *want, size_t len)
{
	CHECK(!p->full);
	CHECK_U64(proto_len(p), len);
	CHECK(!memcmp(p->start, want, len));
	return 0;
}

TEST(proto_writes_numbers_as_the_format_has_them)
{
	struct proto p;

	proto_init(&p, room, sizeof(room));
	proto_u64(&p, 1, 0);
	proto_u64(&p, 1, 127);
	proto_u64(&p, 1, 300);
	proto_u64(&p, 60, 1);
	proto_i64(&p, 2, -1);
	return bytes_are(&p,
			 "\x08\x00"
			 "\x08\x7f"
			 "\x08\xac\x02"
			 "\xe0\x03\x01"
			 "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			 21);
}

TEST(proto_writes_fixed_numbers_and_texts)
{
	struct proto p;

	proto_init(&p, room, sizeof(room));
	proto_fixed64(&p, 47, 0x0102030405060708ull);
	proto_double(&p, 5, 1.0);
	proto_str(&p, 2, "abc");
	proto_str(&p, 2, "");
	return bytes_are(&p,
			 "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01"
			 "\x29\x00\x00\x00\x00\x00\x00\xf0\x3f"
			 "\x12\x03"
			 "abc"
			 "\x12\x00",
			 26);
}

TEST(proto_puts_the_length_of_a_message_in_front_of_it)
{
	struct proto p;
	size_t outer, inner;

	proto_init(&p, room, sizeof(room));
	outer = proto_open(&p, 11);
	proto_u64(&p, 9, 1);
	inner = proto_open(&p, 4);
	proto_u64(&p, 1, 7);
	proto_close(&p, inner);
	proto_close(&p, outer);
	outer = proto_open(&p, 3);
	proto_close(&p, outer);
	return bytes_are(&p, "\x5a\x06\x48\x01\x22\x02\x08\x07\x1a\x00", 10);
}

TEST(proto_makes_room_for_a_length_of_two_bytes)
{
	char text[201];
	struct proto p;
	size_t outer;

	memset(text, 'x', sizeof(text));
	text[200] = '\0';
	proto_init(&p, room, sizeof(room));
	outer = proto_open(&p, 1);
	proto_str(&p, 2, text);
	proto_close(&p, outer);
	CHECK_U64(proto_len(&p), 1 + 2 + 1 + 2 + 200);
	CHECK(!memcmp(room, "\x0a\xcb\x01\x12\xc8\x01xxx", 9));
	CHECK(room[205] == 'x');
	return 0;
}

/* Whatever is written and however small the memory: nothing outside of it changes. */
TEST(proto_never_writes_beyond_its_memory)
{
	uint8_t memory[64];

	for (size_t cap = 0; cap <= 40; cap++) {
		struct proto p;
		size_t outer;

		memset(memory, 0xee, sizeof(memory));
		proto_init(&p, memory + 8, cap);
		outer = proto_open(&p, 11);
		proto_u64(&p, 9, 1ull << 63);
		proto_fixed64(&p, 47, 5);
		proto_str(&p, 2, "some text");
		proto_close(&p, outer);
		CHECK(p.full == (cap < 34));
		CHECK(proto_len(&p) <= cap);
		for (size_t i = 0; i < sizeof(memory); i++)
			if (i < 8 || i >= 8 + cap)
				CHECK(memory[i] == 0xee);
	}
	return 0;
}

TEST(proto_is_full_where_only_the_length_does_not_fit)
{
	char text[200];
	struct proto p;
	size_t outer;

	memset(text, 'x', sizeof(text));
	text[130] = '\0';
	proto_init(&p, room, 2 + 1 + 2 + 130);
	outer = proto_open(&p, 1);
	proto_str(&p, 2, text);
	CHECK(!p.full);
	proto_close(&p, outer);
	CHECK(p.full);
	return 0;
}
