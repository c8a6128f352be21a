// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_network_peer.c: a slow server, and a program that only waits for work. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static struct chain served_by(struct hop h)
{
	return CHAIN(named(self(STATE_SOCKET, WAKER_task), OBJECT_tcp, "10.0.0.2:7700"), h);
}

TEST(network_peer_names_the_server_where_it_is_known)
{
	static const enum state states[] = { STATE_SLEEP, STATE_RUN, STATE_READ, STATE_UNKNOWN };
	struct finding f;

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		scene_init(&scene);
		scene_stalls(&scene, served_by(hop_of(STRANGER, STRANGER, states[i], WAKER_timer)),
			     600 * MS);
		CHECK_ONLY(&scene, "network-peer");
		CHECK(scene_judge(&scene, rule_network_peer, &f));
		CHECK_STR(f.title,
			  "Network peer: python3 waited for stranger (pid 7000) at 10.0.0.2:7700");
		CHECK_U64(f.culprit[0].pid, STRANGER);
		CHECK_U64(f.lost_ns, 2400 * MS);
	}
	return 0;
}

TEST(network_peer_on_another_host_has_an_address)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(named(self(STATE_SOCKET, WAKER_net), OBJECT_tcp, "10.0.0.2:7700")),
		     600 * MS);
	CHECK_ONLY(&scene, "network-peer");
	CHECK(scene_judge(&scene, rule_network_peer, &f));
	CHECK(f.culprits == 0);
	CHECK_STR(f.title, "Network peer: python3 waited for 10.0.0.2:7700");
	return 0;
}

TEST(network_peer_is_silent_where_we_are_the_server)
{
	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(named(self(STATE_SOCKET, WAKER_net), OBJECT_tcp_server, ":8000")),
		     600 * MS);
	CHECK_NONE(&scene);
	return 0;
}

/* It asks a queue for work and gets little. */
TEST(network_peer_is_silent_on_a_program_with_nothing_to_do)
{
	int chain;

	scene_init(&scene);
	chain = scene_chain(
		&scene, CHAIN(named(self(STATE_SOCKET, WAKER_net), OBJECT_tcp, "10.0.0.9:6379")));
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 0);

		loop_in(s, 950 * MS);
		scene_wait(&scene, s, chain, 950 * MS, 5);
	}
	CHECK_NONE(&scene);
	return 0;
}
