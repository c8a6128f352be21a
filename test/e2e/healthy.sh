#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A training loop that nobody disturbs: nobody is blamed, however it waits for the GPU.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

cpu=$(last_cpu)

# healthy KIND: spin or block. Alone on its CPU, as far as others let it: a machine that is so busy
# that even this loop has to wait is no place to ask. Fails if that is so.
healthy() {
	db=$dir/$1.$try.db
	train "$cpu" 60 --sync "$1"
	case $1 in
	spin) renice -n -20 "$training" >/dev/null ;; # at real-time priority it would be throttled
	block) chrt -f -p 1 "$training" ;;
	esac
	trace
	soon 10 trained
	alone 4 1
	calm=$?
	untrace
	stop "$training"
	return $calm
}

for kind in spin block; do
	for try in 1 2 3 4; do
		! healthy $kind || break
		note "$kind: others took the CPU, try $try does not count"
		[ "$try" -lt 4 ] || skip "others take the CPU all the time"
	done
	is "$kind: findings" "$(findings_of "$training")" '[]'
	runs "$kind: explain" 0 "$culprit" explain --db "$db"
	has "$kind: the process is described" "$dir/out" "python3 (pid $training)"
	at_least "$kind: calls" "$(sql "SELECT sum(calls) FROM op_totals WHERE pid = $training")" 1000
done
