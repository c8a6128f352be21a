// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_network_retransmit.c: lost packets, told from a slow peer. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

/* Our port 40000, theirs 7700, 10.0.0.2. */
#define OURS (0x0a000002ull << 32 | 7700ull << 16 | 40000)
#define THEIRS (0x0a000001ull << 32 | 40000ull << 16 | 7700)

static struct hop tcp(uint32_t flags)
{
	struct hop h = named(self(STATE_SOCKET, WAKER_net), OBJECT_tcp, "10.0.0.2:7700");

	h.obj2 = OURS;
	h.flags = flags;
	return h;
}

static void resend(uint64_t obj)
{
	for (int i = 3; i <= 6; i++)
		scene_event(&scene, HOST_retransmit, 0, obj, AT(i) - S / 2);
}

TEST(network_retransmit_is_known_by_what_the_sender_sent_again)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(tcp(0)), 500 * MS);
	resend(THEIRS);
	CHECK_ONLY(&scene, "network-retransmit");
	CHECK(scene_judge(&scene, rule_network_retransmit, &f));
	CHECK_STR(f.title, "Network: packets between python3 and 10.0.0.2:7700 got lost and were "
			   "sent again");
	CHECK(f.culprits == 0);
	CHECK_U64(f.lost_ns, 2 * S);
	CHECK_STR(f.object.name, "10.0.0.2:7700");
	return 0;
}

TEST(network_retransmit_is_known_by_what_we_sent_again_ourselves)
{
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(tcp(0)), 500 * MS);
	resend(OURS);
	CHECK_ONLY(&scene, "network-retransmit");
	return 0;
}

/* The socket knows its group; where that is the root, the thread that uses it does. */
TEST(network_retransmit_tells_whose_segments_were_sent_again)
{
	struct finding f;

	scene_init(&scene);
	str_copy(scene.thread[0].cgroup, sizeof(scene.thread[0].cgroup), "/train");
	scene_stalls(&scene, CHAIN(tcp(0)), 500 * MS);
	resend(THEIRS);
	for (int i = 0; i < scene.f.events; i++)
		str_copy(scene.event[i].cgroup, sizeof(scene.event[i].cgroup), "/server");
	CHECK(scene_judge(&scene, rule_network_retransmit, &f));
	CHECK(strstr(f.basis, "; 40 sent again by cgroup /server"));
	for (int i = 0; i < scene.f.events; i++) {
		scene.event[i].obj = OURS;
		str_copy(scene.event[i].cgroup, sizeof(scene.event[i].cgroup), "/");
	}
	CHECK(scene_judge(&scene, rule_network_retransmit, &f));
	CHECK(strstr(f.basis, "; 40 sent again by cgroup /train"));
	return 0;
}

TEST(network_retransmit_is_known_by_packets_out_of_order)
{
	int unmarked;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(tcp(STOP_PACKET_LOSS)), 200 * MS);
	/* Those beside them wait for the same repair. */
	unmarked = scene_chain(&scene, CHAIN(tcp(0)));
	for (int i = 2; i < 6; i++)
		scene_wait(&scene, &scene.second[0][i], unmarked, 300 * MS, 30);
	CHECK_ONLY(&scene, "network-retransmit");
	return 0;
}

TEST(network_retransmit_of_another_connection_is_none_of_ours)
{
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(tcp(0)), 500 * MS);
	resend(0x0a000001ull << 32 | 40001ull << 16 | 7700);
	CHECK_ONLY(&scene, "network-peer");
	return 0;
}

/* At another time, or a single packet. */
TEST(network_retransmit_needs_more_than_a_packet_long_ago)
{
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(tcp(0)), 500 * MS);
	scene_event(&scene, HOST_retransmit, 0, THEIRS, AT(9));
	scene_event(&scene, HOST_retransmit, 0, THEIRS, AT(4));
	scene.event[1].count = 1;
	CHECK_ONLY(&scene, "network-peer");
	return 0;
}
