// SPDX-License-Identifier: Apache-2.0
/* Where Python frames go among native ones. Frames are written as words: p0 is Python, others not. */
#include "stack/stack_int.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "test/test.h"

#define PYTHON "/usr/bin/python3"

struct scene {
	struct stacks *s;
	struct native_stack native;
	const struct frame *frame[PY_FRAMES];
	uint64_t anchor[PY_FRAMES];
	int frames;
	bool joined;
	char text[512];
};

static void begin(struct scene *sc)
{
	memset(sc, 0, sizeof(*sc));
	sc->s = stacks_new(NULL, NULL, NULL, NULL);
}

/* Native frames lie behind each other, 0x100 bytes each, from 0x1000 on. */
static void c(struct scene *sc, const char *func, const char *module)
{
	uint64_t sp = 0x1000 + (uint64_t)sc->native.frames * 0x100;

	sc->native.frame[sc->native.frames++] = (struct native_frame){
		.sp = sp,
		.cfa = sp + 0x100,
		.func = func,
		.module = module,
		.interpreter = streq(func, "eval"),
	};
}

static void py(struct scene *sc, uint64_t anchor)
{
	char name[8];

	snprintf(name, sizeof(name), "p%d", sc->frames);
	sc->anchor[sc->frames] = anchor;
	sc->frame[sc->frames++] = intern_frame(sc->s, FRAME_python, name, "/app/x.py", 1);
}

/* "torch p0 p1", and the end of it. */
static const char *merged(struct scene *sc)
{
	const struct frame *ret[FRAMES_MAX];
	struct stack python = { .frame = sc->frame, .frames = sc->frames };
	int n = merge(sc->s, &sc->native, sc->frames ? &python : NULL, sc->anchor, ret,
		      &sc->joined);
	size_t used = 0;

	for (int i = 0; i < n; i++)
		used += (size_t)snprintf(sc->text + used, sizeof(sc->text) - used, "%s%s",
					 i ? " " : "", ret[i]->func);
	stacks_free(sc->s);
	return sc->text;
}

TEST(merge_puts_python_frames_where_their_loop_ran)
{
	struct scene sc;

	begin(&sc);
	c(&sc, "launch", "libtorch.so"); /* 0x1000 */
	c(&sc, "call", PYTHON);
	c(&sc, "eval", PYTHON); /* 0x1200 */
	c(&sc, "vectorcall", PYTHON);
	c(&sc, "backward", "libtorch.so");
	c(&sc, "eval.cold", PYTHON); /* 0x1500: not known for a loop by its name */
	c(&sc, "main", PYTHON);
	c(&sc, "start", "libc.so.6");
	py(&sc, 0);
	py(&sc, 0x1280);
	py(&sc, 0x15ff);
	CHECK_STR(merged(&sc), "launch p0 p1 backward p2");
	CHECK(sc.joined);
	return 0;
}

TEST(merge_goes_by_names_where_addresses_are_of_another_thread)
{
	struct scene sc;

	begin(&sc);
	c(&sc, "launch", "libtorch.so");
	c(&sc, "eval", PYTHON);
	c(&sc, "backward", "libtorch.so");
	c(&sc, "eval", PYTHON);
	py(&sc, 0);
	py(&sc, 0x7f0000001280);
	py(&sc, 0x7f0000001500);
	CHECK_STR(merged(&sc), "launch p0 p1 backward p2");
	return 0;
}

TEST(merge_takes_one_loop_for_each_frame_without_anchors)
{
	struct scene sc;

	begin(&sc);
	c(&sc, "launch", "libtorch.so");
	c(&sc, "eval", PYTHON);
	c(&sc, "vectorcall", PYTHON);
	c(&sc, "eval", PYTHON);
	c(&sc, "callback", "libffi.so");
	c(&sc, "eval", PYTHON);
	for (int i = 0; i < 4; i++)
		py(&sc, 0);
	CHECK_STR(merged(&sc), "launch p0 p1 callback p2 p3");
	return 0;
}

TEST(merge_keeps_every_python_frame_where_the_copy_ends)
{
	struct scene sc;

	begin(&sc);
	c(&sc, "launch", "libtorch.so");
	c(&sc, "eval", PYTHON); /* 0x1100 */
	c(&sc, "backward", "libtorch.so");
	py(&sc, 0x1180);
	py(&sc, 0x9000);
	py(&sc, 0);
	CHECK_STR(merged(&sc), "launch p0 backward p1 p2");
	return 0;
}

TEST(merge_leaves_native_frames_on_top_where_nothing_fits)
{
	struct scene sc;

	begin(&sc);
	c(&sc, "launch", "libtorch.so");
	c(&sc, "", ""); /* says nothing */
	c(&sc, "", "libtorch.so");
	c(&sc, "call", PYTHON);
	py(&sc, 0);
	py(&sc, 0x9000);
	CHECK_STR(merged(&sc), "launch  call p0 p1");
	CHECK(!sc.joined);

	begin(&sc); /* no loop, no anchors */
	c(&sc, "launch", "libtorch.so");
	py(&sc, 0);
	CHECK_STR(merged(&sc), "launch p0");

	begin(&sc); /* no Python */
	c(&sc, "launch", "libtorch.so");
	c(&sc, "main", "a.out");
	CHECK_STR(merged(&sc), "launch main");

	begin(&sc); /* nothing unwound */
	py(&sc, 0x1000);
	CHECK_STR(merged(&sc), "p0");
	return 0;
}
