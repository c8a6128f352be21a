#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A timeline shows what the trace has and nothing else, in both forms, and is sound: see test/timeline.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
tools=$root/test/timeline
command -v protoc >/dev/null || die "protoc is missing: install protobuf-compiler"

# make_db FILE.sql...: a trace of these rows, in $db
make_db() {
	serial=$((serial + 1))
	db=$dir/made.$serial.db
	{
		echo "PRAGMA application_id = $((0x43554c50));"
		sed -n 's/^#define SCHEMA_VERSION \([0-9]*\).*/PRAGMA user_version = \1;/p' "$root/src/store/open.c"
		echo "BEGIN;"
		cat "$root/src/store/schema.sql" "$@"
		echo "COMMIT;"
	} | sqlite3 -bail "$db" >/dev/null || die "no trace of $*"
}

# sound WHAT OPTION...: export $db in both forms and check them: $dir/perfetto, $dir/chrome and their dumps
sound() {
	story_of=$1
	shift
	for form in perfetto chrome; do
		runs "$story_of: $form" 0 "$culprit" export --db "$db" --format $form -o "$dir/$form" "$@"
		if "$python" "$tools/check.py" --dump "$dir/$form" >"$dir/$form.dump"; then
			good "$story_of: $form is sound" "$(tail -1 "$dir/$form.dump")"
		else
			bad "$story_of: $form" "$(head -5 "$dir/$form.dump")" "a sound timeline"
		fi
	done
	protoc --decode=culprit.Trace --proto_path="$tools" trace.proto <"$dir/perfetto" >"$dir/decoded" ||
		bad "$story_of: protoc" "an error" "none"
	is "$story_of: unknown fields" "$(grep -cE '^ *[0-9]+(:| \{)' "$dir/decoded")" 0
	is "$story_of: the same in both forms" "$(tail -1 "$dir/chrome.dump" | cut -d, -f1-3)" \
		"$(tail -1 "$dir/perfetto.dump" | cut -d, -f1-3)"
}

# on TRACK NAME: how many slices and points of that name are on tracks of that name
on() {
	awk -F '|' -v track="$1" -v name="$2" \
		'$1 != "value" && index($2, track) && $3 ~ name { n++ } END { print n + 0 }' "$dir/perfetto.dump"
}

# ---- recorded incidents

for story in incident periodic-spike gpu-steal memcpy-bottleneck; do
	make_db "$root/demo/$story.sql"
	sound "$story"
	calls=$(sql "SELECT count(*) FROM call JOIN op ON op.id = op WHERE class <> 'gap'")
	is "$story: calls shown" "$(awk -F '|' '$2 ~ /\/[^\/]*$/ && $2 !~ /\(|queue|steps|incidents|findings|wait/ &&
		$2 !~ /^node/ && $3 ~ /^(cuda|cu|nccl)[A-Z]/ { n++ } END { print n + 0 }' "$dir/perfetto.dump")" "$calls"
	at_least "$story: steps" "$(on "steps (slow" '^step$')" 1
	is "$story: incidents" "$(on incidents .)" "$(sql 'SELECT count(*) FROM incident')"
	is "$story: losses" "$(on "lost records" .)" "$(sql 'SELECT count(*) FROM loss WHERE count > 0')"
	at_least "$story: states" "$(on "state (sums per second)" '^running$')" 5
done

make_db "$root/demo/incident.sql"
sound "contention"
at_least "the finding" "$(on findings 'CPU contention: metrics-agent')" 1
at_least "its culprit" "$(on 'metrics-agent, not traced' 'HIGH: cpu-contention')" 1
at_least "who had the CPU" "$(on 'metrics-agent, not traced' 'had the CPU that another needed')" 1
at_least "runnable by whom" "$(on "state (sums per second)" 'runnable: .*metrics-agent \(pid [0-9]*\) had')" 1
runs "the checker sees what is wrong" 0 "$python" "$tools/selftest.py" "$dir/perfetto" "$dir/chrome"
sed 's/^/     /' "$dir/out"

# ---- a part of it

from=$(sql 'SELECT (start_ns + 3000000000) / 1e9 FROM run')
to=$(sql 'SELECT (start_ns + 6000000000) / 1e9 FROM run')
sound "3 seconds" --from "@$from" --to "@$to"
at_most "steps per second in 3 seconds" "$(grep -c '^value|.*steps (sum per second)' "$dir/perfetto.dump")" 3
pid=$(sql 'SELECT pid FROM process LIMIT 1')
sound "one process" --pid "$pid"
runs "a process that is not there" 3 "$culprit" export --db "$db" --format perfetto --pid 1 -o "$dir/none"
has "why" "$dir/err" "pid 1 is none of the"
runs "a time that is not there" 3 "$culprit" export --db "$db" --format chrome --to @1000000000 -o "$dir/none"
runs "a container that is not there" 3 "$culprit" export --db "$db" --format chrome --container abcdef012345 \
	-o "$dir/none"
has "who there is" "$dir/err" "no container abcdef012345 in that time; there"
is "nothing was written" "$(ls "$dir"/none* 2>/dev/null)" ""

# ---- two nodes, whose clocks differ

make_db "$tools/two_nodes.sql"
sound "two nodes"
is "arrows" "$(tail -1 "$dir/perfetto.dump" | sed 's/.* \([0-9]* flows\)/\1/')" "10 flows"
is "a came last" "$(on 'node-a rank 0: python3' '^last to arrive$')" 5
is "b came last" "$(on 'node-b rank 1: python3' '^last to arrive$')" 5
is "b waited for a" "$(on 'node-b rank 1: python3' '^had waited for the last rank$')" 5
has "the clock of b is set" "$dir/perfetto.dump" "|last to arrive|1700000001030000000|"
sound "a container" --container 77b1c0ff
is "only b" "$(grep -c '^slice|node-a' "$dir/perfetto.dump")" 0
is "all of b" "$(on 'node-b' '^ncclAllReduce$')" 10
sound "a pod by its name" --container ml/train-0
is "only a" "$(grep -c '^slice|node-b' "$dir/perfetto.dump")" 0
is "all of a" "$(on 'node-a' '^ncclAllReduce$')" 10

# ---- rows that nobody would write

make_db "$tools/hostile.sql"
sound "hostile"

# ---- output

make_db "$root/demo/incident.sql"
echo before >"$dir/kept"
runs "a full disk" 1 "$culprit" export --db "$db" --format perfetto -o /dev/full
runs "a folder that is not there" 1 "$culprit" export --db "$db" --format perfetto -o "$dir/no/where"
runs "a file that is no trace" 1 "$culprit" export --db "$dir/kept" --format perfetto -o "$dir/kept"
is "is left alone" "$(cat "$dir/kept")" before
runs "it is replaced" 0 "$culprit" export --db "$db" --format perfetto -o "$dir/kept"
runs "standard output" 0 "$culprit" export --db "$db" --format perfetto -o -
is "is the same" "$(cksum <"$dir/out")" "$(cksum <"$dir/kept")"
is "no pieces are left" "$(find "$dir" -name "*.part-*")" ""
runs "no such format" 2 "$culprit" export --db "$db" --format svg
has "which there are" "$dir/err" "perfetto, chrome, folded"
runs "a weight" 2 "$culprit" export --db "$db" --format perfetto --weight wall

# ---- for real: every call, calls inside calls, GPU queues, and who waited for whom

db=$dir/live.db
count=1009
export SIM_DRIVER=1
waiting env LD_PRELOAD="$sim/libcuda.so.1" "$sim/calls" --wait cudaMemcpyPeerAsync $count 3
head -c 4m /dev/urandom >"$dir/data"
trace_with --record-all --ring 64m
go "$caller"
ends "$caller"
unset SIM_DRIVER
"$python" "$(dirname "$0")/waits.py" "$dir/data" >"$dir/waits" || die "the loop failed"
sleep 1
runs "while it records" 0 "$culprit" export --db "$db" --format perfetto -o "$dir/perfetto"
runs "is sound" 0 "$python" "$tools/check.py" "$dir/perfetto"
untrace
sound "live"
is "records dropped" "$(sql 'SELECT sum(dropped) FROM account')" 0
mine=$(sed -n "s/^slice|\([^|]*\[$caller\]\)\/.*/\1/p" "$dir/perfetto.dump" | head -1)
is "runtime calls" "$(on "$mine" '^cudaMemcpyPeerAsync$')" $count
is "driver calls" "$(on "$mine" '^cuMemcpyPeerAsync$')" $count
is "none of them overlaps" "$(on "overlapping calls" .)" 0
at_least "the queue" "$(on "$mine/GPU queue" 'has or had work')" 1
at_least "a wait for somebody else" "$(on 'keeps python3' .)" 1
at_least "arrows" "$(tail -1 "$dir/perfetto.dump" | sed 's/.* \([0-9]*\) flows/\1/')" 1
sound "one process of several" --pid "$caller"
is "and no calls of another" "$(grep -c '^[^|]*|[^|]*: python3[^|]*|cuda' "$dir/perfetto.dump")" 0
