#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tags: every way to set one reaches the probes, is inherited as it should be, and only what one owns can be
# tagged. Programs that tag are the same with and without an agent.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
export PYTHONPATH="$top/lib" CULPRIT_TAG_SOCKET="$dir/tag.sock"
chmod 755 "$dir"

mnt=$dir/mnt
unmount() {
	umount "$mnt" 2>/dev/null || umount -l "$mnt" 2>/dev/null
}
undo=unmount
mkdir "$mnt"
truncate -s 64M "$dir/img"
mkfs.ext4 -q -F "$dir/img" 2>/dev/null || die "no filesystem"
mount -o loop "$dir/img" "$mnt" 2>/dev/null || skip "no loop device can be mounted here"
chmod 1777 "$mnt"

cat >"$dir/say.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include "culprit.h"

static int write_it(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	int bad = fd < 0 || write(fd, "12345678", 8) != 8 || fsync(fd);

	return close(fd) || bad;
}

static void *worker(void *path)
{
	return (void *)(long)write_it((char *)path);
}

int main(int argc, char **argv)
{
	char was[16], is[16];
	void *bad = NULL;
	pthread_t t;
	int fd;

	(void)argc;
	prctl(PR_SET_NAME, "a name");
	prctl(PR_GET_NAME, was);
	culprit_tag_process("c/process");
	culprit_tag_thread("c/thread");
	if (write_it(argv[1]) || pthread_create(&t, NULL, worker, argv[2]) || pthread_join(t, &bad) || bad)
		return 1;
	culprit_tag_thread(NULL);
	if (write_it(argv[3]))
		return 1;
	culprit_tag_process(NULL);
	fd = open(argv[4], O_CREAT | O_WRONLY, 0644);
	if (culprit_checkpoint(fd, "checkpoint/by/header", "dense") || write(fd, "1", 1) != 1 || fsync(fd) || close(fd))
		return 1;
	prctl(PR_GET_NAME, is);
	return strcmp(was, is) != 0;
}
END
cc -D_GNU_SOURCE -std=c99 -Wall -Wextra -Werror -I"$top/include" -pthread -o "$dir/say" "$dir/say.c" ||
	die "the header does not compile"

cat >"$dir/say.py" <<'END'
import os, sys, threading
import culprit_tag
folder = sys.argv[1]

def put(name):
    fd = os.open(os.path.join(folder, name), os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"12345678")
    os.fsync(fd)
    os.close(fd)

was = open("/proc/self/comm").read()
with culprit_tag.tag("py/outer/" + "x" * 100):
    put("py-outer")
    with culprit_tag.tag("py/inner"):
        thread = threading.Thread(target=put, args=("py-thread",))
        thread.start()
        thread.join()
    put("py-outer-again")
put("py-none")
culprit_tag.thread("y" * 128)
put("py-too-long")
with open(os.path.join(folder, "..", "py-file"), "wb") as f:
    assert culprit_tag.file(f, "py/file")
    f.write(b"1")
assert open("/proc/self/comm").read() == was
END

# ---- without an agent all of them work, and do nothing but set attributes

runs "C without an agent" 0 "$dir/say" "$mnt/1" "$mnt/2" "$mnt/3" "$mnt/4"
mkdir "$mnt/first"
runs "Python without an agent" 0 "$python" "$dir/say.py" "$mnt/first"
runs "set without an agent" 0 "$culprit" tag set some/label "$mnt/1"
runs "get" 0 "$culprit" tag get "$mnt/1"
has "get" "$dir/out" some/label
runs "get --json" 0 "$culprit" tag get --json "$mnt/1"
is_json "get --json" "$dir/out"
runs "rm" 0 "$culprit" tag rm "$mnt/1"
runs "nothing there" 3 "$culprit" tag get "$mnt/1"
runs "nothing to remove" 3 "$culprit" tag rm "$mnt/1"
runs "a process without an agent" 1 "$culprit" tag set some/label --pid $$
has "says what to do" "$dir/err" 'culprit trace'
runs "an empty label" 2 "$culprit" tag set '' "$mnt/1"
runs "a long label" 2 "$culprit" tag set "$(printf '%0200d' 0)" "$mnt/1"
runs "no verb" 2 "$culprit" tag
runs "another verb" 2 "$culprit" tag sit label "$mnt/1"
runs "nothing to tag" 2 "$culprit" tag set label
runs "no such file" 1 "$culprit" tag set label "$mnt/nothing"
mkfifo "$mnt/fifo"
runs "a fifo" 1 "$culprit" tag set label "$mnt/fifo"

mkdir "$mnt/old"
runs "a folder without an agent" 0 "$culprit" tag set --checkpoint old/folder "$mnt/old"

# ---- with one

CULPRIT_TAG=env/before sleep 60 &
before=$!
started="$started $before"
trace
mkdir "$mnt/ckpt"
runs "tag a folder" 0 "$culprit" tag set --checkpoint checkpoint/folder "$mnt/ckpt"
is "inherited by name" "$("$culprit" tag get --json "$mnt/ckpt" | jq -r '.[0].label')" checkpoint/folder
listed() {
	"$culprit" tag list --json | jq -e --arg l "$1" '.[] | select(.label == $l)' >/dev/null
}
soon 10 listed checkpoint/folder || die "the folder is not known"
# What was tagged before is known when a file there is written.
written_again() {
	"$python" -c 'import os, sys
f = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600)
os.write(f, b"x" * 65536)
os.fsync(f)' "$mnt/old/file" && listed old/folder
}
if soon 10 written_again; then good "tagged before" old/folder; else bad "tagged before" "not known" old/folder; fi
soon 10 listed env/before || die "the environment of who was there before is not known"

# written_by FILE: the label of who wrote it, as the probes saw it
written_by() {
	sql "SELECT DISTINCT coalesce(label, '-') FROM checkpoint_event e JOIN checkpoint c ON c.id = checkpoint
		LEFT JOIN tag ON tag.id = e.tag WHERE path LIKE '%/$1' AND event = 'write'"
}

# known FILE LABEL: it is stored that it was written by who has that label
known() {
	[ "$(written_by "$1")" = "$2" ]
}

expect() {
	if soon 10 known "$1" "$2"; then good "$1" "$2"; else bad "$1" "$(written_by "$1")" "'$2'"; fi
}

runs "C" 0 "$dir/say" "$mnt/ckpt/c-thread" "$mnt/ckpt/c-worker" "$mnt/ckpt/c-process" "$mnt/c-file"
expect c-thread c/thread
expect c-worker c/thread
expect c-process c/process
expect c-file -
runs "Python" 0 "$python" "$dir/say.py" "$mnt/ckpt"
expect py-outer "py/outer/$(printf '%0100d' 0 | tr 0 x)"
expect py-outer-again "py/outer/$(printf '%0100d' 0 | tr 0 x)"
expect py-thread py/inner
expect py-none -
expect py-too-long -
# shellcheck disable=SC2016 # for the shells below
write='echo 12345678 >"$0"; sync "$0"'
CULPRIT_TAG=env/label sh -c "$write" "$mnt/ckpt/env"
expect env env/label
CULPRIT_TAG=env/label sh -c 'sh -c "$1" "$0"; :' "$mnt/ckpt/env-child" "$write"
expect env-child env/label
CULPRIT_TAG=env/label sh -c 'CULPRIT_TAG=env/other sh -c "$1" "$0"; :' "$mnt/ckpt/env-other" "$write"
expect env-other env/other
env "LONG=$(printf '%03000d' 0)" CULPRIT_TAG=env/late sh -c "$write" "$mnt/ckpt/env-late"
expect env-late env/late
runs "a command" 0 "$culprit" tag set by/command -- sh -c "$write" "$mnt/ckpt/command"
expect command by/command

mkfifo "$dir/go"
sh -c 'read -r _ <"$1"; echo 12345678 >"$0"; sync "$0"' "$mnt/ckpt/by-pid" "$dir/go" &
reader=$!
started="$started $reader"
runs "a process" 0 "$culprit" tag set by/pid --pid "$reader"
is "of a process" "$("$culprit" tag get --json --pid "$reader" | jq -r '.[0].label')" by/pid
echo >"$dir/go"
expect by-pid by/pid
runs "no such process" 1 "$culprit" tag set by/pid --pid 4194303

# A stock tool sets the attribute, on a file that exists.
echo >"$mnt/stock"
"$python" -c 'import os, sys; os.setxattr(sys.argv[1], "user.ai.tag", b"by/attribute")' "$mnt/stock"
soon 10 listed by/attribute || bad "by attribute" "$("$culprit" tag list)" by/attribute
"$python" -c 'import os, sys; os.removexattr(sys.argv[1], "user.ai.tag")' "$mnt/stock"
unlisted() {
	! listed by/attribute
}
soon 10 unlisted || bad "attribute removed" "$("$culprit" tag list)" "no by/attribute"
soon 10 listed checkpoint/by/header || bad "by the header" "$("$culprit" tag list)" checkpoint/by/header

# ---- what one does not own

if id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	cp "$culprit" "$mnt/culprit"
	touch "$mnt/roots" "$mnt/theirs"
	chmod 666 "$mnt/roots"
	chown 65534 "$mnt/theirs"
	# shellcheck disable=SC2086 # words
	{
		runs "own file" 0 $as_nobody "$mnt/culprit" tag set nobody/own "$mnt/theirs"
		runs "root's file" 1 $as_nobody "$mnt/culprit" tag set nobody/foreign "$mnt/roots"
		has "says whose it is" "$dir/err" 'only its owner'
		runs "root's process" 1 $as_nobody "$mnt/culprit" tag set nobody/foreign --pid "$before"
		has "says whose it is" "$dir/err" 'not yours'
		runs "asking about root's" 1 $as_nobody "$mnt/culprit" tag get --pid "$before"
	}
	# By the way that programs use, too: they may write to it, but it is not theirs.
	cp "$top/lib/culprit_tag.py" "$mnt"
	# shellcheck disable=SC2086
	PYTHONPATH="$mnt" $as_nobody "$python" -c 'import culprit_tag, os, sys
culprit_tag._tell("nobody/foreign", b"!", b"%d" % os.open(sys.argv[1], os.O_RDWR))' "$mnt/roots" ||
		bad "telling" "exit $?" 0
	soon 10 listed nobody/own || bad "own file" "$("$culprit" tag list)" nobody/own
	unheard() { ! listed nobody/foreign; }
	if unheard; then good "foreign ones" "not tagged"; else bad "foreign ones" "$("$culprit" tag list)" none; fi
fi
kill "$before"
ended() { ! listed env/before; }
soon 10 ended || bad "who has ended" "$("$culprit" tag list)" "no env/before"
untrace
is "foreign ones in the store" "$(sql "SELECT count(*) FROM tag WHERE label = 'nobody/foreign'")" 0
is "lost" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason LIKE 'tag%'")" 0
is "kinds" "$(sql "SELECT group_concat(k, ' ') FROM (SELECT DISTINCT kind k FROM tag_target ORDER BY k)")" \
	"file folder process thread"
