// SPDX-License-Identifier: Apache-2.0
#include "export/sink.h"

#include <stdlib.h>

#include "test/test.h"
#include "test/unit/json_check.h"
#include "test/unit/one_line.h"

#define BASE 1700000000000000000ull

static char out[8 << 20];
static size_t written;

static void put(struct sink *s, uint64_t from, uint64_t to, const char *name, uint64_t track)
{
	struct mark m;

	mark_init(&m, track, BASE + from, BASE + to, name, "c");
	sink_mark(s, &m);
}

static FILE *begin(void)
{
	memset(out, 0, sizeof(out));
	return fmemopen(out, sizeof(out), "w");
}

static void end(struct sink *s, FILE *file)
{
	s->ops->finish(s);
	s->ops->free(s);
	written = (size_t)ftell(file);
	fclose(file);
	if (s->chrome)
		one_line(out);
}

/* ---- a reader of what Perfetto is given: only as much as tells the order of things ---- */

struct bytes {
	const uint8_t *at, *end;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t value = 0;

	for (int shift = 0; b->at < b->end; shift += 7) {
		value |= (uint64_t)(*b->at & 0x7f) << shift;
		if (!(*b->at++ & 0x80))
			break;
	}
	return value;
}

/* The next field: its number, and its value or what is in it. */
static unsigned int field(struct bytes *b, uint64_t *value, struct bytes *in)
{
	uint64_t key = varint(b);

	*in = (struct bytes){ b->at, b->at };
	switch (key & 7) {
	case 0:
		*value = varint(b);
		break;
	case 1:
		memcpy(value, b->at, 8);
		b->at += 8;
		break;
	default:
		*value = varint(b);
		*in = (struct bytes){ b->at, b->at + *value };
		b->at += *value;
	}
	return (unsigned int)(key >> 3);
}

struct seen {
	uint64_t sequence, now, type, track, interned, flags;
};

static void read_packet(struct bytes packet, struct seen *s)
{
	struct bytes in, deeper;
	uint64_t value;

	s->type = s->interned = 0;
	while (packet.at < packet.end) {
		switch (field(&packet, &value, &in)) {
		case 8:
			s->now += value;
			break;
		case 10:
			s->now = value == s->sequence ? s->now : 0;
			s->sequence = value;
			break;
		case 12:
			s->interned = value;
			break;
		case 13:
			s->flags = value;
			break;
		case 11:
			while (in.at < in.end) {
				unsigned int number = field(&in, &value, &deeper);

				s->type = number == 9 ? value : s->type;
				s->track = number == 11 ? value : s->track;
			}
			break;
		default:
			break;
		}
	}
}

/* Each event: "B0/1" begins at 0 on track 1, E ends, P is a point, V a value; + interns something. */
static const char *events(void)
{
	static char text[4096];
	struct bytes all = { (const uint8_t *)out, (const uint8_t *)out + written }, packet;
	struct seen s = { 0 };
	uint64_t len;
	size_t at = 0;

	text[0] = '\0';
	while (all.at < all.end) {
		uint64_t was = s.sequence;

		(void)field(&all, &len, &packet);
		read_packet(packet, &s);
		if (s.sequence != was)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "|");
		if (s.type && at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %c%llu/%llu%s",
					       "?BEPV"[s.type % 5], (unsigned long long)s.now,
					       (unsigned long long)s.track, s.interned ? "+" : "");
	}
	return text;
}

static void two_tracks(struct sink *s)
{
	for (uint64_t id = 1; id <= 2; id++)
		sink_track(s, &(struct track){ .kind = TRACK_SLICES, .id = id, .name = "t" });
}

TEST(perfetto_ends_slices_in_the_order_of_time)
{
	FILE *file = begin();
	struct sink s;

	perfetto_sink(&s, file, BASE);
	two_tracks(&s);
	put(&s, 0, 100, "outer", 1);
	put(&s, 10, 20, "inner", 1);
	put(&s, 15, 90, "outer", 2);
	put(&s, 20, 30, "inner", 1);
	put(&s, 95, 95, "point", 1);
	end(&s, file);
	CHECK_STR(events(), "| B0/1+ B10/1+ B15/2 E20/1 B20/1 E30/1 E90/2 P95/1+ E100/1");
	return 0;
}

/* What begins in one sequence ends in it; names are told anew. One without events is not written. */
TEST(perfetto_begins_sequences_with_a_clean_state)
{
	FILE *file = begin();
	struct sink s;

	perfetto_sink(&s, file, BASE);
	two_tracks(&s);
	put(&s, 50, 60, "a", 1);
	sink_sequence(&s, 0);
	sink_sequence(&s, 0);
	sink_sequence(&s, 0);
	put(&s, 5, 9, "a", 2);
	put(&s, 7, 7, "a", 2);
	end(&s, file);
	CHECK_STR(events(), "| B50/1+ E60/1| B5/2+ P7/2 E9/2");
	return 0;
}

TEST(perfetto_time_never_goes_back_in_a_sequence)
{
	FILE *file = begin();
	struct sink s;

	perfetto_sink(&s, file, BASE);
	two_tracks(&s);
	put(&s, 50, 60, "a", 1);
	put(&s, 40, 70, "b", 2); /* a mistake of the caller */
	end(&s, file);
	CHECK_STR(events(), "| B50/1+ B50/2+ E60/1 E70/2");
	return 0;
}

TEST(perfetto_writes_names_out_once_there_are_too_many)
{
	FILE *file = begin();
	struct bytes all, packet = { 0 };
	struct seen seen = { 0 };
	struct sink s;
	uint64_t len;
	char name[32];
	int interned = 0, n = 0;

	perfetto_sink(&s, file, BASE);
	two_tracks(&s);
	for (uint64_t i = 0; i < 70000; i++) {
		snprintf(name, sizeof(name), "name %llu", (unsigned long long)i);
		put(&s, i, i, name, 1);
	}
	end(&s, file);
	all = (struct bytes){ (const uint8_t *)out, (const uint8_t *)out + written };
	while (all.at < all.end) {
		(void)field(&all, &len, &packet);
		read_packet(packet, &seen);
		interned += seen.interned != 0;
		n += seen.type != 0;
	}
	CHECK(n == 70000);
	CHECK(interned == 65535); /* one number is the category's */
	CHECK(memmem(packet.at, (size_t)(packet.end - packet.at), "name 69999", 10));
	return 0;
}

TEST(perfetto_takes_a_mark_with_all_its_arguments_at_their_longest)
{
	FILE *file = begin();
	struct mark m;
	struct sink s;
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	perfetto_sink(&s, file, BASE);
	two_tracks(&s);
	mark_init(&m, 1, BASE, BASE + 5, text, text);
	for (int i = 0; i < MARK_ARGS + 5; i++) {
		text[i] = 'y'; /* another one each time */
		mark_str(&m, "name", text);
	}
	CHECK(m.args == MARK_ARGS);
	CHECK_STR(m.arg[MARK_ARGS - 1].name, "more");
	sink_mark(&s, &m);
	end(&s, file);
	CHECK_STR(events(), "| B0/1+ E5/1");
	return 0;
}

TEST(chrome_is_json_whatever_the_names_are)
{
	FILE *file = begin();
	struct mark m;
	struct sink s;

	chrome_sink(&s, file, BASE, BASE);
	sink_track(&s,
		   &(struct track){ .kind = TRACK_PROCESS, .id = 1, .pid = 7, .name = "p\"\xff" });
	sink_track(&s, &(struct track){ .kind = TRACK_THREAD,
					.id = 2,
					.parent = 1,
					.pid = 7,
					.tid = 8,
					.name = "t" });
	sink_track(&s,
		   &(struct track){ .kind = TRACK_SLICES, .id = 3, .parent = 2, .name = "states" });
	sink_track(&s, &(struct track){ .kind = TRACK_COUNTER,
					.id = 4,
					.parent = 2,
					.name = "steps",
					.unit = "n" });
	mark_init(&m, 2, BASE + 1234567, BASE + 2000000, "a\nb", "c");
	mark_u64(&m, "u", UINT64_MAX);
	mark_i64(&m, "i", -1);
	mark_hex(&m, "h", 255);
	mark_str(&m, "s", "\\");
	mark_f64(&m, "f", (double)INFINITY);
	m.shade = SHADE_HIGH;
	sink_mark(&s, &m);
	sink_value(&s, 4, BASE + 5, 2.5);
	put(&s, 9, 9, "point", 3);
	end(&s, file);
	CHECK(json_valid(out));
	CHECK(strstr(out, "{\"ph\":\"X\",\"pid\":7,\"tid\":8,\"name\":\"a\\u000ab\",\"cat\":\"c\","
			  "\"ts\":1234.567,\"dur\":765.433,\"cname\":\"terrible\","
			  "\"args\":{\"u\":18446744073709551615,\"i\":-1,\"h\":\"0xff\","
			  "\"s\":\"\\\\\",\"f\":null}}"));
	CHECK(strstr(out, "\"name\":\"steps, thread 8\",\"ts\":0.005,\"args\":{\"value\":2.5}}"));
	CHECK(strstr(out, "\"thread_name\",\"args\":{\"name\":\"states, thread 8\"}"));
	CHECK(strstr(out, "{\"ph\":\"i\",\"pid\":7,\"tid\":100000001,\"name\":\"point\""));
	return 0;
}

/* A node whose clock is behind: its times are set forward, and none is before the beginning. */
TEST(chrome_sets_the_clocks_of_nodes)
{
	FILE *file = begin();
	struct sink s;

	chrome_sink(&s, file, BASE, BASE - 500);
	sink_track(&s, &(struct track){ .kind = TRACK_PROCESS, .id = 1, .pid = 7, .name = "p" });
	sink_sequence(&s, 3000);
	put(&s, 1000, 1000, "x", 1);
	sink_sequence(&s, -500);
	put(&s, 0, 0, "y", 1);
	end(&s, file);
	CHECK(strstr(out, "\"name\":\"x\",\"cat\":\"c\",\"ts\":4.500"));
	CHECK(strstr(out, "\"name\":\"y\",\"cat\":\"c\",\"ts\":0.000"));
	return 0;
}
