// SPDX-License-Identifier: Apache-2.0
/* Tests of the checker that other tests rely on. */
#include "test/unit/json_check.h"

#include "test/test.h"

TEST(json_check_accepts_json)
{
	CHECK(json_valid("{}\n"));
	CHECK(json_valid("[]\n"));
	CHECK(json_valid("{\"a\":[1,-2.5,1e-3,null,true,false,\"x\\u001b\\\"\"],\"b\":{}}\n"));
	return 0;
}

TEST(json_check_refuses_what_is_none)
{
	static const char *const bad[] = {
		"\n",           "{}",           "{}}\n",       "{\"a\"}\n",
		"{\"a\":}\n",   "{a:1}\n",      "[1,]\n",      "[,1]\n",
		"[1 2]\n",      "[01]\n",       "[1.]\n",      "[nan]\n",
		"[\"\x1b\"]\n", "[\"\xff\"]\n", "[\"\\x\"]\n", "[\"\\u12\"]\n",
		"[\"a]\n",      "{\"a\":1,}\n", "[0x10]\n",    "[+1]\n",
		"[[]\n",        "{]\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (json_valid(bad[i]))
			return test_fail(__FILE__, __LINE__, "accepted %s", bad[i]);
	}
	return 0;
}

TEST(json_check_finds_values_by_path)
{
	const char *text = "{\"a\":{\"b\":[10,{\"c\":\"x\"},[]]},\"ab\":7}\n";

	CHECK(json_is(text, "a/b/0", "10"));
	CHECK(json_is(text, "a/b/1/c", "\"x\""));
	CHECK(json_is(text, "ab", "7"));
	CHECK(!json_is(text, "ab", "77"));
	CHECK(!json_at(text, "b"));
	CHECK(!json_at(text, "a/b/3"));
	CHECK(!json_at(text, "a/b/2/0"));
	CHECK(!json_at(text, "ab/x"));
	return 0;
}
