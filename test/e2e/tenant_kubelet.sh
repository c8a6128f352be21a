#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A pod that no file on this host has a name for: the kubelet's list has it, if it is to be asked.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=test/tenants.sh
. "$(dirname "$0")/../tenants.sh"

runs "TLS" 2 "$culprit" trace --no-db --duration 1 --kubelet https://127.0.0.1:10250
has "TLS: what to do" "$dir/err" "http://127.0.0.1:10255"

hierarchy any
id_of kubelet
group "kubepods.slice/kubepods-pod8a6ab1f2_0c1d_4f5e_9a77_1c2d3e4f5a6b.slice/cri-containerd-$id.scope"
mkdir "$dir/www"
cat >"$dir/www/pods" <<END
{"items": [{"metadata": {"name": "train-7", "namespace": "ml-e2e", "uid": "8a6ab1f2-0c1d-4f5e-9a77-1c2d3e4f5a6b"},
 "status": {"containerStatuses": [{"name": "worker", "image": "torch:2.11", "containerID": "containerd://$id"}]}}]}
END
"$python" -u -m http.server --bind 127.0.0.1 --directory "$dir/www" 0 >"$dir/http" 2>&1 &
started="$started $!"
soon 10 grep -q "port [0-9]" "$dir/http" || die "no server"
port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$dir/http")

named() {
	[ "$(sql "SELECT label FROM container WHERE container_id = '$id'" 2>/dev/null)" = "ml-e2e/train-7 (worker)" ]
}

# run OPTION...: one in the pod, while it is traced
run() {
	trace_with --slow 1ms "$@"
	attached
	# shellcheck disable=SC2016 # for the inner shell
	waiting sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" --wait --sleep-us 20000 cudaMalloc 400 1' inside \
		"$group" "$sim/calls"
	go "$caller"
}

run
sleep 3
stop "$caller"
untrace
is "not asked: no name" "$(sql "SELECT namespace || pod || name FROM container WHERE container_id = '$id'")" ""
is "not asked: nobody came" "$(grep -c GET "$dir/http")" 0

db=$dir/asked.db
run --kubelet "http://127.0.0.1:$port"
soon 15 named || bad "asked: its name" "$(sql "SELECT label FROM container")" "ml-e2e/train-7 (worker)"
stop "$caller"
untrace
is "asked: once" "$(grep -c 'GET /pods' "$dir/http")" 1
is "by the pod's name" "$("$culprit" explain --db "$db" --container ml-e2e/train-7 --json | jq -r '[.processes[].pid] | .[]')" "$caller"

# Nobody there: tracing goes on as without.
db=$dir/nobody.db
run --kubelet http://127.0.0.1:1
sleep 3
stop "$caller"
untrace
is "nobody listens: traced all the same" "$(sql "SELECT count(*) FROM container WHERE container_id = '$id'")" 1
has "nobody listens: said" "$trace_err" "no names of pods from the kubelet"
