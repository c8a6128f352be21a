# SPDX-License-Identifier: Apache-2.0
"""What explain says about a workload, for ../run to score: the first finding about any of its processes.

usage: answer.py EXPLAIN_JSON PID...
"""
import json
import os
import sys


def line(place):
    """FILE:LINE as the label has it, or None."""
    if not place or not place.get("file") or not place.get("line"):
        return None
    return "%s:%d" % (os.path.basename(place["file"]), place["line"])


def culprit_hop(finding):
    """Where the culprit is in the chain: the last hop of its process, or of its thread."""
    who = finding["culprits"][0]
    hops = [hop for hop in finding["chain"] if hop["pid"] == who["pid"]]
    threads = [hop for hop in hops if hop.get("tid") == who.get("tid")]
    return (threads or hops or [None])[-1]


def main(path, pids):
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    if isinstance(told.get("unexplained_pct"), (int, float)):
        print("unexplained:", told["unexplained_pct"])
    ours = [finding for finding in told["findings"] if finding["where"]["pid"] in pids]
    if not ours:
        print("found-cause: none\nfound-culprit: nobody")
        return
    finding = ours[0]
    print("found-cause:", finding["cause"])
    print("found-lost-ns:", finding["lost_ns"])
    print("found-because:", (finding.get("because") or {}).get("cause", "not known"))
    print("found-line:", line(finding["where"]) or "none")
    if not finding["culprits"]:
        print("found-culprit: nobody")
        return
    print("found-culprit: %(comm)s %(pid)d" % finding["culprits"][0])
    for who in [who for who in finding["culprits"] if who.get("beside")][:1]:
        print("found-beside: %(comm)s %(pid)d" % who)
    print("found-culprit-line:", line(culprit_hop(finding)) or "none")


main(sys.argv[1], {int(pid) for pid in sys.argv[2:]})
