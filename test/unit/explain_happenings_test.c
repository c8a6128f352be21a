// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/happenings.c: what happened on the host is told once, the rare things first. */
#include "explain/explain_int.h"
#include "test/unit/scene.h"

static void happens(struct scene *sc, enum host_event event, const char *name, uint64_t value)
{
	struct host_facts *e = &sc->event[sc->f.events];

	scene_event(sc, event, 0, 7, AT(sc->f.events));
	str_copy(e->name, sizeof(e->name), name);
	e->value = value;
	e->ns = 11 * S;
}

TEST(happenings_are_added_up_and_said)
{
	static const char *const want[] = {
		"20 requests of disk nvme0n1 took 10 s or more, 22 s in all",
		"10 requests of disk nvme0n1 failed",
		"3 MiB of device 0000:3b:00.0 were copied through bounce buffers",
		"device 0000:3b:00.0 was refused its memory 10 times, first at 0xdead000",
		"10 TCP segments were sent again to 10.0.0.2:9000",
	};
	struct explanation e = { 0 };
	static struct scene sc;
	char got[256];
	int failed = 0;

	scene_init(&sc);
	happens(&sc, HOST_retransmit, "10.0.0.2:9000", 0);
	happens(&sc, HOST_fork, "", 0); /* no news */
	happens(&sc, HOST_disk_slow, "nvme0n1", 0);
	happens(&sc, HOST_disk_slow, "nvme0n1", 0);
	happens(&sc, HOST_disk_error, "nvme0n1", 0);
	happens(&sc, HOST_bounce, "0000:3b:00.0", 3 << 20);
	happens(&sc, HOST_iommu_fault, "0000:3b:00.0", 0xdead000);
	add_happenings(&sc.f, &e);
	if (e.happenings != (int)ARRAY_LEN(want) || e.happening[0].first_ns != AT(2) ||
	    e.happening[0].last_ns != AT(3))
		failed = test_fail(__FILE__, __LINE__, "%d happenings", e.happenings);
	for (int i = 0; !failed && i < e.happenings; i++) {
		bool said = false;

		happening_what(&e.happening[i], got, sizeof(got));
		for (size_t k = 0; k < ARRAY_LEN(want); k++)
			said |= streq(got, want[k]);
		if (!said)
			failed = test_fail(__FILE__, __LINE__, "%s", got);
	}
	if (!failed && e.happening[e.happenings - 1].event != HOST_retransmit)
		failed = test_fail(__FILE__, __LINE__, "packets come last");
	explain_free(&e);
	return failed;
}
