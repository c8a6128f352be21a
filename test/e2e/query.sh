#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SQL on a trace: counts that are those of the workload, the printed queries word for word, those of
# doc/query.md; nothing but reading.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
export SIM_KERNEL_US=1 SIM_LAUNCH_US=0 SIM_DRIVER=1 SIM_INIT_MS=0

# ask SQL: one row as CSV without its head
ask() {
	"$culprit" query -d "$db" --csv "$1" 2>"$dir/ask.err" | tr -d '\r' | tail -n +2
}

hold cudaMalloc 1009 1
malloc=$caller
hold ncclAllReduce 3001 1 1 2 1000 7 0 0x5000 3
reduce=$caller
trace
waiting "$sim/kernels" 150
kernels=$caller
sleep 1
go "$malloc" "$reduce" "$kernels"
for caller in "$malloc" "$reduce" "$kernels"; do
	ends "$caller"
done
untrace

# Counted in full, though few are stored.
is "every call is an event" "$(ask "SELECT count(*) FROM events WHERE pid = $malloc AND op = 'cudaMalloc'")" 1009
is "sums are exact" "$(ask "SELECT sum(duration) = (SELECT total_ns FROM op_totals WHERE pid = $malloc AND op = 'cudaMalloc'),
	max(duration) = (SELECT max_ns FROM op_totals WHERE pid = $malloc AND op = 'cudaMalloc')
	FROM events WHERE pid = $malloc AND op = 'cudaMalloc'")" 1,1
at_most "stored one by one" "$(ask "SELECT count(*) FROM calls WHERE pid = $malloc")" 500
has "that is a sample" "$dir/ask.err" "are a sample"
is "events and totals agree" "$(ask "SELECT count(*) FROM (SELECT node, source, op, count(*), sum(duration) FROM events GROUP BY 1, 2, 3
	EXCEPT SELECT node, source, op, events, total_ns FROM event_totals)")" 0
is "launches by kernel" "$(ask "SELECT kernel_name, count(*) FROM cuda_events WHERE pid = $kernels AND kernel_name IS NOT NULL
	GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" "at::native::relu,450 axpy_kernel,1050 gemm_128x128_tn,600 triton_poi_fused_add_0,300 "
is "all launches" "$(ask "SELECT count(*) FROM cuda_events WHERE pid = $kernels AND class = 'launch'")" 2550
is "collectives beyond those told" "$(ask "SELECT count(*), count(seq) < 1000 FROM nccl_events WHERE pid = $reduce")" 3001,1

# Word for word.
runs "by node and source" 0 "$culprit" query -d "$db" "SELECT node, source, count(*) as cnt, avg(duration)/1000 as avg_us
     FROM events GROUP BY node, source"
has "by node and source" "$dir/out" "avg_us"
at_least "by node and source: rows" "$(grep -c "^$(hostname)" "$dir/out")" 3
runs "kernels by tenant" 0 "$culprit" query -d "$db" "-- top-N cuda kernels by total time per container
SELECT container_id,
       kernel_name,
       COUNT(*)                AS launches,
       SUM(duration_ns)/1e6    AS total_ms
  FROM cuda_events e
  JOIN containers  c ON c.cgroup_id = e.cgroup_id
 GROUP BY container_id, kernel_name
 ORDER BY total_ms DESC
 LIMIT 20;"
has "kernels by tenant" "$dir/out" "gemm_128x128_tn"
runs "NCCL by tenant" 0 "$culprit" query -d "$db" "-- per-tenant NCCL cost
SELECT container_id,
       op,
       COUNT(*)                AS calls,
       AVG(duration_ns)/1e6    AS avg_ms,
       MAX(duration_ns)/1e6    AS p100_ms
  FROM nccl_events e
  JOIN containers  c ON c.cgroup_id = e.cgroup_id
 GROUP BY container_id, op;"
has "NCCL by tenant" "$dir/out" "ncclAllReduce"

# Those of the page, each in all forms.
awk -v to="$dir/sql." '/^```sql$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print >(to n) }' "$here/../../doc/query.md"
is "queries of the page" "$(find "$dir" -name 'sql.*' | wc -l)" 10
for n in 1 2 3 4 5 6 7 8 9 10; do
	for form in table csv json; do
		"$culprit" query -d "$db" --format $form - <"$dir/sql.$n" >"$dir/out.$form" 2>"$dir/err" || bad "query $n" "$(cat "$dir/err")" "an answer"
	done
	is_json "query $n" "$dir/out.json"
	is "query $n: as many rows in each form" "$(jq '.rows | length' "$dir/out.json") $(($(wc -l <"$dir/out.table") - 2))" \
		"$(jq .row_count "$dir/out.json") $(jq .row_count "$dir/out.json")"
done
for n in 1 2 3 4 6 8 10; do
	at_least "query $n: rows" "$("$culprit" query -d "$db" --json - <"$dir/sql.$n" 2>/dev/null | jq .row_count)" 1
done

# The file can also be asked by others, with the same answer.
is "sqlite3 agrees" "$(sql "SELECT count(*), sum(duration), max(duration) FROM events WHERE pid = $malloc" | tr '|' ',')" \
	"$(ask "SELECT count(*), sum(duration), max(duration) FROM events WHERE pid = $malloc")"

# Nothing but reading.
before=$(cksum <"$db")
for text in "DELETE FROM node" "ATTACH '$dir/other.db' AS x" "VACUUM INTO '$dir/copy.db'" "PRAGMA journal_mode=DELETE" \
	"CREATE TEMP TABLE x AS SELECT 1" "SELECT load_extension('x')" "WITH x AS (SELECT 1) DELETE	FROM node"; do
	runs "refused: $text" 1 "$culprit" query -d "$db" "$text"
	has "refused" "$dir/err" "can only read"
done
is "the file" "$(cksum <"$db")" "$before"
is "nothing was made" "$(ls "$dir/other.db" "$dir/copy.db" 2>/dev/null)" ""
runs "no end" 1 "$culprit" query -d "$db" --timeout 300ms "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c"
has "no end" "$dir/err" "not done after"
runs "many rows" 0 "$culprit" query -d "$db" --limit 7 "SELECT * FROM events"
is "many rows" "$(wc -l <"$dir/out")" 9
has "many rows" "$dir/err" "only the first 7 rows"
runs "wrong" 1 "$culprit" query -d "$db" "SELECT nothing FROM nowhere"
runs "no statement" 2 "$culprit" query -d "$db"
runs "no file" 1 "$culprit" query -d "$dir/none.db" "SELECT 1"
runs "the schema" 0 "$culprit" query --schema
has "the schema" "$dir/out" "CREATE TABLE op_second("
has "the schema: views" "$dir/out" "CREATE VIEW events AS"
