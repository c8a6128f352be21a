// SPDX-License-Identifier: Apache-2.0
/* io verify: is a checkpoint what it was meant to be? */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "integrity/judge.h"
#include "store/checkpoint.h"
#include "store/store.h"
#include "tag/tag.h"

#define EXIT_TORN 4
#define EXIT_CHANGED 5

static struct {
	const char *db;
	bool json, quick, sync;
} args;

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "quick", 'q', OPT_FLAG, AT(quick), NULL,
	  "do not read the file: compare size and time only" },
	{ "sync", 0, OPT_FLAG, AT(sync), NULL, "first make the file and its name durable (fsync)" },
	{ "db", 'd', OPT_STR, AT(db), "FILE", "the trace (default: where `trace` writes)" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "as JSON, one line per file" },
	{ 0 },
};

/* What the store knows of one path. */
struct case_file {
	struct evidence evidence;
	struct checkpoint seen;
	struct tag_file file; /* that has the name now; ino 0: none */
	uint32_t generation;
	char path[PATH_MAX], unfinished[PATH_MAX], boot_id[64], label[TAG_LABEL_MAX];
	char seen_boot[64];
	uint64_t newest_ns; /* last write of what was seen */
};

/* ---- what was seen ---- */

static bool is_this(const struct case_file *r, const struct checkpoint *c)
{
	return r->file.ino == c->file.ino && r->file.dev == c->file.dev &&
	       (!r->generation || !c->generation || r->generation == c->generation);
}

static void take_seen(struct case_file *r, const struct checkpoint_info *info, bool other)
{
	r->seen = info->seen;
	r->evidence.seen = &r->seen;
	r->evidence.other_file = other;
	r->newest_ns = info->seen.last_ns;
	str_copy(r->label, sizeof(r->label), info->label);
	str_copy(r->seen_boot, sizeof(r->seen_boot), info->boot_id);
}

/* The latest first: of this very file, else of what had its name. */
static int on_checkpoint(const struct checkpoint_info *info, void *arg)
{
	struct case_file *r = arg;

	if (r->file.ino && is_this(r, &info->seen)) {
		if (!r->evidence.seen || r->evidence.other_file)
			take_seen(r, info, false);
		return 0;
	}
	if (!r->evidence.seen && streq(info->path, r->path))
		take_seen(r, info, true);
	return 0;
}

/* "x.pt.tmp", ".x.pt.7f3a" and the like: a file that was to become this one. */
static bool is_draft_of(const char *name, const char *of)
{
	const char *at = strstr(name, of);

	return at && !streq(name, of) &&
	       (at == name || at[-1] == '.' || at[-1] == '_' || at[-1] == '-');
}

static int on_neighbour(const struct checkpoint_info *info, void *arg)
{
	const char *name = strrchr(info->path, '/'), *own;
	struct case_file *r = arg;
	struct stat st;

	own = strrchr(r->path, '/');
	if (!name || !own || r->unfinished[0] || !is_draft_of(name + 1, own + 1))
		return 0;
	if (info->seen.renamed_ns || info->seen.last_ns <= r->newest_ns)
		return 0;
	if (lstat(info->path, &st) || st.st_ino != info->seen.file.ino)
		return 0;
	str_copy(r->unfinished, sizeof(r->unfinished), info->path);
	r->evidence.unfinished = r->unfinished;
	return 0;
}

static int read_store(struct case_file *r)
{
	char db[600], folder[PATH_MAX + 1], *slash;
	struct store *s;
	int err;

	if (!args.db) {
		err = cmd_default_db(db, sizeof(db), 0);
		if (err)
			return err;
	}
	if (!args.db && access(db, R_OK)) {
		return 0; /* nothing was ever traced: the file's own digest may still tell */
	}
	err = store_open(args.db ? args.db : db, STORE_READ, &s);
	if (err)
		return err;
	err = store_each_checkpoint(s, r->path, r->file.ino ? &r->file : NULL, on_checkpoint, r);
	str_copy(folder, sizeof(folder), r->path);
	slash = strrchr(folder, '/');
	if (!err && slash) {
		slash[1] = '\0';
		err = store_each_checkpoint(s, folder, NULL, on_neighbour, r);
	}
	store_close(s);
	return err;
}

/* ---- what is there ---- */

static int sync_all(int fd, const char *path)
{
	char folder[PATH_MAX], *slash;
	int dir, err;

	str_copy(folder, sizeof(folder), path);
	slash = strrchr(folder, '/');
	slash[slash == folder] = '\0';
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = fsync(fd) || dir < 0 || fsync(dir)
		      ? fail(-errno, "%s: fsync: %s", path, strerror(errno))
		      : 0;
	if (dir >= 0)
		close(dir);
	return err;
}

static int read_file(int fd, struct case_file *r)
{
	struct evidence *e = &r->evidence;
	struct stat st;
	int err = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return fail(-EINVAL, "%s: not a regular file", r->path);
	if (args.sync) {
		err = sync_all(fd, r->path);
		e->synced = !err;
	}
	e->exists = true;
	e->size = (uint64_t)st.st_size;
	e->mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000ull + (uint64_t)st.st_mtim.tv_nsec;
	(void)tag_file_of(fd, &r->file, &r->generation);
	(void)digest_read(fd, &e->kept);
	/* Refused while somebody has it open to write; also to strangers, who then are not told. */
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		e->being_written = errno == EAGAIN;
	else
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	if (!err && !args.quick) {
		err = digest_make(fd, 0, &e->now);
		if (err == -EAGAIN) {
			e->being_written = true;
			err = 0;
		}
		if (err)
			fail(err, "%s: cannot be read: %s", r->path, strerror(-err));
	}
	return err;
}

static int gather(const char *path, struct case_file *r)
{
	char *slash, folder[PATH_MAX];
	const char *name = strrchr(path, '/');
	int fd, err;

	*r = (struct case_file){ 0 };
	/* The folder must be there; the file itself may be missing, which is an answer. */
	if (!realpath(path, r->path)) {
		str_copy(folder, sizeof(folder), path);
		slash = strrchr(folder, '/');
		if (slash)
			slash[slash == folder] = '\0';
		if (!realpath(slash ? folder : ".", r->path))
			return fail(-errno, "%s: %s", path, strerror(errno));
		str_add(r->path, sizeof(r->path), "/%s", name ? name + 1 : path);
	}
	(void)file_read("/proc/sys/kernel/random/boot_id", r->boot_id, sizeof(r->boot_id), NULL);
	r->boot_id[strcspn(r->boot_id, "\n")] = '\0';
	fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno != ENOENT)
		return fail(-errno, "%s: %s", path, strerror(errno));
	err = fd < 0 ? 0 : read_file(fd, r);
	if (fd >= 0)
		close(fd);
	if (!err)
		err = read_store(r);
	if (!err && !r->evidence.exists && !r->evidence.seen && !r->evidence.unfinished)
		return fail(-ENOENT, "%s: there is no such file, and none was ever seen", path);
	r->evidence.same_boot = streq(r->boot_id, r->seen_boot);
	return err;
}

/* ---- saying so ---- */

static void print_json(const struct case_file *r, const struct judgement *j)
{
	struct json out = JSON_TO(stdout);

	json_open(&out, NULL, '{');
	json_str(&out, "path", r->path);
	json_str(&out, "verdict", verdict_name(j->verdict));
	if (r->evidence.exists)
		json_u64(&out, "size", r->evidence.size);
	json_str(&out, "sha256", r->evidence.now.hex[0] ? r->evidence.now.hex : NULL);
	json_str(&out, "label", r->label[0] ? r->label : NULL);
	json_open(&out, "reasons", '[');
	for (int i = 0; i < j->count; i++) {
		json_open(&out, NULL, '{');
		json_str(&out, "code", j->reason[i].code);
		json_str(&out, "verdict", verdict_name(j->reason[i].verdict));
		json_str(&out, "text", j->reason[i].text);
		json_close(&out, '}');
	}
	json_close(&out, ']');
	json_close(&out, '}');
	putchar('\n');
}

static void print_text(const struct case_file *r, const struct judgement *j)
{
	char path[4 * PATH_MAX], text[1024];

	printf("%-9s %s\n", verdict_name(j->verdict), text_safe(path, sizeof(path), r->path));
	for (int i = 0; i < j->count; i++)
		printf("          %s%s: %s\n",
		       j->reason[i].verdict == VERDICT_COMPLETE ? "note, " : "", j->reason[i].code,
		       text_safe(text, sizeof(text), j->reason[i].text));
}

static int cmd_io_verify(int argc, char **argv)
{
	static const int codes[] = { 0, EXIT_NO, EXIT_CHANGED, EXIT_TORN };
	enum verdict worst = VERDICT_COMPLETE;
	struct judgement j;
	struct case_file r;
	int err;

	if (!argc)
		return fail(-EINVAL, "which file?");
	(void)signal(SIGIO, SIG_IGN); /* of somebody who opens the file while we hold its lease */
	for (int i = 0; i < argc; i++) {
		err = gather(argv[i], &r);
		if (err)
			return err;
		judge(&r.evidence, &j);
		if (args.json)
			print_json(&r, &j);
		else
			print_text(&r, &j);
		if (j.verdict > worst)
			worst = j.verdict;
	}
	return codes[worst];
}

const struct cmd cmd_io_verify_cmd = {
	.name = "io verify",
	.args = "FILE...",
	.summary = "Say whether a checkpoint is complete, torn or changed, and why",
	.more = "Reads the file and compares it with its SHA-256, which the agent made after it was\n"
		"closed, and with what the agent saw of its writing: files that have the attribute\n"
		"user.ai.checkpoint, or are in a folder that has it. See `culprit tag`. Without a trace\n"
		"the digest on the file itself (user.ai.sha256) is used.\n"
		"Exit codes: 0 complete, 3 unknown, 4 torn, 5 changed since.\n",
	.opts = opts,
	.dest = &args,
	.operands_max = INT_MAX,
	.run = cmd_io_verify,
};
