# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the jobs share; runs in the guest, whose shell is busybox. A check prints "ok ..." or "FAIL ...".
db=/tmp/trace.db

check() { # WHAT, status of the last command
	if [ "$2" -eq 0 ]; then echo "ok   $1"; else echo "FAIL $1"; fi
}

is() { # WHAT GOT WANTED
	[ "$2" = "$3" ]
	check "$1: '$2'${2:+ }$([ "$2" = "$3" ] || echo "wanted '$3'")" $?
}

has() { # WHAT FILE TEXT
	grep -q -e "$3" "$2"
	status=$?
	check "$1" $status
	[ $status -eq 0 ] || sed 's/^/     /' "$2"
}

at_least() { # WHAT GOT LEAST
	[ "${2:-0}" -ge "$3" ]
	check "$1: $2 (at least $3)" $?
}

trace() {
	culprit trace --db "$db" --budget off >/tmp/said 2>/tmp/err &
	tracer=$!
	for _ in $(seq 600); do
		grep -q tracing /tmp/err && return
		[ -d /proc/$tracer ] || break
		sleep 0.1
	done
	echo "FAIL the tracer does not start"
	cat /tmp/err
	exit 1
}

untrace() {
	kill -INT "$tracer"
	wait "$tracer"
	is "tracer's exit" $? 0
}

# of JSON NAME: the first value of that name; the guest has no jq
of() {
	sed -n "s/.*\"$2\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$1" | head -n 1
}

# query SQL: the last value of the answer
query() {
	culprit query --db "$db" --csv "$1" | tail -n 1 | tr -d '\r'
}
