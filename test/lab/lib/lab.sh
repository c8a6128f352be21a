# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names from and for those who source it
# What the scenarios share, on top of ../../lib.sh, which sources this where $LAB is set: workloads
# with a state that the shell can read and write, the truth about the time lost, the answer.
# LAB_DRY=1 runs a scenario without a tracer and prints the truth alone.

# shellcheck source=test/lab/lib/cgroup.sh
. "$LAB/lib/cgroup.sh"
# shellcheck source=test/lab/lib/disk.sh
. "$LAB/lib/disk.sh"
# shellcheck source=test/lab/lib/fuse.sh
. "$LAB/lib/fuse.sh"
# shellcheck source=test/lab/lib/net.sh
. "$LAB/lib/net.sh"

dry=${LAB_DRY:-}
trace_opts= # more options for the tracer
within= # command before a workload's own: the control group or the namespace it is to live in
truth=  # function that prints how much time was lost so far, in ns; none: not known
shm=$(mktemp -d -p /dev/shm) || exit 1
undo="rm -rf $shm"

# Scenarios of the same seed are to differ, too.
random=$((random + $(basename "$0" | cksum | cut -d ' ' -f 1) % 1000003))

# Before others: on a busy machine, too, it is the scenario's own processes that disturb each other.
# Where the kernel groups by session that is no matter of the process, but of a session of our own.
renice -n -15 $$ >/dev/null
session=$(sed 's/.*) //' "/proc/$$/stat" | cut -d ' ' -f 4)
if [ "$session" -eq $$ ] || [ "$session" -eq "$PPID" ]; then
	echo -20 2>/dev/null >"/proc/$$/autogroup"
fi

# The way to the GPU is a library, as frameworks are: what it does is not the line that people look for.
mkdir "$dir/site-packages"
ln -s "$sim/simgpu.py" "$dir/site-packages/"
export PYTHONPATH="$dir/site-packages"

# later COMMAND: for the clean-up, the last one first
later() {
	undo="$1; $undo"
}

# need TOOL...: that are not everywhere
need() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

# allowed_cpus: those that we may use, one in a line
allowed_cpus() {
	sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' '\n' |
		while IFS=- read -r from to; do
			seq "$from" "${to:-$from}"
		done
}

# cpus: one for the loop and another one, in $cpu and $other; we ourselves keep off the loop's
cpus() {
	# shellcheck disable=SC2046 # words
	set -- $(allowed_cpus)
	rnd $#
	other=$1
	shift "$rnd"
	cpu=$1
	other=${2:-$other}
	all=$(taskset -cp $$ | sed 's/.*: //')
	keep_off $$
}

# keep_off PID...: all their threads, off the CPU of the loop
keep_off() {
	for pid in "$@"; do
		taskset -acp "$other" "$pid" >/dev/null
	done
}

# two_cpus: the same, where the scenario needs two
two_cpus() {
	[ "$(nproc)" -gt 1 ] || skip "one CPU only"
	cpus
}

# either FLAG: in one of three seeds $chosen is the flag, otherwise it is empty
either() {
	rnd 3
	chosen=
	[ "$rnd" -ne 0 ] || chosen=$1
}

# ---- workloads: scripts of work/, each with a state page behind a descriptor; see work/loop.py

STATE_LOST=0 STATE_FAULT=16 STATE_READY=24 STATE_GO=32

# state PID OFFSET: a number of its state
state() {
	od -An -t d8 -j "$2" -N 8 "/proc/$1/fd/9" 2>/dev/null | tr -d ' '
}

# set_state PID OFFSET NUMBER
set_state() {
	# shellcheck disable=SC2059 # an octal escape, made here
	printf "\\$(printf %03o "$3")" |
		dd of="/proc/$1/fd/9" bs=1 seek="$2" conv=notrunc status=none
}

is_at_work() {
	gone "$worker" || [ "$(state "$worker" $STATE_READY)" = 1 ]
}

# start CPU SCRIPT OPTION...: one of work/, started and ready: $worker. It can say "skip: REASON" itself.
start() {
	serial=$((serial + 1))
	on=$1 script=$2 said=$dir/said.$serial
	shift 2
	# shellcheck disable=SC2086 # words
	$within taskset -c "$on" "$python" "$LAB/work/$script.py" "$@" >"$said" 2>&1 &
	worker=$!
	started="$started $worker"
	soon 20 is_at_work || die "$script does not get ready: $(cat "$said")"
	missing=$(sed -n 's/^skip: //p' "$said")
	[ -z "$missing" ] || skip "$missing"
	alive "$worker" || die "$script ended: $(cat "$said")"
}

# work CPU SCRIPT OPTION...: the workload that is to be explained: $training. How it waits for the
# GPU, for how long, and what it is called is up to the seed where the options do not say.
work() {
	pick spin block
	sync=$picked
	pick python3 trainer finetune pretrain-7b rank0
	called=$picked
	rnd 4
	on=$1 script=$2 kernel_us=$((60 + 20 * rnd))
	shift 2
	start "$on" "$script" --sync "$sync" --name "$called" --kernel-us "$kernel_us" "$@"
	training=$worker
	truth=work_lost
}

# job FAULT RANKS LATE OPTION...: the workload is a job of several ranks, of which the late one is guilty.
# Their communicator is there before the tracer, or made later, when it is told to: `tell_ranks`.
job() {
	pick "" --when-told
	with=$1 ranks=$2 late=$3 when=$picked
	shift 3
	work "$cpu" ranks "$with" --ranks "$ranks" --late "$late" --cpus "$cpu" "$other" --sync block --kernels 10 \
		--kernel-us 1200 --host-ms 0.5 ${when:+"$when"} "$@"
	# shellcheck disable=SC2046 # one word
	guilty $(sed -n "s/^rank $late //p" "$said")
}

tell_ranks() {
	set_state "$training" $STATE_GO 1
}

work_lost() {
	state "$training" $STATE_LOST
}

# blocked: how long its main thread was neither on a CPU nor waiting for one, from some start
blocked() {
	awk -v now="$(now_ns)" '{ printf "%.0f\n", now - $1 - $2 }' \
		"/proc/$training/task/$training/schedstat"
}

# fault PID..., mend PID...: they go wrong, they are well again
fault() {
	note_family
	for pid in "$@"; do
		set_state "$pid" $STATE_FAULT 1
	done
}

mend() {
	note_family
	for pid in "$@"; do
		set_state "$pid" $STATE_FAULT 0
	done
}

# name_of PID: as the kernel has it
name_of() {
	cat "/proc/$1/comm"
}

# guilty PID...: any of them is the right answer
guilty() {
	for pid in "$@"; do
		echo "guilty: $(name_of "$pid") $pid"
	done
}

# line FILE:NAME..., culprit_line FILE:NAME...: where the label depends on the seed, any of the lines
# of work/FILE with `# lab:line NAME` is the right one: of the loop that waited, of the culprit
line() {
	echo "line: $*"
}

culprit_line() {
	echo "culprit-line: $*"
}

# parents: of each process: "pid ppid"
parents() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk '{ pid = $1; sub(/.*\) /, ""); print pid, $2 }'
}

# children_of PID: its direct ones
children_of() {
	parents | awk -v of="$1" '$2 == of { print $1 }'
}

# note_family: the workload and all that descends from it, of all moments
note_family() {
	parents | awk -v root="$training" '
		{ parent[$1] = $2 }
		END {
			for (pid in parent)
				for (p = pid; p > 1; p = parent[p])
					if (p == root) { print pid; break }
		}' >>"$dir/family"
}

# ---- the trace, and what is true of the time in it

# trace: attached, the truth counts from here
trace() {
	budget=${LAB_BUDGET:-1}
	: >>"$dir/family"
	if [ -n "$dry" ]; then
		sleep 0.3
	else
		[ -z "${all:-}" ] || taskset -cp "$all" $$ >/dev/null # it starts where there is room
		# shellcheck disable=SC2086 # words
		trace_with --slow 1ms $trace_opts
		[ -z "${all:-}" ] || keep_off $$ "$tracer"
	fi
	attached
}

# attached: where the workload starts after the tracer, once it can be asked
attached() {
	[ -n "${training:-}" ] || return 0
	note_family
	[ -z "$truth" ] || lost_from=$($truth)
	[ -z "$dry" ] || accounts >"$dir/before"
}

untrace() {
	alive "$training" || die "the workload ended: $(cat "$dir"/said.*)"
	note_family
	if [ -n "$truth" ]; then
		lost_to=$($truth)
		awk -v a="$lost_from" -v b="$lost_to" 'BEGIN { printf "lost: %.3f\n", (b - a) / 1e9 }'
	fi
	if [ -n "$dry" ]; then
		accounts >"$dir/after"
		accounts_between "$dir/before" "$dir/after"
		return
	fi
	kill -INT "$tracer" || die "the tracer is gone: $(cat "$trace_err")"
	soon 30 gone "$tracer" || die "the tracer does not stop"
	reap "$tracer"
	is "tracer's exit" "$status_of" 0
}

# accounts: of each main thread of the workload and its helpers, from /proc: pid, time, ns on a CPU
# and waiting for one, faults, bytes from and to disks
accounts() {
	for pid in $started $(children_of "$training"); do
		task=/proc/$pid/task/$pid
		[ ! -r "$task/stat" ] || awk -v pid="$pid" -v now="$(now_ns)" '
			FILENAME ~ /schedstat$/ { run = $1; wait = $2; next }
			FILENAME ~ /stat$/ { sub(/.*\) /, ""); minor = $8; major = $10 }
			/^read_bytes/ { read = $2 }
			/^write_bytes/ { written = $2 }
			END { print pid, now, run, wait, minor, major, read, written }
		' "$task/schedstat" "$task/stat" "/proc/$pid/io"
	done
}

# accounts_between BEFORE AFTER: what each did meanwhile
accounts_between() {
	awk 'NR == FNR { for (i = 2; i <= NF; i++) before[$1, i] = $i; next }
		($1, 2) in before {
			for (i = 2; i <= NF; i++)
				d[i] = $i - before[$1, i]
			printf "dry: %d, %.2f s: ran %.2f, waited for a CPU %.2f, blocked %.2f; ", $1,
				d[2] / 1e9, d[3] / 1e9, d[4] / 1e9, (d[2] - d[3] - d[4]) / 1e9
			printf "faults %d minor %d major; disk %.1f MB read %.1f written\n", d[5], d[6],
				d[7] / 1e6, d[8] / 1e6
		}' "$1" "$2"
}

# answer: what explain says about the workload, for ./run to score; then in full, indented
answer() {
	family=$(sed -n 's/^forked //p' "$dir"/said.* 2>/dev/null | sort -un - "$dir/family" | tr '\n' ' ')
	echo "family: $family"
	[ -z "$dry" ] || return 0
	"$culprit" explain --db "$db" --json >"$dir/answer" || [ $? -eq 3 ] || die "explain fails"
	# shellcheck disable=SC2086 # words
	"$python" "$LAB/lib/answer.py" "$dir/answer" $family || die "no answer"
	"$culprit" explain --db "$db" | sed 's/^/  /'
}

# ---- what the GPU says of itself: a simulated NVML, see ../../sim/README.md

# nvml: the tracer is to ask it; gpu_says LINE...: from now on
nvml() {
	cp "$sim/libnvidia-ml.so.1" "$shm/"
	trace_opts="--nvml $shm/libnvidia-ml.so.1"
}

gpu_says() {
	printf '%s\n' "pids $training:2000000000" "$@" >"$shm/conf"
	mv "$shm/conf" "$shm/libnvidia-ml.so.1.conf"
}

# ---- the shapes that most scenarios have

# episode SECONDS: normal, then the fault of the workload itself, then normal again; traced.
# With $sick the workload was started with its fault, and is traced like that.
episode() {
	trace
	[ -z "${ranks:-}" ] || tell_ranks
	if [ -z "${sick:-}" ]; then
		sleep 2 # what is normal
		fault "$training"
	fi
	sleep "$1"
	if [ -z "${sick:-}" ]; then
		mend "$training"
		sleep 1
	fi
	untrace
	answer
}

# healthy SECONDS: traced, nothing goes wrong, and it must be so that others leave it alone.
healthy() {
	truth=
	trace
	alone "$1" 1 || skip "others took the CPU of the loop"
	untrace
	answer
}
