/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline in JSON has an event on each line; json_check.h wants all of it on one. */
#ifndef TEST_UNIT_ONE_LINE_H
#define TEST_UNIT_ONE_LINE_H

/* Take out every newline but one that ends the text. */
static inline void one_line(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != '\n' || !from[1])
			*to++ = *from;
	*to = '\0';
}

#endif
