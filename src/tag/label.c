// SPDX-License-Identifier: Apache-2.0
/* Labels: what they may be, their hash, and how a thread tells one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fail.h"
#include "base/text.h"
#include "base/util.h"
#include "tag/tag.h"

uint64_t tag_hash(const char *label)
{
	uint64_t hash = TAG_HASH_START;

	if (!label[0])
		return 0;
	for (; *label; label++)
		hash = tag_hash_byte(hash, (unsigned char)*label);
	return hash;
}

int tag_label_check(const char *label)
{
	size_t len = strlen(label), n;

	if (!len)
		return fail(-EINVAL, "the label is empty; say what is worked on: "
				     "checkpoint_write/run42/step80000/shard17");
	if (len >= TAG_LABEL_MAX)
		return fail(-EINVAL, "the label has %zu bytes; %d are the most", len,
			    TAG_LABEL_MAX - 1);
	for (size_t i = 0; i < len; i += n) {
		const unsigned char *at = (const unsigned char *)label + i;

		if (*at < ' ' || *at == 0x7f || !text_utf8(at, len - i, &n))
			return fail(-EINVAL, "the label '%s' is not plain text", label);
	}
	return 0;
}

static void call_it(char letter, const char *piece)
{
	char name[16];

	snprintf(name, sizeof(name), "%s%c%.*s", TAG_SIGN, letter, TAG_PIECE, piece);
	(void)prctl(PR_SET_NAME, name);
}

void tag_announce(const char *label, char by, int fd)
{
	char was[16] = "", number[12] = "";
	size_t len = strlen(label);

	if (prctl(PR_GET_NAME, was))
		return;
	if (by == TAG_FILE || by == TAG_CHECKED)
		snprintf(number, sizeof(number), "%d", fd);
	call_it(TAG_BEGIN, label);
	for (size_t at = TAG_PIECE; at < len; at += TAG_PIECE)
		call_it(TAG_MORE, label + at);
	call_it(by, number);
	(void)prctl(PR_SET_NAME, was);
}
