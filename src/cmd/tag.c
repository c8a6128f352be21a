// SPDX-License-Identifier: Apache-2.0
/* tag: say what a file, a process or a command works on. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "tag/tag.h"

static struct {
	uint64_t pid;
	bool checkpoint, json;
} args;

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "pid", 'p', OPT_U64, AT(pid), "PID", "this process, and what it starts from now on" },
	{ "checkpoint", 0, OPT_FLAG, AT(checkpoint), NULL,
	  "set: also watch how the file is written, and keep its SHA-256; see `culprit io verify`" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "get, list: as JSON" },
	{ 0 },
};

/* ---- printing ---- */

struct printer {
	struct json json;
	int rows;
};

static void print_begin(struct printer *p)
{
	*p = (struct printer){ .json = JSON_TO(stdout) };
	if (args.json)
		json_open(&p->json, NULL, '[');
}

static int print_end(struct printer *p)
{
	if (args.json) {
		json_close(&p->json, ']');
		putchar('\n');
	}
	return p->rows ? 0 : EXIT_NO;
}

static void print_tag(struct printer *p, const char *kind, uint32_t pid, const char *name,
		      uint64_t tag, const char *label)
{
	char hex[20], safe[4 * TAG_ROW_PATH + 1], text[4 * TAG_LABEL_MAX];

	p->rows++;
	snprintf(hex, sizeof(hex), "%016" PRIx64, tag);
	if (args.json) {
		json_open(&p->json, NULL, '{');
		json_str(&p->json, "tag", hex);
		json_str(&p->json, "label", label);
		json_str(&p->json, "kind", kind);
		if (pid)
			json_u64(&p->json, "pid", pid);
		json_str(&p->json, pid ? "comm" : "path", name);
		json_close(&p->json, '}');
		return;
	}
	text_safe(safe, sizeof(safe), name);
	text_safe(text, sizeof(text), label[0] ? label : "?");
	if (pid)
		printf("%s  %-8s %u (%s)  %s\n", hex, kind, pid, safe, text);
	else
		printf("%s  %-8s %s  %s\n", hex, kind, safe, text);
}

static void print_row(const struct tag_row *row, void *arg)
{
	static const struct {
		uint32_t kind;
		const char *name;
	} kinds[] = { { TAG_THREAD, "thread" },
		      { TAG_PROCESS, "process" },
		      { TAG_FILE, "file" },
		      { TAG_CHECKED, "checked" } };
	const char *kind = "?";

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].kind == row->kind)
			kind = kinds[i].name;
	print_tag(arg, kind, row->pid, row->path, row->tag, row->label);
}

/* ---- files ---- */

/* Who may write to a file may put attributes on it; we ask for more. */
static int open_own(const char *path)
{
	int fd = tag_open(path);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || (geteuid() && st.st_uid != geteuid())) {
		close(fd);
		return fail(-EPERM, "%s: it belongs to user %u; only its owner and root may tag it",
			    path, st.st_uid);
	}
	return fd;
}

static int attr_error(const char *path)
{
	if (errno == ENOTSUP)
		return fail(
			-ENOTSUP,
			"%s: this filesystem keeps no user attributes; tag the process that writes it "
			"instead (--pid, or %s=LABEL)",
			path, TAG_ENV);
	return fail(-errno, "%s: %s", path, strerror(errno));
}

static int set_file(const char *path, const char *label)
{
	static const char checked[] = "sha256:enabled";
	int fd = open_own(path), err = 0;

	if (fd < 0)
		return fd;
	if (fsetxattr(fd, TAG_ATTR, label, strlen(label), 0) ||
	    (args.checkpoint &&
	     fsetxattr(fd, TAG_ATTR_CHECKPOINT, checked, strlen(checked), XATTR_CREATE) &&
	     errno != EEXIST))
		err = attr_error(path);
	else
		tag_announce(label,
			     args.checkpoint || starts_with(label, "checkpoint") ? TAG_CHECKED
										 : TAG_FILE,
			     fd);
	close(fd);
	return err;
}

static int remove_file(const char *path, bool *ret_had)
{
	static const char *const names[] = { TAG_ATTR, TAG_ATTR_CHECKPOINT };
	int fd = open_own(path), err = 0;

	if (fd < 0)
		return fd;
	for (size_t i = 0; !err && i < ARRAY_LEN(names); i++) {
		if (!fremovexattr(fd, names[i]))
			*ret_had = true;
		else if (errno != ENODATA)
			err = attr_error(path);
	}
	close(fd);
	return err;
}

/* A file's own tag, or that of its folder. */
static int get_file(struct printer *p, const char *path)
{
	char folder[PATH_MAX], *slash;
	int fd = tag_open(path), err;
	struct tag_attr attr;

	if (fd < 0)
		return fd;
	err = tag_attr_read(fd, &attr);
	close(fd);
	if (!err) {
		print_tag(p, attr.checked ? "checked" : "file", 0, path, tag_hash(attr.label),
			  attr.label);
		return 0;
	}
	if (!realpath(path, folder))
		return fail(-errno, "%s: %s", path, strerror(errno));
	slash = strrchr(folder, '/');
	slash[slash == folder] = '\0';
	fd = tag_open(folder);
	if (fd < 0)
		return 0;
	if (!tag_attr_read(fd, &attr))
		print_tag(p, "folder", 0, path, tag_hash(attr.label), attr.label);
	close(fd);
	return 0;
}

/* ---- verbs; argv begins behind the verb ---- */

static int ask_process(enum tag_verb verb, const char *label, struct printer *p)
{
	struct tag_ask ask = { .magic = TAG_ASK_MAGIC, .verb = verb, .pid = (uint32_t)args.pid };

	str_copy(ask.label, sizeof(ask.label), label);
	return tag_ask(&ask, p ? print_row : NULL, p);
}

static int run_command(const char *label, char **command)
{
	if (setenv(TAG_ENV, label, 1))
		return fail(-errno, "%s: %s", TAG_ENV, strerror(errno));
	execvp(command[0], command);
	return fail(-errno, "%s: %s", command[0], strerror(errno));
}

static int do_set(int argc, char **argv, bool command)
{
	int err;

	if (argc < 1)
		return fail(-EINVAL, "set: which label? `culprit tag set LABEL FILE...`");
	err = tag_label_check(argv[0]);
	if (err)
		return err;
	if (command && args.pid)
		return fail(-EINVAL, "set: a process and a command: give one");
	if (argc < 2 && !args.pid)
		return fail(-EINVAL,
			    "set: what is to be tagged? FILE..., --pid PID, or -- COMMAND...");
	if (command)
		return run_command(argv[0], argv + 1);
	if (args.pid)
		err = ask_process(TAG_ASK_SET, argv[0], NULL);
	for (int i = 1; !err && i < argc; i++)
		err = set_file(argv[i], argv[0]);
	return err;
}

static int do_get(int argc, char **argv, bool command)
{
	struct printer p;
	int err = 0;

	(void)command;
	if (!argc && !args.pid)
		return fail(-EINVAL, "get: of what? FILE... or --pid PID");
	print_begin(&p);
	if (args.pid)
		err = ask_process(TAG_ASK_GET, "", &p);
	for (int i = 0; !err && i < argc; i++)
		err = get_file(&p, argv[i]);
	return err ? err : print_end(&p);
}

static int do_list(int argc, char **argv, bool command)
{
	struct printer p;
	int err;

	(void)command;
	if (argc || args.pid)
		return fail(-EINVAL, "list: unexpected argument '%s'", argc ? argv[0] : "--pid");
	print_begin(&p);
	err = ask_process(TAG_ASK_LIST, "", &p);
	return err ? err : print_end(&p);
}

static int do_rm(int argc, char **argv, bool command)
{
	bool had = args.pid != 0;
	int err = 0;

	(void)command;
	if (!argc && !args.pid)
		return fail(-EINVAL, "rm: of what? FILE... or --pid PID");
	if (args.pid)
		err = ask_process(TAG_ASK_SET, "", NULL);
	for (int i = 0; !err && i < argc; i++)
		err = remove_file(argv[i], &had);
	return err ? err : (had ? 0 : EXIT_NO);
}

static int run(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(int argc, char **argv, bool command);
	} verbs[] = { { "set", do_set }, { "get", do_get }, { "list", do_list }, { "rm", do_rm } };
	bool command = argc && streq(argv[-1], "--"); /* parsed options come before the operands */

	if (args.pid > INT32_MAX)
		return fail(-EINVAL, "--pid: %llu is no process id", (unsigned long long)args.pid);
	for (size_t i = 0; argc && i < ARRAY_LEN(verbs); i++)
		if (streq(verbs[i].name, argv[0]))
			return verbs[i].fn(argc - 1, argv + 1, command);
	return fail(-EINVAL, "%s%s%s: set, get, list or rm", argc ? "'" : "what",
		    argc ? argv[0] : "", argc ? "'" : "");
}

const struct cmd cmd_tag = {
	.name = "tag",
	.args = "set LABEL FILE...|--pid PID|-- COMMAND... | get FILE...|--pid PID | list | rm FILE...|--pid PID",
	.summary = "Say what a file, a process or a command works on",
	.more = "A label such as checkpoint_write/run42/step80000/shard17 then names the disk requests\n"
		"that belong to it. On a file or folder it is kept as the attribute user.ai.tag, with or\n"
		"without an agent; files in a tagged folder have its tag. A command is given CULPRIT_TAG,\n"
		"which any program may be started with. Processes need a running `culprit trace`. One may\n"
		"tag what one owns; root may tag all. Exit code 3: nothing is tagged there.\n"
		"\n"
		"  culprit tag set run42/shards /data/train\n"
		"  culprit tag set --checkpoint checkpoint_write/run42 /ckpt/run42\n"
		"  culprit tag set run42/eval -- python eval.py\n",
	.opts = opts,
	.dest = &args,
	.operands_max = INT_MAX,
	.run = run,
};
