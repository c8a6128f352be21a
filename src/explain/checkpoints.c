// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint-stall: the file that was waited for is a checkpoint, as whoever writes it has said by a tag or
 * an attribute (doc/tags.md). It is judged like any other disk-write, and renamed when all else is done.
 */
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "explain/explain_int.h"
#include "explain/facts.h"
#include "store/checkpoint.h"

struct asked {
	bool is; /* a checkpoint */
	char label[TAG_LABEL_MAX]; /* of its tag; "": none */
};

static int on_checkpoint(const struct checkpoint_info *info, void *arg)
{
	struct asked *asked = arg;

	asked->is = true;
	if (!asked->label[0]) /* the latest first */
		text_safe(asked->label, sizeof(asked->label), info->label);
	return 0;
}

static int ask(struct store *s, struct finding *found, struct asked *ret)
{
	const struct hop *hop = finding_file(found);
	struct tag_file file = { 0 };

	*ret = (struct asked){ .is = false };
	if (hop)
		file = (struct tag_file){ .dev = (uint32_t)hop->obj2, .ino = hop->obj };
	/* By its name as well: a file that is replaced each time is another one each time. */
	if (!file.ino && !found->object.name[0])
		return 0;
	return store_each_checkpoint(s, found->object.name, file.ino ? &file : NULL, on_checkpoint,
				     ret);
}

static void rename_cause(struct explanation *e, struct finding *found, const char *label)
{
	const char *was = found->cause, *rest = strchr(found->title, ':');
	char title[TITLE_LEN];

	found->cause = cause_name(CAUSE_checkpoint_stall);
	snprintf(title, sizeof(title), "Checkpoint%.*s", TITLE_LEN - 16, rest ? rest : "");
	memcpy(found->title, title, sizeof(title));
	str_add(found->basis, sizeof(found->basis), "; a checkpoint by its %s%.100s",
		label[0] ? "tag " : "attribute", label);
	for (int i = 0; i < e->lines; i++)
		if (e->line[i].pid == found->pid && e->line[i].cause == was)
			e->line[i].cause = found->cause;
}

int name_checkpoints(struct store *s, struct explanation *e)
{
	struct asked asked;
	int err = 0;

	for (int i = 0; !err && i < e->findings; i++) {
		struct finding *found = &e->finding[i];

		if (!streq(found->cause, cause_name(CAUSE_disk_write)))
			continue;
		err = ask(s, found, &asked);
		if (!err && asked.is)
			rename_cause(e, found, asked.label);
	}
	return err;
}
