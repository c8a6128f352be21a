/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON writer that knows where the commas go. Write errors surface at fclose(). */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	int depth;
	unsigned char started[32]; /* has this level written anything yet? */
};

#define JSON_TO(file) ((struct json){ .out = (file) })

/* bracket is '{' or '['. key is NULL inside an array and at the top, in every function here. */
void json_open(struct json *j, const char *key, char bracket);

/* bracket is '}' or ']', the partner of the one opened. */
void json_close(struct json *j, char bracket);

/* Any bytes: invalid UTF-8 becomes U+FFFD, so the output is always valid. NULL becomes null. */
void json_str(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);

/* Six significant digits. JSON has no NaN and no infinity: they become null. */
void json_f64(struct json *j, const char *key, double value);
/* The same with all of its digits. */
void json_real(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
