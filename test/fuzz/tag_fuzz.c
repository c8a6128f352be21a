// SPDX-License-Identifier: Apache-2.0
/* Fuzz what others have put on files and into environments: labels come out as text, or not at all. */
#include <stdlib.h>
#include <string.h>

#include "integrity/digest.h"
#include "tag/tag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_text(const struct tag_attr *a)
{
	if (!memchr(a->label, '\0', sizeof(a->label)) || (a->label[0] && tag_label_check(a->label)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1), label[TAG_LABEL_MAX],
	     text[DIGEST_TEXT]; /* no byte behind it */
	struct tag_attr a = { 0 };
	struct digest d, back;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (!tag_attr_checkpoint(copy, size, &a) && !a.checked)
		abort();
	must_be_text(&a);
	(void)tag_attr_label(copy, size, &a);
	must_be_text(&a);
	if (!tag_env_parse(copy, size, label) && (!label[0] || strlen(label) >= TAG_LABEL_MAX))
		abort();
	if (!digest_parse(copy, size, &d)) {
		digest_format(text, &d);
		if (digest_parse(text, strlen(text), &back) || strcmp(d.hex, back.hex) != 0 ||
		    d.size != back.size)
			abort();
	}
	free(copy);
	return 0;
}
