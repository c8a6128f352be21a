# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names from and for those who source it
# Two network namespaces with a cable between them.

near_ip=10.213.77.1 far_ip=10.213.77.2

# network: the namespaces $near and $far, and their addresses $near_ip and $far_ip
network() {
	near=lab-near.$$ far=lab-far.$$
	need ip
	ip netns add "$near" 2>/dev/null || skip "no network namespaces"
	later "ip netns del $near"
	ip netns add "$far"
	later "ip netns del $far"
	ip link add lab0 netns "$near" type veth peer name lab0 netns "$far" || skip "no veth"
	ip -n "$near" addr add "$near_ip/24" dev lab0
	ip -n "$far" addr add "$far_ip/24" dev lab0
	ip -n "$near" link set lab0 up
	ip -n "$far" link set lab0 up
}

# small_packets: a lost one is 1,448 bytes, not a burst of 64 KB
small_packets() {
	ip -n "$near" link set lab0 gso_max_segs 1
	ip -n "$far" link set lab0 gso_max_segs 1
}

# lossy PERCENT: so many of the full packets that the far end sends get lost. On arrival: of what is
# dropped when it leaves, its sender hears at once.
lossy() {
	tc -n "$near" qdisc replace dev lab0 clsact || skip "no clsact"
	# Length above 600 and a random number below the share of 100: 2, dropped; else 0. See linux/filter.h.
	tc -n "$near" filter add dev lab0 ingress bpf da bytecode "7,128 0 0 0,37 0 3 600,\
32 0 0 4294963256,148 0 0 100,53 0 1 $1,6 0 0 0,6 0 0 2" || skip "no cls_bpf"
}

# lossless: no longer
lossless() {
	tc -n "$near" qdisc del dev lab0 clsact
}

# in_network NAMESPACE: what the next workload's command begins with
in_network() {
	within="ip netns exec $1"
}

# retransmits NAMESPACE: segments sent again so far
retransmits() {
	# shellcheck disable=SC2016 # of awk
	ip netns exec "$1" awk '/^Tcp: [0-9]/ { print $13 }' /proc/net/snmp
}
