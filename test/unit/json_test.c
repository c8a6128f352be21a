// SPDX-License-Identifier: Apache-2.0
/* Tests of base/json.c. */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

#include "test/test.h"

static char text[4096];

static struct json start(void)
{
	return JSON_TO(fmemopen(text, sizeof(text), "w"));
}

static const char *finish(struct json *j)
{
	fclose(j->out);
	return text;
}

TEST(json_puts_commas_between_and_nowhere_else)
{
	struct json j = start();

	json_open(&j, NULL, '{');
	json_open(&j, "a", '[');
	json_u64(&j, NULL, 1);
	json_u64(&j, NULL, 2);
	json_open(&j, NULL, '{');
	json_close(&j, '}');
	json_close(&j, ']');
	json_open(&j, "b", '[');
	json_close(&j, ']');
	json_str(&j, "c", "x");
	json_close(&j, '}');
	CHECK_STR(finish(&j), "{\"a\":[1,2,{}],\"b\":[],\"c\":\"x\"}");
	return 0;
}

TEST(json_writes_every_kind_of_value)
{
	struct json j = start();

	json_open(&j, NULL, '{');
	json_str(&j, "none", NULL);
	json_u64(&j, "u", UINT64_MAX);
	json_i64(&j, "i", INT64_MIN);
	json_bool(&j, "t", true);
	json_bool(&j, "f", false);
	json_null(&j, "n");
	json_close(&j, '}');
	CHECK_STR(finish(&j), "{\"none\":null,\"u\":18446744073709551615,"
			      "\"i\":-9223372036854775808,\"t\":true,\"f\":false,\"n\":null}");
	return 0;
}

TEST(json_numbers_are_never_nan_or_infinite)
{
	struct json j = start();

	json_open(&j, NULL, '[');
	json_f64(&j, NULL, 0.5);
	json_f64(&j, NULL, 1.0 / 3);
	json_f64(&j, NULL, -2e30);
	json_f64(&j, NULL, (double)NAN);
	json_f64(&j, NULL, (double)INFINITY);
	json_f64(&j, NULL, -(double)INFINITY);
	json_close(&j, ']');
	CHECK_STR(finish(&j), "[0.5,0.333333,-2e+30,null,null,null]");
	return 0;
}

TEST(json_escapes_what_would_end_a_string_or_a_script)
{
	struct json j = start();

	json_str(&j, NULL, "\"\\\n\x01</script>\xe2\x80\xa8\xe2\x80\xa9\x7f");
	CHECK_STR(finish(&j), "\"\\\"\\\\\\u000a\\u0001\\u003c/script>\\u2028\\u2029\\u007f\"");
	return 0;
}

TEST(json_escapes_keys_as_it_does_values)
{
	struct json j = start();

	json_open(&j, NULL, '{');
	json_u64(&j, "a\"b\xff", 1);
	json_close(&j, '}');
	CHECK_STR(finish(&j), "{\"a\\\"b\xef\xbf\xbd\":1}");
	return 0;
}

TEST(json_replaces_each_invalid_byte_and_keeps_valid_text)
{
	struct json j = start();

	json_str(&j, NULL, "é\xff\xe2\x82z\xed\xa0\x80");
	CHECK_STR(finish(&j), "\"é\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"
			      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	return 0;
}

TEST(json_nests_thirty_one_levels)
{
	struct json j = start();

	for (int i = 0; i < 31; i++)
		json_open(&j, NULL, '[');
	for (int i = 0; i < 31; i++)
		json_close(&j, ']');
	CHECK_U64(strlen(finish(&j)), 62);
	return 0;
}
