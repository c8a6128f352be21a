#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help, mistakes, exit codes, ordinary users, and outputs that cannot be written.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

# ---- help
commands=
runs "--help" 0 "$culprit" --help
# shellcheck disable=SC2013 # words
for command in $(sed -n 's/^  \([a-z]*\)  .*/\1/p' "$dir/out"); do
	commands="$commands $command"
	runs "$command --help" 0 "$culprit" "$command" --help
	has "$command --help: usage" "$dir/out" "usage: culprit $command"
	cp "$dir/out" "$dir/help.$command"
	runs "help $command" 0 "$culprit" help "$command"
	is "help $command: the same" "$(md5sum <"$dir/out")" "$(md5sum <"$dir/help.$command")"
done
is "commands" "$commands" ' check trace explain query merge io tag export demo ops version help'
for option in duration pid db no-db node json slow record-all stack ring attach; do
	has "trace --help" "$dir/help.trace" "--$option"
done
for option in since from to db json by-line full-stack; do
	has "explain --help" "$dir/help.explain" "--$option"
done
for option in format weight since from to pid db output; do
	has "export --help" "$dir/help.export" "--$option"
done
for option in no-gpu db record json; do
	has "demo --help" "$dir/help.demo" "--$option"
done
has "check --help" "$dir/help.check" --json
runs "version" 0 "$culprit" version
runs "--version" 0 "$culprit" --version
runs "ops --json" 0 "$culprit" ops --json
is_json "ops" "$dir/out"

# ---- mistakes: status 2, the value, and what would be right
# wrong TEXT HINT ARGUMENT...
wrong() {
	text=$1 hint=$2
	shift 2
	runs "$*" 2 "$culprit" "$@"
	has "$*: shown" "$dir/err" "$text"
	has "$*: hint" "$dir/err" "$hint"
}
runs "no command" 2 "$culprit"
has "no command: list" "$dir/err" explain
wrong nonsense explain nonsense
wrong --durration --duration trace --durration 3
wrong --bogus 'lists the options' explain --bogus
wrong soon 'try' trace --duration soon
wrong '5x' 'try' explain --since 5x
wrong yesterday 'try' explain --from yesterday
wrong 12a pid trace --pid 12a
wrong 99999999999 pid trace --pid 99999999999
wrong 5000 'power of two' trace --ring 5000
wrong telepathy session trace --attach telepathy
wrong '' '1 to 64' trace --node ''
wrong extra unexpected check extra
wrong --from 'not before' explain --db "$dir/none" --from -1m --to -2m
wrong --since --from explain --since 1m --from -1m
wrong --format folded export --db "$dir/none"
wrong svg speedscope export --format svg
wrong heavy wall export --format folded --weight heavy
wrong 'missing' --db trace --db

# ---- check
runs "check --json" 0 "$culprit" check --json
is_json "check" "$dir/out"
is "ready" "$(jq .ready "$dir/out")" true
runs "check" 0 "$culprit" check
has "check: text" "$dir/out" 'ready'
has "check: disks" "$dir/out" 'disk requests   with file'

# ---- explain without a trace
runs "explain: missing file" 1 "$culprit" explain --db "$dir/none.db"
has "... is named" "$dir/err" none.db
is "... and not made" "$(ls "$dir/none.db" 2>/dev/null)" ''
echo 'this is a letter to a friend, long enough to be read as a header of a database file' >"$dir/letter"
runs "explain: not a database" 1 "$culprit" explain --db "$dir/letter"
has "... is named" "$dir/err" letter
sqlite3 "$dir/foreign.db" 'CREATE TABLE t(x)'
runs "explain: somebody's database" 1 "$culprit" explain --db "$dir/foreign.db"
runs "trace into somebody's database" 1 "$culprit" trace --duration 1 --db "$dir/foreign.db"
is "... which is left alone" "$(sqlite3 "$dir/foreign.db" .tables)" t
runs "trace: nobody to trace" 0 "$culprit" trace --duration 1 --pid $$ --db "$dir/empty.db"
sqlite3 "$dir/empty.db" 'DELETE FROM account; DELETE FROM run'
runs "explain: empty trace" 3 "$culprit" explain --db "$dir/empty.db"
has "... says so" "$dir/err" empty
runs "explain: a window without a trace" 3 "$culprit" explain --db "$dir/empty.db" --from @1000 --to @2000
runs "trace: unwritable place" 1 "$culprit" trace --duration 1 --db /proc/nowhere/x.db
has "... is named" "$dir/err" /proc/nowhere/x.db

# ---- an ordinary user
chmod 755 "$dir"
cp "$culprit" "$dir/culprit"
chmod 755 "$dir/culprit"
mkdir -m 777 "$dir/home"
set -- setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$dir/home" "$dir/culprit"
runs "user: check" 3 "$@" check
has "... says what to do" "$dir/out" 'run as root'
runs "user: check --json" 3 "$@" check --json
is "user: ready" "$(jq .ready "$dir/out")" false
runs "user: trace" 1 "$@" trace --duration 1
has "... says what to do" "$dir/err" 'root'
runs "user: demo" 1 "$@" demo incident
has "... says what to do" "$dir/err" --no-gpu
runs "user: demo --no-gpu" 0 "$@" demo --no-gpu incident
has "... names the hog" "$dir/out" metrics-agent
runs "user: demo --no-gpu --json" 0 "$@" demo --no-gpu --json incident
is_json "the answer" "$dir/out"

# ---- outputs that cannot be written
# unwritable WHAT ARGUMENT...: an error, said once; no crash, no success
unwritable() {
	what=$1
	shift
	"$culprit" "$@" >/dev/full 2>"$dir/err"
	is "/dev/full: $what" $? 1
	has "/dev/full: $what: said" "$dir/err" 'cannot write'
}
unwritable version version
unwritable ops ops
unwritable "the manual page" help --man
unwritable check check
unwritable trace trace --duration 1 --no-db
unwritable "trace --json" trace --duration 1 --no-db --json

# closed ARGUMENT...: into a pipe that nobody reads: ends by itself or by SIGPIPE
closed() {
	{
		timeout 30 "$culprit" "$@" 2>/dev/null
		echo $? >"$dir/status"
	} | true
	case $(cat "$dir/status") in
	0 | 1 | 141) good "closed pipe: $*" "status $(cat "$dir/status")" ;;
	*) bad "closed pipe: $*" "status $(cat "$dir/status")" "0, 1 or SIGPIPE" ;;
	esac
}
closed help --man
closed ops
closed trace --duration 2 --json --no-db
closed trace --duration 1 --no-db
