# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the end-to-end tests and the lab share. Sourced by scripts that get the build folder as
# their first argument; gives $build $culprit $sim $dir, cleans up, and ends with status 1 if any
# check failed. Every process in $started is ended by its id, so no script needs a trap of its own.
set -u
build=$(cd "${1:-build}" && pwd) || exit 1
culprit=$build/culprit
sim=$build/sim
export SIM_DIR="$sim" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$sim"
python=/usr/bin/python3
dir=$(mktemp -d) || exit 1
db=$dir/trace.db
started=
failed=0
serial=0

cleanup() {
	status=$?
	trap - EXIT
	for pid in $started; do
		kill -CONT "$pid" 2>/dev/null
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	[ -z "${undo:-}" ] || eval "$undo"
	rm -rf "$dir"
	[ "$failed" -eq 0 ] || status=1
	exit "$status"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

die() {
	printf 'FAIL %s\n' "$*"
	exit 1
}

skip() {
	printf 'skip: %s\n' "$*"
	exit 77
}

# Said by test/run even where the test passes: a second try, a check that could not be made.
note() {
	printf 'note: %s\n' "$*"
}

# ---- checks: is/has/... WHAT GOT WANTED

good() {
	printf 'ok   %s: %s\n' "$1" "$2"
}

bad() {
	printf 'FAIL %s: got %s, wanted %s\n' "$1" "'$2'" "$3"
	failed=$((failed + 1))
}

is() {
	if [ "$2" = "$3" ]; then good "$1" "$2"; else bad "$1" "$2" "'$3'"; fi
}

# at_least WHAT NUMBER MIN, at_most WHAT NUMBER MAX
at_least() {
	if [ -n "$2" ] && [ "$2" -ge "$3" ]; then good "$1" "$2"; else bad "$1" "$2" "at least $3"; fi
}

at_most() {
	if [ -n "$2" ] && [ "$2" -le "$3" ]; then good "$1" "$2"; else bad "$1" "$2" "at most $3"; fi
}

# near WHAT NUMBER WANTED PERCENT
near() {
	if awk -v got="$2" -v want="$3" -v pct="$4" \
		'BEGIN { off = got - want; exit !(got != "" && off * off <= (want * pct / 100) ^ 2) }'; then
		good "$1" "$2 (wanted $3 within $4 %)"
	else
		bad "$1" "$2" "$3 within $4 %"
	fi
}

# has WHAT FILE TEXT: a fixed string, in any line.
has() {
	if grep -qF -e "$3" "$2"; then good "$1" "$3"; else bad "$1" "$(head -c 600 "$2")" "'$3' in it"; fi
}

has_not() {
	if grep -qF -e "$3" "$2"; then bad "$1" "$(head -c 600 "$2")" "no '$3' in it"; else good "$1" "no $3"; fi
}

# is_json WHAT FILE: one JSON document per line, UTF-8, not empty.
is_json() {
	if "$python" -c 'import json, sys
lines = open(sys.argv[1], "rb").read().decode("utf-8").splitlines()
sys.exit(not [json.loads(line) for line in lines])' "$2" 2>"$dir/json.err"; then
		good "$1" "valid JSON"
	else
		bad "$1" "$(tail -1 "$dir/json.err"): $(head -c 300 "$2")" "valid JSON"
	fi
}

# runs WHAT STATUS COMMAND...: its output goes to $dir/out and $dir/err.
runs() {
	what=$1 want=$2
	shift 2
	timeout 60 "$@" >"$dir/out" 2>"$dir/err" </dev/null
	got=$?
	if [ "$got" -eq "$want" ]; then
		good "$what" "exit $got"
	else
		bad "$what" "exit $got: $(head -c 400 "$dir/err")" "exit $want"
	fi
}

# ---- processes

now_ns() {
	date +%s%N
}

# soon SECONDS COMMAND...: does it succeed within that time?
soon() {
	end=$(($(now_ns) + $1 * 1000000000))
	shift
	until "$@"; do
		[ "$(now_ns)" -lt "$end" ] || return 1
		sleep 0.02
	done
}

alive() {
	[ -d "/proc/$1" ] && ! grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null
}

gone() {
	! alive "$1"
}

# reap PID: its exit status in $status_of; it is no longer ours to end.
reap() {
	wait "$1"
	status_of=$?
	kept=
	for pid in $started; do
		[ "$pid" = "$1" ] || kept="$kept $pid"
	done
	started=$kept
}

stop() {
	kill -KILL "$1" 2>/dev/null
	reap "$1" 2>/dev/null
}

is_tracing() {
	gone "$tracer" || grep -q tracing "$trace_err"
}

# Start the tracer on $db and wait until it is attached: $tracer, $trace_out, $trace_err.
trace() {
	trace_with --slow 1ms
}

# trace_with OPTION...: without a limit of cost unless $budget says so, because then every call of a
# storm is counted. test/e2e/budget.sh is about the limit, the lab keeps to the usual one.
trace_with() {
	serial=$((serial + 1))
	trace_out=$dir/trace.$serial.out
	trace_err=$dir/trace.$serial.err
	"$culprit" trace --db "$db" --budget "${budget:-off}" "$@" >"$trace_out" 2>"$trace_err" &
	tracer=$!
	started="$started $tracer"
	soon 60 is_tracing || die "the tracer does not start"
	alive "$tracer" || die "the tracer ended: $(cat "$trace_err")"
}

untrace() {
	kill -INT "$tracer" || die "the tracer is gone: $(cat "$trace_err")"
	soon 30 gone "$tracer" || die "the tracer does not stop"
	reap "$tracer"
	is "tracer's exit" "$status_of" 0
}

is_ready() {
	gone "$caller" || grep -q ready "$caller_out"
}

# waiting COMMAND...: start it and wait for its "ready"; `go` then sends it a line: $caller.
# It keeps its files by its id, so that many can wait at once.
waiting() {
	serial=$((serial + 1))
	mkfifo "$dir/fifo.$serial"
	caller_out=$dir/caller.$serial
	"$@" <>"$dir/fifo.$serial" >"$caller_out" 2>&1 &
	caller=$!
	started="$started $caller"
	soon 20 is_ready || die "not ready: $*"
	alive "$caller" || die "ended at once: $*: $(cat "$caller_out")"
	ln -s "$dir/fifo.$serial" "$dir/go.$caller"
	ln -s "$caller_out" "$dir/out.$caller"
}

# hold SYMBOL COUNT THREADS [ARG...]: a caller that has the library mapped and waits.
hold() {
	waiting "$sim/calls" --wait "$@"
}

# go PID...
go() {
	for pid in "$@"; do
		alive "$pid" || die "$pid is gone: $(cat "$dir/out.$pid")"
		echo >"$dir/go.$pid"
	done
}

# ends PID [LINE]: it ends well and has printed LINE.
ends() {
	soon 60 gone "$1" || die "$1 does not end"
	reap "$1"
	is "caller's exit" "$status_of" 0
	[ $# -eq 1 ] || has "caller's own count" "$dir/out.$1" "$2"
}

# The last CPU that we may use: the first one is everybody's favourite.
last_cpu() {
	taskset -cp $$ | sed 's/.*[^0-9]//'
}

# train CPU SECONDS OPTION...: the training loop, pinned: $training
train() {
	serial=$((serial + 1))
	cpu=$1 seconds=$2
	shift 2
	taskset -c "$cpu" "$python" "$sim/train.py" --seconds "$seconds" "$@" >"$dir/train.$serial" 2>&1 &
	training=$!
	started="$started $training"
}

# Every CPython of this machine that lines can be told of, one a line: "VERSION PATH".
interpreters() {
	for interpreter in /usr/bin/python3.[0-9]* /usr/local/bin/python3.[0-9]* \
		"${HOME:-/root}"/.pyenv/versions/3.*/bin/python3.[0-9]*; do
		case $interpreter in
		*config* | *-dbg) continue ;;
		esac
		version=$("$interpreter" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || continue
		case $version in
		3.9.* | 3.1[0-4].*) echo "$version $interpreter" ;;
		esac
	done
}

# ---- the trace

sql() {
	sqlite3 -readonly -cmd '.timeout 5000' -cmd ".load $sim/culprit_calls.so" "$db" "$1"
}

# calls_of PID OP: as the complete counts have it.
calls_of() {
	sql "SELECT coalesce(sum(calls), 0) FROM op_totals WHERE pid = $1 AND op = '$2'"
}

# findings_of PID: what `explain` has to say about that process, as a JSON list; options follow.
findings_of() {
	of=$1
	shift
	"$culprit" explain --db "$db" --json "$@" | jq -c "[.findings[] | select(.where.pid == $of)]"
}

# Ids of the BPF programs and links that a process holds: "prog 12", "link 7".
bpf_ids() {
	cat "/proc/$1/fdinfo/"* 2>/dev/null |
		sed -n 's/^\(prog\|link\)_id:[[:space:]]*\([0-9]*\)$/\1 \2/p' | sort -u
}

# bpf_gone FILE: none of the ids in it exists any more.
bpf_gone() {
	while read -r kind id; do
		! "$bpftool" "$kind" show id "$id" >/dev/null 2>&1 || return 1
	done <"$1"
}

bpftool=/usr/sbin/bpftool
[ -x "$bpftool" ] || bpftool=bpftool

# ---- faults, for the lab and the tests of explain

# rnd N: the next number of the seed's series, 0 to N-1, in $rnd
random=$((${2:-1} * 7919 + 17))
rnd() {
	random=$(((random * 1103515245 + 12345) % 2147483648))
	rnd=$((random / 65536 % $1))
}

# pick WORD...: one of them, in $picked
pick() {
	rnd $#
	shift "$rnd"
	# shellcheck disable=SC2034 # for the caller
	picked=$1
}

# hog CPU NAME: a process of that name that spins there: $hog
hog() {
	taskset -c "$1" "$python" -c 'import sys
open("/proc/self/comm", "w").write(sys.argv[1])
print("ready", flush=True)
while True:
    pass' "$2" >"$dir/hog" 2>&1 &
	hog=$!
	started="$started $hog"
	soon 10 grep -qs ready "$dir/hog" || die "the hog does not start: $(cat "$dir/hog")"
}

# The training loop's wait for a CPU so far in ns, as the scheduler has it.
run_delay() {
	awk '{ print $2 }' "/proc/$training/task/$training/schedstat"
}

# trained: it has made its first calls
trained() {
	grep -q libcudart "/proc/$training/maps"
}

# alone SECONDS MAX_PCT: let it run; fails if others took more of its CPU than that.
alone() {
	delay=$(run_delay)
	sleep "$1"
	delay=$(($(run_delay) - delay))
	echo "waited $((delay / 1000000)) ms for a CPU in $1 s"
	[ $((delay / 10000000)) -le $(($1 * $2)) ]
}

# A scenario of the lab has more to share.
# shellcheck source=test/lab/lib/lab.sh
[ -z "${LAB:-}" ] || . "$LAB/lib/lab.sh"
