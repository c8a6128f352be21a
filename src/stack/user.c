// SPDX-License-Identifier: Apache-2.0
/* Which frames are the user's own. */
#include <ctype.h>
#include <string.h>

#include "base/util.h"
#include "stack/stack.h"

/* "/lib/python3.11/" and "/lib64/python3.12/", also in a virtual environment or a zip file. */
static bool in_library(const char *file)
{
	const char *at = file;

	while ((at = strstr(at, "/python3."))) {
		const char *end = at + strlen("/python3.");
		bool lib = (at - file >= 4 && !memcmp(at - 4, "/lib", 4)) ||
			   (at - file >= 6 && !memcmp(at - 6, "/lib64", 6));

		at = end;
		if (!isdigit((unsigned char)*end))
			continue;
		while (isdigit((unsigned char)*end) || *end == 't') /* t: free-threaded */
			end++;
		if (lib && *end == '/')
			return true;
	}
	return false;
}

static bool in_folder(const char *file, const char *folder)
{
	size_t len = strlen(folder);

	for (const char *at = file; (at = strstr(at, folder)); at += len) {
		if ((at == file || at[-1] == '/') && at[len] == '/')
			return true;
	}
	return false;
}

bool frame_is_users(enum frame_kind kind, const char *file)
{
	return kind == FRAME_python && file[0] && file[0] != '<' &&
	       !in_folder(file, "site-packages") && !in_folder(file, "dist-packages") &&
	       !in_library(file);
}

const struct frame *stack_user_frame(const struct stack *stack)
{
	for (int i = 0; i < stack->frames; i++) {
		const struct frame *f = stack->frame[i];

		if (f->kind == FRAME_python && !f->file[0])
			return NULL; /* it may be the one */
		if (frame_is_users(f->kind, f->file))
			return f;
	}
	return NULL;
}
