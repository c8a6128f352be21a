#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the checker see what is wrong? Breaks two sound timelines in every way that it claims to see.

    selftest.py FILE.pftrace FILE.json
"""
import copy
import json
import sys

import check
import wire

BEGIN, END, POINT, VALUE = 1, 2, 3, 4


class Trace:
    """Packets of a sound trace, with ways to find one to break."""

    def __init__(self, data):
        self.packets = wire.decode(data, wire.TRACE, sys.exit)["packet"]

    def find(self, field, test=lambda x: True):
        for i, p in enumerate(self.packets):
            if field in p and test(p[field][0]):
                return i, p[field][0]
        sys.exit(f"selftest: the trace has no {field} as it is needed")

    def event(self, kind, test=lambda e: True):
        return self.find("track_event", lambda e: e["type"] == [kind] and test(e))[1]

    def track(self, test):
        return self.find("track_descriptor", test)[1]

    def drop(self, kind, test=lambda e: True):
        place, _ = self.find("track_event", lambda e: e["type"] == [kind] and test(e))
        del self.packets[place]

    def bytes(self):
        return wire.encode({"packet": self.packets}, wire.TRACE)


def drop_end(t):
    t.drop(END)


def drop_begin(t):
    t.drop(BEGIN, lambda e: "flow_ids" not in e and "terminating_flow_ids" not in e)


def no_state(t):
    t.find("sequence_flags", lambda f: f == 1)
    for p in t.packets:
        if p.get("sequence_flags") == [1]:
            del p["sequence_flags"]


def no_clock(t):
    for p in t.packets:
        p.pop("clock_snapshot", None)


def loose_clock(t):
    _, s = t.find("clock_snapshot")
    s["clocks"] = [c for c in s["clocks"] if c["clock_id"] != [64]]


def no_default_clock(t):
    for p in t.packets:
        p.pop("trace_packet_defaults", None)


def no_sequence(t):
    place, _ = t.find("track_event")
    del t.packets[place]["trusted_packet_sequence_id"]


def no_time(t):
    place, _ = t.find("track_event")
    del t.packets[place]["timestamp"]


def time_back(t):
    place, _ = t.find("track_event", lambda e: e["type"] == [END])
    t.packets[place]["timestamp"] = [-5]


def needs_nothing(t):
    place, _ = t.find("track_event")
    t.packets[place]["sequence_flags"] = [0]


def name_never_told(t):
    t.event(BEGIN, lambda e: "name_iid" in e)["name_iid"] = [999999]


def category_never_told(t):
    t.event(BEGIN)["category_iids"] = [999999]


def argument_never_told(t):
    t.event(BEGIN, lambda e: "debug_annotations" in e)["debug_annotations"][0]["name_iid"] = [999999]


def text_never_told(t):
    for p in t.packets:
        for e in p.get("track_event", []):
            for a in e.get("debug_annotations", []):
                if "string_value_iid" in a:
                    a["string_value_iid"] = [999999]
                    return


def name_of_another_sequence(t):
    for p in t.packets:
        p.pop("interned_data", None)


def name_twice(t):
    place, interned = t.find("interned_data", lambda d: "event_names" in d)
    interned["event_names"] = interned["event_names"] * 2


def no_name(t):
    t.event(BEGIN).pop("name_iid")


def track_never_told(t):
    t.event(BEGIN)["track_uuid"] = [999999]


def track_twice(t):
    place, _ = t.find("track_descriptor")
    t.packets.insert(place, copy.deepcopy(t.packets[place]))


def track_below_nothing(t):
    t.track(lambda d: "parent_uuid" in d)["parent_uuid"] = [999999]


def two_pids(t):
    first = t.track(lambda d: "process" in d)["process"][0]["pid"]
    t.track(lambda d: "process" in d and d["process"][0]["pid"] != first)["process"][0]["pid"] = first


def thread_of_nobody(t):
    t.track(lambda d: "thread" in d)["thread"][0]["pid"] = [1]


def two_tids(t):
    place, d = t.find("track_descriptor", lambda d: "thread" in d)
    again = copy.deepcopy(t.packets[place])
    again["track_descriptor"][0]["uuid"] = [888888]
    t.packets.insert(place + 1, again)


def value_on_slices(t):
    slices = t.event(BEGIN)["track_uuid"]
    t.event(VALUE)["track_uuid"] = slices


def slice_on_counter(t):
    counter = t.event(VALUE)["track_uuid"]
    place, e = t.find("track_event", lambda e: e["type"] == [VALUE])
    t.packets.insert(place + 1, copy.deepcopy(t.packets[place]))
    e = t.packets[place + 1]["track_event"][0]
    e["type"], e["track_uuid"], e["name"] = [POINT], counter, ["x"]


def two_values(t):
    t.event(VALUE)["double_counter_value"] = [1.5, 2.5]


def no_such_type(t):
    t.event(BEGIN)["type"] = [9]


def flow_once(t):
    e = t.find("track_event", lambda e: "terminating_flow_ids" in e)[1]
    e["terminating_flow_ids"].pop()


def flow_only_begins(t):
    e = t.find("track_event", lambda e: "terminating_flow_ids" in e)[1]
    e["flow_ids"] = e.get("flow_ids", []) + e.pop("terminating_flow_ids")


def flow_back(t):
    for p in t.packets:
        for e in p.get("track_event", []):
            e["flow_ids"], e["terminating_flow_ids"] = (e.get("terminating_flow_ids", []),
                                                        e.get("flow_ids", []))


def unknown_field(t):
    t.packets[0]["raw"] = wire.put_varint(200 << 3) + b"\1"


def wrong_type(t):
    t.packets[0]["raw"] = wire.put_varint(8 << 3 | 1) + b"\0" * 8


def not_utf8(t):
    t.track(lambda d: True)["name"] = [b"\xff\xfe"]


def argument_without_value(t):
    a = t.event(BEGIN, lambda e: "debug_annotations" in e)["debug_annotations"][0]
    for key in [k for k in a if k != "name_iid"]:
        del a[key]


PERFETTO = {
    drop_end: "never ends", drop_begin: "without a beginning", no_state: "clean state",
    no_clock: "has no time", loose_clock: "is tied to none", no_default_clock: "has no time",
    no_sequence: "belongs to no sequence", no_time: "has no time", time_back: "time goes back",
    needs_nothing: "needs the state", name_never_told: "name 999999 was never told",
    category_never_told: "category 999999 was never told",
    argument_never_told: "argument 999999 was never told",
    text_never_told: "text 999999 was never told", name_of_another_sequence: "was never told",
    name_twice: "told twice", no_name: "has no name", track_never_told: "not told yet",
    track_twice: "told twice", track_below_nothing: "not told yet",
    two_pids: "two processes have the pid", thread_of_nobody: "not told yet",
    two_tids: "two threads have the tid", value_on_slices: "a value on",
    slice_on_counter: "a slice on", two_values: "2 values", no_such_type: "is of type 9",
    flow_once: "is seen 1 times", flow_only_begins: "from one to the other",
    flow_back: "leads backwards", unknown_field: "unknown", wrong_type: "unknown",
    not_utf8: "utf-8", argument_without_value: "0 values",
}


# ---- Chrome's form

def of(doc, phase, test=lambda e: True):
    for e in doc["traceEvents"]:
        if e["ph"] == phase and test(e):
            return e
    return sys.exit(f"selftest: the trace has no {phase} as it is needed")


def j_overlap(doc):
    e = of(doc, "X")
    doc["traceEvents"].append(dict(e, ts=e["ts"] + e["dur"] / 2))


def j_negative(doc):
    of(doc, "X")["dur"] = -1


def j_nameless_thread(doc):
    e = of(doc, "X")
    doc["traceEvents"].remove(of(doc, "M", lambda m: m["name"] == "thread_name" and
                                 (m["pid"], m["tid"]) == (e["pid"], e["tid"])))


def j_nameless_process(doc):
    doc["traceEvents"].remove(of(doc, "M", lambda m: m["name"] == "process_name"))


def j_two_pids(doc):
    doc["traceEvents"].append(of(doc, "M", lambda m: m["name"] == "process_name"))


def j_flow_once(doc):
    doc["traceEvents"].remove(of(doc, "f"))


def j_end_alone(doc):
    e = of(doc, "X")
    doc["traceEvents"].append({"ph": "E", "pid": e["pid"], "tid": e["tid"], "ts": 0.001})


def j_begin_alone(doc):
    e = of(doc, "X")
    doc["traceEvents"].append({"ph": "B", "pid": e["pid"], "tid": e["tid"], "ts": 1e12, "name": "x"})


def j_no_value(doc):
    of(doc, "C")["args"] = {"value": "much"}


def j_no_such_phase(doc):
    of(doc, "X")["ph"] = "q"


def j_nowhere(doc):
    del of(doc, "X")["pid"]


CHROME = {
    j_overlap: "overlaps", j_negative: "is no time", j_nameless_thread: "thread has no name",
    j_nameless_process: "process has no name", j_two_pids: "two processes have the pid",
    j_flow_once: "is seen 1 times", j_end_alone: "without a beginning",
    j_begin_alone: "never ends", j_no_value: "has no value", j_no_such_phase: "no such kind",
    j_nowhere: "is nowhere",
}


def verdict(timeline):
    timeline.check()
    return "\n".join(timeline.wrong)


def missed(name, wanted, said):
    if wanted in said:
        return 0
    print(f"FAIL {name}: wanted '{wanted}', the checker said '{said[:300]}'")
    return 1


def main(argv):
    with open(argv[1], "rb") as f:
        data = f.read()
    with open(argv[2], encoding="utf-8") as f:
        doc = json.load(f)
    failed = 0
    if verdict(check.Perfetto(data)) or verdict(check.Chrome(json.dumps(doc))):
        sys.exit("selftest: the traces to begin with are not sound")
    for breaks, wanted in PERFETTO.items():
        t = Trace(data)
        breaks(t)
        failed += missed(breaks.__name__, wanted, verdict(check.Perfetto(t.bytes())))
    failed += missed("cut", "cut off", verdict(check.Perfetto(data[:-3])))
    failed += missed("empty", "no packet", verdict(check.Perfetto(b"")))
    for breaks, wanted in CHROME.items():
        broken = copy.deepcopy(doc)
        breaks(broken)
        failed += missed(breaks.__name__, wanted, verdict(check.Chrome(json.dumps(broken))))
    print(f"{len(PERFETTO) + 2 + len(CHROME)} ways to break a timeline, {failed} missed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
