// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_disk_read.c: the thread's own reads and its worker's, and what looks like them. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

#define SHARD(h) named(h, OBJECT_file, "/data/shard-17.bin")

TEST(disk_read_names_the_file_that_the_loop_reads_itself)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(SHARD(self(STATE_READ, WAKER_block))), 400 * MS);
	CHECK_ONLY(&scene, "disk-read");
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	CHECK_STR(f.title, "Disk read: python3 waited for /data/shard-17.bin");
	CHECK_U64(f.lost_ns, 1600 * MS);
	CHECK_U64(f.affected_ns, 4 * S);
	CHECK_NEAR(f.lost_pct, 40, 1e-9);
	CHECK_U64(f.count, 100);
	CHECK_U64(f.first_ns, AT(2));
	CHECK_U64(f.last_ns, AT(6));
	CHECK(f.severity == SEVERITY_HIGH);
	CHECK(f.evidence == EVIDENCE_PROVEN);
	CHECK(f.culprits == 1);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK_STR(f.culprit[0].comm, "python3");
	CHECK_STR(f.object.name, "/data/shard-17.bin");
	CHECK(f.chain.hops == 1);
	CHECK_U64(f.hop_ns[0], 1600 * MS);
	CHECK_NEAR(f.gain_high_pct, 40, 1e-9);
	CHECK_NEAR(f.gain_low_pct, 40, 1e-9); /* the GPU was idle at least as long */
	return 0;
}

TEST(disk_read_follows_the_pipe_to_the_worker)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(self(STATE_PIPE, WAKER_task), SHARD(worker(STATE_READ, WAKER_block))),
		     500 * MS);
	CHECK_ONLY(&scene, "disk-read");
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	CHECK_STR(f.title, "Disk read: python3 waited for loader (pid 4900), which read "
			   "/data/shard-17.bin");
	CHECK_U64(f.culprit[0].pid, WORKER);
	CHECK_STR(f.culprit[0].comm, "loader");
	CHECK_NEAR(f.culprit[0].share, 100, 1e-9);
	CHECK(f.chain.hops == 2);
	CHECK_U64(f.hop_ns[1], 2 * S);
	return 0;
}

/* A file system in a process, as FUSE has it: who asked for the file cannot make it quicker. */
TEST(disk_read_blames_the_process_that_serves_the_file)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(SHARD(self(STATE_READ, WAKER_task)),
			   hop_of(STRANGER, STRANGER, STATE_SLEEP, WAKER_timer)),
		     400 * MS);
	CHECK_ONLY(&scene, "disk-read");
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	CHECK_STR(f.title, "Disk read: python3 waited for stranger (pid 7000), which serves "
			   "/data/shard-17.bin");
	CHECK(f.culprits == 1);
	CHECK_U64(f.culprit[0].pid, STRANGER);
	CHECK_STR(f.object.name, "/data/shard-17.bin");
	CHECK(strstr(f.basis, "serves"));
	CHECK(strstr(f.fix[0], "stranger (pid 7000)"));
	CHECK(f.evidence == EVIDENCE_PROVEN);

	/* Mapped: which file it is cannot be told, and that it is one is inferred. */
	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(self(STATE_FAULT, WAKER_task),
			   hop_of(STRANGER, STRANGER, STATE_RUN, WAKER_nobody)),
		     400 * MS);
	CHECK_ONLY(&scene, "disk-read");
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	CHECK_STR(f.title,
		  "Disk read: python3 waited for stranger (pid 7000), which serves a file");
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK(strstr(f.basis, "that another process ended"));
	return 0;
}

/* Read by a page fault: which file it was is not known, and that it was one is inferred. */
TEST(disk_read_is_inferred_from_faults_that_a_disk_ended)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_FAULT, WAKER_block)), 400 * MS);
	CHECK_ONLY(&scene, "disk-read");
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK_STR(f.title, "Disk read: python3 waited for a file");
	return 0;
}

TEST(disk_read_names_the_file_with_most_of_it)
{
	struct finding f;
	int often;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(named(self(STATE_READ, WAKER_block), OBJECT_file, "/a")),
		     100 * MS);
	often = scene_chain(&scene, CHAIN(named(self(STATE_READ, WAKER_block), OBJECT_file, "/b")));
	scene_wait(&scene, &scene.second[0][3], often, 300 * MS, 5);
	scene_wait(&scene, &scene.second[0][4], often, 200 * MS, 5);
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	CHECK_STR(f.object.name, "/b");
	CHECK(strstr(f.basis, "2 files by name"));
	CHECK_U64(f.lost_ns, 900 * MS);
	return 0;
}

TEST(disk_read_is_silent_on_little_and_on_a_healthy_loop)
{
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(SHARD(self(STATE_READ, WAKER_block))), 49 * MS);
	CHECK_NONE(&scene); /* below a twentieth of each second */
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		(void)scene_healthy(&scene);
	CHECK_NONE(&scene);
	return 0;
}

/* One wait of 60 ms in a trace is an accident; one of 200 is a stall. */
TEST(disk_read_needs_more_than_one_short_wait)
{
	struct finding f;
	struct second *s;

	scene_init(&scene);
	s = scene_second(&scene, 0);
	loop_in(s, 60 * MS);
	scene_wait(&scene, s, scene_chain(&scene, CHAIN(self(STATE_READ, WAKER_block))), 60 * MS,
		   1);
	CHECK(!scene_judge(&scene, rule_disk_read, &f));
	s->wait[0].count = 3;
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	s->wait[0].count = 1;
	s->wait[0].ns = s->wait[0].max_ns = 200 * MS;
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	return 0;
}

/* Threads wait at the same time: the sum would be more than anybody can gain. */
TEST(disk_read_counts_the_thread_that_lost_most)
{
	struct finding f;
	int chain;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(SHARD(self(STATE_READ, WAKER_block))), 200 * MS);
	(void)scene_thread(&scene, TRAINER, TRAINER + 1, "python3");
	chain = scene_chain(&scene,
			    CHAIN(SHARD(hop_of(TRAINER, TRAINER + 1, STATE_READ, WAKER_block))));
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 1);

		loop_in(s, 300 * MS);
		scene_wait(&scene, s, chain, 300 * MS, 10);
	}
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	CHECK_U64(f.lost_ns, 1800 * MS);
	CHECK_U64(f.thread, 2);
	return 0;
}

TEST(disk_read_is_less_sure_when_history_was_lost)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(SHARD(self(STATE_READ, WAKER_block))), 400 * MS);
	scene.f.lost_stops = 3;
	CHECK(scene_judge(&scene, rule_disk_read, &f));
	CHECK(f.evidence == EVIDENCE_OBSERVED);
	return 0;
}
