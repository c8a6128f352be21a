#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every kind of Python frame, on every interpreter of this machine: our stack is the interpreter's
# own, frame for frame, with the line. Functions that are made and freed in a loop are never mixed up.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

# stacks_of PYTHON WHAT...: $counts is "right wrong missing"
stacks_of() {
	interpreter=$1
	shift
	rm -f "$db"*
	waiting "$interpreter" "$here/pystack.py" "$sim/libcudart.so.13" "$dir/stacks" "$@"
	trace_with --record-all --ring 64m
	go "$caller"
	ends "$caller"
	untrace
	counts=$("$python" "$here/pystack_compare.py" "$db" "$caller" "$dir/stacks" "$dir/stacks.child" \
		"$dir/stacks.after" "$dir/stacks.after.child" 2>"$dir/wrong")
	head -5 "$dir/wrong" | cut -c 1-400
	rm -f "$dir"/stacks*
}

found=0 churn=${CHURN:-10000}
interpreters >"$dir/interpreters"
while read -r version interpreter; do
	found=$((found + 1)) last=$interpreter
	stacks_of "$interpreter"
	is "$version ($interpreter): right, wrong, missing" "$counts" "387 0 0"
	stacks_of "$interpreter" churn "$churn"
	is "$version: made and freed" "$counts" "$churn 0 0"
done <"$dir/interpreters"
at_least "interpreters" $found 1

# Another program in the same process: with another interpreter, then with none.
stacks_of "$python" become "$last" "$here/pystack.py" "$sim/libcudart.so.13" "$dir/stacks.after" became
is "$python became $last: right, wrong, missing" "$counts" "389 0 0"
stacks_of "$last" become "$sim/calls" --sleep-us 1000 cudaEventSynchronize 3000 1
is "$last became a program in C: right, wrong, missing" "$counts" "2 0 0"
calls_where() {
	"$python" -c 'import sys, tracedb; print(*tracedb.connect(sys.argv[1]).execute(sys.argv[2]).fetchone())' "$db" \
		"SELECT count(*) FROM every_call JOIN op ON op.id = op JOIN thread ON thread.id = thread
		JOIN process ON process.id = process
		WHERE symbol = 'cudaEventSynchronize' AND pid = $caller AND $1"
}
is "calls with lines" "$(calls_where "(stack >= 256 OR stack < 0)")" 2
is "calls without, with the reason" "$(calls_where "stack = 1")" 3000

# An interpreter that only its own mount namespace has.
mkdir "$dir/elsewhere"
cat >"$dir/python" <<END
#!/bin/sh
# Twice: as root of a namespace, then inside.
[ -n "\$ALONE" ] || ALONE=1 exec unshare -m "\$0" "\$@"
mount -t tmpfs none "$dir/elsewhere" && cp "$(readlink -f "$last")" "$dir/elsewhere/python" || exit 1
PYTHONHOME=$("$last" -c 'import sys; print(sys.prefix)') exec "$dir/elsewhere/python" "\$@"
END
chmod +x "$dir/python"
if unshare -m true 2>/dev/null; then
	stacks_of "$dir/python"
	is "in another mount namespace: right, wrong, missing" "$counts" "387 0 0"
	is "files there for us" "$(ls "$dir/elsewhere")" ""
else
	note "no mount namespace of our own: not tried"
fi
