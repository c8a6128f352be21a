#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Our lines of Python are those of the interpreter itself, at every instruction of its library.
# A sample of it, unless FULL=1.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC -I"$top" -I"$top/src" -o "$dir/pylines.so" \
	"$here/pylines.c" "$top/src/python/lines.c" || die "the library does not build"

every=11
[ -z "${FULL:-}" ] || every=1
tried=0
for interpreter in "$python" "${HOME:-}"/.pyenv/versions/3.*/bin/python3; do
	[ -x "$interpreter" ] || continue
	"$interpreter" -c 'import sys; sys.exit(not (3, 9) <= sys.version_info < (3, 15))' || continue
	"$interpreter" "$here/pylines.py" "$dir/pylines.so" "$every" >"$dir/said" 2>"$dir/err" ||
		die "$interpreter: $(tail -3 "$dir/err")"
	read -r version files codes instructions without bad <"$dir/said"
	sed 's/^/     /' "$dir/err"
	is "lines of Python $version that differ, in $files files, $codes functions, $instructions instructions, $without without one" "$bad" 0
	at_least "instructions of Python $version" "$instructions" 10000
	tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || skip "no Python from 3.9 to 3.14"
