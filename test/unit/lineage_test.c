// SPDX-License-Identifier: Apache-2.0
/* Tests of lineage/: records of the ring, accounts, names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "lineage/lineage_int.h"
#include "test/test.h"

/* ---- records ---- */

TEST(lineage_takes_records_of_their_own_size_only)
{
	struct lineage_event event = { .kind = LINEAGE_EVENT };
	struct lineage_wake wake = { .kind = LINEAGE_WAKE };
	struct lineage_name name = { .kind = LINEAGE_NAME };

	CHECK(!lineage_check(&event, sizeof(event)));
	CHECK(!lineage_check(&wake, sizeof(wake)));
	CHECK(!lineage_check(&name, sizeof(name)));
	CHECK(lineage_check(&event, sizeof(event) - 1) == -EBADMSG);
	CHECK(lineage_check(&wake, sizeof(event)) == -EBADMSG);
	CHECK(lineage_check(&event, 3) == -EBADMSG);
	CHECK(lineage_check(&event, 0) == -EBADMSG);
	event.kind = 4;
	CHECK(lineage_check(&event, sizeof(event)) == -EBADMSG);
	return 0;
}

TEST(lineage_refuses_what_would_index_past_an_end)
{
	struct lineage_event event = { .kind = LINEAGE_EVENT, .key.class = LINEAGE_CLASS_COUNT };
	struct lineage_name name = { .kind = LINEAGE_NAME, .parts = LINEAGE_PARTS + 1 };

	CHECK(lineage_check(&event, sizeof(event)) == -EBADMSG);
	event.key.class = 0;
	event.key.owner = LINEAGE_OWNER_COUNT;
	CHECK(lineage_check(&event, sizeof(event)) == -EBADMSG);
	CHECK(lineage_check(&name, sizeof(name)) == -EBADMSG);
	return 0;
}

TEST(lineage_ends_every_text)
{
	struct lineage_event event = { .kind = LINEAGE_EVENT };
	struct lineage_name name = { .kind = LINEAGE_NAME, .parts = LINEAGE_PARTS };

	memset(event.comm, 'x', sizeof(event.comm));
	memset(name.last, 'y', sizeof(name.last) + sizeof(name.part));
	CHECK(!lineage_check(&event, sizeof(event)));
	CHECK(!lineage_check(&name, sizeof(name)));
	CHECK_U64(strlen(event.comm), sizeof(event.comm) - 1);
	CHECK_U64(strlen(name.last), sizeof(name.last) - 1);
	CHECK_U64(strlen(name.part[LINEAGE_PARTS - 1]), LINEAGE_PART - 1);
	return 0;
}

/* ---- accounts ---- */

struct seen {
	int flows;
	struct lineage_flow last;
	struct lineage_maps maps;
};

static void on_flow(const struct lineage_flow *added, const struct lineage_maps *maps, void *arg)
{
	struct seen *seen = arg;

	seen->flows++;
	seen->last = *added;
	seen->maps = *maps;
}

static void begin(struct lineage_flow *flow, uint32_t serial)
{
	flow->serial = serial;
	flow->key = (struct lineage_key){ .ino = serial, .class = LINEAGE_file };
	flow->state = FLOW_LIVE;
}

static void count(struct lineage_flow *flow, uint64_t n, uint64_t ns)
{
	flow->bytes += 4096 * n;
	flow->total_ns += n * ns;
	flow->hist[hist_bucket(ns)] += (uint32_t)n;
	flow->max_ns = max_u64(flow->max_ns, ns);
}

TEST(lineage_flows_tell_what_was_added)
{
	struct lineage_flow *shared = xcalloc(LINEAGE_FLOWS, sizeof(*shared));
	struct flows *f = flows_new(shared, NULL);
	struct seen seen = { 0 };

	begin(&shared[7], 1);
	count(&shared[7], 3, 1000);
	flows_take(f, on_flow, &seen);
	CHECK_U64(seen.flows, 1);
	CHECK_U64(seen.last.requests, 3);
	CHECK_U64(seen.last.max_ns, 1000);
	flows_take(f, on_flow, &seen);
	CHECK_U64(seen.flows, 1);
	count(&shared[7], 2, 500);
	flows_take(f, on_flow, &seen);
	CHECK_U64(seen.flows, 2);
	CHECK_U64(seen.last.requests, 2);
	CHECK_U64(seen.last.bytes, 8192);
	CHECK_U64(seen.last.total_ns, 1000);
	CHECK_U64(seen.last.max_ns, 500); /* of the interval, not of all time */
	CHECK_U64(seen.last.hist[hist_bucket(500)], 2);
	CHECK_U64(seen.last.hist[hist_bucket(1000)], 0);
	flows_free(f);
	free(shared);
	return 0;
}

TEST(lineage_flows_at_rest_are_given_up_and_lose_nothing)
{
	struct lineage_flow *shared = xcalloc(LINEAGE_FLOWS, sizeof(*shared));
	struct flows *f = flows_new(shared, NULL);
	struct seen seen = { 0 };
	int looks = 0;

	begin(&shared[0], 1);
	count(&shared[0], 1, 1000);
	while (shared[0].state != FLOW_RETIRING && looks++ < 1000)
		flows_take(f, on_flow, &seen);
	CHECK_U64(shared[0].state, FLOW_RETIRING);
	CHECK_U64(seen.flows, 1);
	count(&shared[0], 5, 1000); /* a request that was under way */
	flows_take(f, on_flow, &seen);
	CHECK_U64(seen.flows, 2);
	CHECK_U64(seen.last.requests, 5);
	CHECK_U64(shared[0].state, FLOW_FREE);
	CHECK_U64(shared[0].serial, 0);
	CHECK_U64(shared[0].bytes, 0);
	begin(&shared[0], 2); /* for another file */
	count(&shared[0], 4, 1000);
	flows_take(f, on_flow, &seen);
	CHECK_U64(seen.last.requests, 4);
	CHECK_U64(seen.last.key.ino, 2);
	flows_free(f);
	free(shared);
	return 0;
}

TEST(lineage_flows_make_room_sooner_when_crowded)
{
	struct lineage_flow *shared = xcalloc(LINEAGE_FLOWS, sizeof(*shared));
	struct flows *f = flows_new(shared, NULL);
	struct seen seen = { 0 };
	int free_ones = 0;

	for (uint32_t i = 0; i < LINEAGE_FLOWS; i++) {
		begin(&shared[i], i + 1);
		count(&shared[i], 1, 1000);
	}
	for (int i = 0; i < 5; i++)
		flows_take(f, on_flow, &seen);
	for (uint32_t i = 0; i < LINEAGE_FLOWS; i++)
		free_ones += shared[i].state == FLOW_FREE;
	CHECK_U64(seen.flows, LINEAGE_FLOWS);
	CHECK(free_ones > LINEAGE_FLOWS / 2);
	flows_free(f);
	free(shared);
	return 0;
}

TEST(lineage_flows_of_a_damaged_key_are_passed_over)
{
	struct lineage_flow *shared = xcalloc(LINEAGE_FLOWS, sizeof(*shared));
	struct flows *f = flows_new(shared, NULL);
	struct seen seen = { 0 };

	begin(&shared[1], 1);
	shared[1].key.class = 200;
	count(&shared[1], 1, 1);
	flows_take(f, on_flow, &seen);
	CHECK_U64(seen.flows, 0);
	flows_free(f);
	free(shared);
	return 0;
}

static void map(struct lineage_maps *maps, uint32_t n, uint64_t ns, uint64_t bounced)
{
	maps->ns += n * ns;
	maps->hist[hist_bucket(ns)] += n;
	maps->max_ns = max_u64(maps->max_ns, ns);
	maps->bounced += bounced;
	maps->unmapped += n;
	maps->unmap_ns += n * ns / 2;
	maps->unmap_max_ns = max_u64(maps->unmap_max_ns, ns / 2);
}

TEST(lineage_flows_tell_what_mapping_took)
{
	struct lineage_flow *shared = xcalloc(LINEAGE_FLOWS, sizeof(*shared));
	struct lineage_maps *maps = xcalloc(LINEAGE_FLOWS, sizeof(*maps));
	struct flows *f = flows_new(shared, maps);
	struct seen seen = { 0 };

	begin(&shared[7], 1);
	count(&shared[7], 3, 1000);
	map(&maps[7], 3, 200, 8192);
	flows_take(f, on_flow, &seen);
	CHECK_U64(lineage_mapped(&seen.maps), 3);
	CHECK_U64(seen.maps.ns, 600);
	CHECK_U64(seen.maps.max_ns, 200);
	CHECK_U64(seen.maps.bounced, 8192);
	CHECK_U64(seen.maps.unmapped, 3);
	CHECK_U64(seen.maps.unmap_ns, 300);
	CHECK_U64(seen.maps.unmap_max_ns, 100);
	count(&shared[7], 2, 1000);
	map(&maps[7], 2, 100, 0);
	flows_take(f, on_flow, &seen);
	CHECK_U64(lineage_mapped(&seen.maps), 2);
	CHECK_U64(seen.maps.max_ns, 100); /* of the interval, not of all time */
	CHECK_U64(seen.maps.bounced, 0);
	CHECK_U64(seen.maps.unmapped, 2);
	CHECK_U64(seen.maps.unmap_max_ns, 50);
	count(&shared[7], 1, 1000); /* not measured */
	flows_take(f, on_flow, &seen);
	CHECK_U64(lineage_mapped(&seen.maps), 0);
	for (int i = 0; shared[7].state != FLOW_FREE && i < 1000; i++)
		flows_take(f, on_flow, &seen);
	CHECK_U64(maps[7].ns, 0); /* for the next one at this place */
	CHECK_U64(maps[7].bounced, 0);
	CHECK_U64(maps[7].unmapped, 0);
	flows_free(f);
	free(maps);
	free(shared);
	return 0;
}

/* ---- names ---- */

TEST(lineage_reads_mounts)
{
	struct mount m;

	CHECK(!mount_parse("36 35 8:2 / /mnt/my\\040disk rw,noatime - ext4 /dev/sda2 rw\n", &m));
	CHECK_U64(m.dev, 8 << 20 | 2);
	CHECK_STR(m.root, "/");
	CHECK_STR(m.at, "/mnt/my disk");
	CHECK(!mount_parse("1 2 259:1 /sub /data rw shared:1 - xfs /dev/nvme0n1 rw", &m));
	CHECK_STR(m.root, "/sub");
	CHECK(mount_parse("", &m) == -EINVAL);
	CHECK(mount_parse("36 35 8 / /mnt", &m) == -EINVAL);
	CHECK(mount_parse("36 35 8:1 /", &m) == -EINVAL);
	CHECK(mount_parse("36 35 99999:1 / /x rw", &m) == -EINVAL);
	return 0;
}

TEST(lineage_refuses_a_mount_whose_path_is_cut)
{
	char line[700];
	struct mount m;

	snprintf(line, sizeof(line), "1 2 8:1 / /%0400d rw", 7);
	CHECK(mount_parse(line, &m) == -ENAMETOOLONG);
	return 0;
}

static struct lineage_name name_of(uint64_t ino, const char *last)
{
	struct lineage_name n = {
		.kind = LINEAGE_NAME, .fs_dev = 4095u << 20, .ino = ino, .parts = 2
	};

	str_copy(n.last, sizeof(n.last), last);
	str_copy(n.part[0], sizeof(n.part[0]), "inner");
	str_copy(n.part[1], sizeof(n.part[1]), "outer");
	return n;
}

TEST(lineage_joins_names_and_marks_deleted_files)
{
	struct paths *p = paths_new();
	struct lineage_name n = name_of(5, "f\n.pt");
	struct lineage_key key = { .ino = 5, .fs_dev = n.fs_dev };
	char path[LINEAGE_PATH];

	n.flags = LINEAGE_DELETED;
	paths_add(p, &n);
	CHECK(paths_find(p, &key, path, sizeof(path)));
	CHECK_STR(path, ".../outer/inner/f\\x0a.pt (deleted)"); /* no such disk is mounted */
	key.gen = 1; /* the number is used again, by another file */
	CHECK(!paths_find(p, &key, path, sizeof(path)));
	CHECK_STR(path, "");
	paths_free(p);
	return 0;
}

TEST(lineage_keeps_the_end_of_a_long_name)
{
	struct paths *p = paths_new();
	struct lineage_name n = name_of(5, "x");
	struct lineage_key key = { .ino = 5, .fs_dev = n.fs_dev };
	char path[LINEAGE_PATH];

	memset(n.last, 'a', sizeof(n.last) - 5);
	str_copy(n.last + sizeof(n.last) - 5, 5, ".end");
	for (int i = 0; i < LINEAGE_PARTS; i++)
		memset(n.part[i], 'b', LINEAGE_PART - 1);
	n.parts = LINEAGE_PARTS;
	paths_add(p, &n);
	CHECK(paths_find(p, &key, path, sizeof(path)));
	CHECK(strstr(path, ".end"));
	CHECK_STR(path + strlen(path) - 4, ".end");
	paths_free(p);
	return 0;
}

TEST(lineage_holds_a_bounded_number_of_names)
{
	struct paths *p = paths_new();
	struct lineage_key key = { .ino = 79999, .fs_dev = 4095u << 20 };
	char path[LINEAGE_PATH];

	for (uint64_t ino = 1; ino < 80000; ino++) {
		struct lineage_name n = name_of(ino, "f");

		paths_add(p, &n);
	}
	CHECK(paths_find(p, &key, path, sizeof(path)));
	key.ino = 1;
	CHECK(!paths_find(p, &key, path, sizeof(path)));
	paths_free(p);
	return 0;
}
