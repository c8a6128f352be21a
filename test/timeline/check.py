#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a timeline sound? Prints what it holds, or everything that is wrong with it and exits with 1.

    check.py FILE           one line: how much of what
    check.py --dump FILE    a line for each thing on it, for tests to look at

Takes both forms, and shares no code with what writes them.
"""
import decimal
import json
import sys

import wire


class Timeline:
    """What both forms have in common: tracks by their key, and what lies on them."""

    def __init__(self):
        self.wrong = []
        self.tracks = {}  # key -> (path, kind)
        self.marks = []  # (time, place in the file, phase, track, name, args)
        self.ends = {}  # place -> when that slice says that it ends, where it says so
        self.values = 0
        self.lines = []
        self.flows = {}  # id -> [(time, place, "out" or "in")]

    def bad(self, what):
        self.wrong.append(what)

    def flow(self, flow, time, place, direction):
        self.flows.setdefault(flow, []).append((time, place, direction))

    def check_flows(self):
        for flow, ends in sorted(self.flows.items()):
            if len(ends) != 2:
                self.bad(f"flow {flow} is seen {len(ends)} times")
            elif sorted(e[2] for e in ends) != ["in", "out"]:
                self.bad(f"flow {flow} does not lead from one to the other")
            else:
                out, into = sorted(ends, key=lambda e: e[2] == "in")
                if out[:2] > into[:2]:
                    self.bad(f"flow {flow} leads backwards")

    def check_nesting(self):
        """Begin and end of each track, in the order of time; points need no partner."""
        open_on = {}
        for time, place, phase, track, name, args in sorted(self.marks, key=lambda m: m[:2]):
            path = self.tracks.get(track, ("?", "?"))[0]
            stack = open_on.setdefault(track, [])
            if phase == "begin":
                stack.append((time, name, args, self.ends.get(place, None)))
            elif phase == "end":
                if not stack:
                    self.bad(f"{path}: an end at {time} without a beginning")
                    continue
                start, what, args, end = stack.pop()
                if end not in (None, time):
                    self.bad(f"{path}: {what} at {start} overlaps another one")
                self.lines.append((start, f"slice|{path}|{what}|{start}|{time}|{args}"))
            else:
                self.lines.append((time, f"point|{path}|{name}|{time}|{time}|{args}"))
        for track, stack in open_on.items():
            for time, name, *_ in stack:
                self.bad(f"{self.tracks.get(track, ('?',))[0]}: {name} at {time} never ends")

    def check(self):
        self.check_flows()
        self.check_nesting()

    def summary(self):
        slices = sum(m[2] == "begin" for m in self.marks)
        points = sum(m[2] == "point" for m in self.marks)
        return (f"{slices} slices, {points} points, {self.values} values, "
                f"{len(self.tracks)} tracks, {len(self.flows)} flows")


# ---- Perfetto's form

CLEARED, NEEDS_STATE = 1, 2
OWN_CLOCK = 64
INTERNED = {"event_names": "name", "event_categories": "category",
            "debug_annotation_names": "argument", "debug_annotation_string_values": "text"}


class Sequence:
    def __init__(self):
        self.state = False
        self.names = {}  # (kind, iid) -> text
        self.clock = None  # ns, once a snapshot has told
        self.default = None


class Perfetto(Timeline):
    def __init__(self, data):
        super().__init__()
        self.sequences = {}
        self.pids, self.tids = {}, {}
        trace = wire.decode(data, wire.TRACE, self.bad)
        for place, packet in enumerate(trace.get("packet", [])):
            self.packet(place, packet)
        if not trace.get("packet"):
            self.bad("there is no packet in it")

    def packet(self, place, p):
        number = wire.one(p, "trusted_packet_sequence_id")
        if not number:
            self.bad(f"packet {place} belongs to no sequence")
            return
        fresh = number not in self.sequences
        s = self.sequences.setdefault(number, Sequence())
        flags = wire.one(p, "sequence_flags", 0)
        if flags & CLEARED:
            s.state, s.names = True, {}
        elif fresh:
            self.bad(f"sequence {number} does not begin with a clean state")
        for snapshot in p.get("clock_snapshot", []):
            self.snapshot(s, number, snapshot)
        for defaults in p.get("trace_packet_defaults", []):
            s.default = wire.one(defaults, "timestamp_clock_id")
        for interned in p.get("interned_data", []):
            self.intern(s, number, interned)
        for track in p.get("track_descriptor", []):
            self.track(track)
        for event in p.get("track_event", []):
            if not flags & NEEDS_STATE:
                self.bad(f"packet {place} does not say that it needs the state")
            self.event(place, number, s, p, event)

    def snapshot(self, s, number, snapshot):
        clocks = {wire.one(c, "clock_id"): c for c in snapshot.get("clocks", [])}
        own = clocks.get(OWN_CLOCK)
        if not own or not wire.one(own, "is_incremental") or 6 not in clocks:
            self.bad(f"the clock of sequence {number} is tied to none")
            return
        s.clock = wire.one(clocks[6], "timestamp") + wire.one(own, "timestamp")

    def intern(self, s, number, interned):
        for field, kind in INTERNED.items():
            for entry in interned.get(field, []):
                key = (kind, wire.one(entry, "iid"))
                if not key[1] or key in s.names:
                    self.bad(f"sequence {number}: {kind} {key[1]} is told twice, or is 0")
                s.names[key] = wire.one(entry, "name", "")

    def name(self, s, number, kind, iid):
        if (kind, iid) not in s.names:
            self.bad(f"sequence {number}: {kind} {iid} was never told")
        return s.names.get((kind, iid), "?")

    def track(self, t):
        uuid, parent = wire.one(t, "uuid"), wire.one(t, "parent_uuid")
        name = wire.one(t, "name", "")
        if not uuid or uuid in self.tracks:
            self.bad(f"track {uuid} is told twice, or is 0")
        if parent and parent not in self.tracks:
            self.bad(f"track {uuid} lies below {parent}, which is not told yet")
        kind = next((k for k in ("process", "thread", "counter") if k in t), "plain")
        if kind == "process":
            pid = wire.one(t["process"][0], "pid")
            if pid in self.pids:
                self.bad(f"two processes have the pid {pid}")
            self.pids[pid] = uuid
            name += f" [{pid}]"
        if kind == "thread":
            pid, tid = wire.one(t["thread"][0], "pid"), wire.one(t["thread"][0], "tid")
            if tid in self.tids:
                self.bad(f"two threads have the tid {tid}")
            if pid not in self.pids:
                self.bad(f"thread {tid} is of process {pid}, which is not told yet")
            self.tids[tid] = uuid
            name += f" [{tid}]"
        above = self.tracks[parent][0] + "/" if parent in self.tracks else ""
        self.tracks[uuid] = (above + name, kind)

    def time(self, place, number, s, p):
        delta = wire.one(p, "timestamp")
        if delta is None or s.clock is None or s.default != OWN_CLOCK:
            self.bad(f"packet {place} has no time")
            return 0
        if delta >= 1 << 63:
            self.bad(f"sequence {number}: time goes back in packet {place}")
            delta = 0
        s.clock += delta
        return s.clock

    def args(self, s, number, event):
        got = []
        for a in event.get("debug_annotations", []):
            iid = wire.one(a, "name_iid")
            name = self.name(s, number, "argument", iid) if iid else wire.one(a, "name")
            if not name:
                self.bad(f"sequence {number}: an argument has no name")
            values = [k for k in a if k not in ("name_iid", "name")]
            if len(values) != 1:
                self.bad(f"sequence {number}: the argument {name} has {len(values)} values")
                continue
            value = wire.one(a, values[0])
            if values[0] == "string_value_iid":
                value = self.name(s, number, "text", value)
            got.append(f"{name}={value}")
        return "; ".join(got)

    def event(self, place, number, s, p, e):
        time = self.time(place, number, s, p)
        kind, track = wire.one(e, "type"), wire.one(e, "track_uuid")
        if not s.state:
            self.bad(f"sequence {number}: an event before there is any state")
        if track not in self.tracks:
            self.bad(f"packet {place} is on track {track}, which is not told yet")
            return
        if (kind == 4) != (self.tracks[track][1] == "counter"):
            self.bad(f"packet {place}: a {'value' if kind == 4 else 'slice'} on "
                     f"{self.tracks[track][0]}, a {self.tracks[track][1]} track")
        if kind == 4:
            values = e.get("counter_value", []) + e.get("double_counter_value", [])
            if len(values) != 1:
                self.bad(f"packet {place} has {len(values)} values")
            self.values += 1
            self.lines.append((time, f"value|{self.tracks[track][0]}|{values}|{time}"))
            return
        phase = {1: "begin", 2: "end", 3: "point"}.get(kind)
        if not phase:
            self.bad(f"packet {place} is of type {kind}")
            return
        name, args = "", ""
        if phase != "end":
            iid = wire.one(e, "name_iid")
            name = self.name(s, number, "name", iid) if iid else wire.one(e, "name")
            if not name:
                self.bad(f"packet {place} has no name")
            for iid in e.get("category_iids", []):
                self.name(s, number, "category", iid)
            args = self.args(s, number, e)
            if "correlation_id" in e:
                args += f"; shade={wire.one(e, 'correlation_id')}"
        self.marks.append((time, place, phase, track, name, args))
        for flow in e.get("flow_ids", []):
            self.flow(flow, time, place, "out")
        for flow in e.get("terminating_flow_ids", []):
            self.flow(flow, time, place, "in")


# ---- Chrome's form

class Chrome(Timeline):
    def __init__(self, data):
        super().__init__()
        doc = json.loads(data, parse_float=decimal.Decimal)  # to the nanosecond
        self.base = doc["otherData"]["start_unix_ns"]
        self.processes = {}
        ends = []
        for place, event in enumerate(doc["traceEvents"]):
            ends += self.event(place * 2, event)
        # The end of a slice with a length comes before what begins there; the others by their place.
        ends = [(m, 0) for m in ends] + [(m, 1) for m in self.marks]
        self.marks = [m for m, _ in sorted(ends, key=lambda m: (m[0][0], m[1], m[0][1]))]
        said = self.ends
        self.ends = {i: said[m[1]] for i, m in enumerate(self.marks) if m[1] in said}
        self.marks = [(m[0], i, *m[2:]) for i, m in enumerate(self.marks)]

    def ns(self, event, key):
        value = event.get(key)
        if not isinstance(value, (int, decimal.Decimal)) or value < 0:
            self.bad(f"{event}: {key} is no time")
            return 0
        return int(value * 1000)

    def event(self, place, e):
        phase, pid, tid = e.get("ph"), e.get("pid"), e.get("tid")
        if not isinstance(pid, int) or not isinstance(tid, int):
            self.bad(f"{e} is nowhere")
            return []
        if phase == "M":
            self.meta(e, pid, tid)
            return []
        if pid not in self.processes:
            self.bad(f"{e}: its process has no name")
        time = self.ns(e, "ts")
        if phase == "C":
            self.values += 1
            if not isinstance(e.get("args", {}).get("value"), (int, decimal.Decimal)):
                self.bad(f"{e} has no value")
            self.lines.append((time, f"value|{self.processes.get(pid)}/{e.get('name')}|"
                                     f"[{e['args'].get('value')}]|{time}"))
            return []
        if phase in ("s", "f"):
            self.flow(e.get("id"), time, place, "out" if phase == "s" else "in")
            return []
        if (pid, tid) not in self.tracks:
            if tid:
                self.bad(f"{e}: its thread has no name")
            self.tracks[(pid, tid)] = (self.processes.get(pid, "?"), "plain")
        return self.mark(place, e, phase, time, (pid, tid))

    def meta(self, e, pid, tid):
        name = e["args"]["name"]
        if e["name"] == "process_name":
            if pid in self.processes:
                self.bad(f"two processes have the pid {pid}")
            self.processes[pid] = f"{name} [{pid}]"
            return
        if pid not in self.processes:
            self.bad(f"{e}: its process has no name yet")
        if (pid, tid) in self.tracks:
            self.bad(f"two threads of {pid} have the tid {tid}")
        self.tracks[(pid, tid)] = (f"{self.processes.get(pid)}/{name}", "plain")

    def mark(self, place, e, phase, time, track):
        args = "; ".join(f"{k}={v}" for k, v in e.get("args", {}).items())
        if "cname" in e:
            args += f"; shade={e['cname']}"
        kinds = {"X": "begin", "B": "begin", "E": "end", "i": "point"}
        if phase not in kinds:
            self.bad(f"{e}: no such kind")
            return []
        if phase != "E" and not e.get("name"):
            self.bad(f"{e} has no name")
        self.marks.append((time, place, kinds[phase], track, e.get("name", ""), args))
        if phase != "X":
            return []
        self.ends[place] = time + self.ns(e, "dur")
        return [(self.ends[place], place + 1, "end", track, "", "")]


def main(argv):
    dump = argv[1:2] == ["--dump"]
    path = argv[2] if dump else argv[1]
    with open(path, "rb") as f:
        data = f.read()
    timeline = Chrome(data) if data[:1] == b"{" else Perfetto(data)
    timeline.check()
    for what in timeline.wrong[:20]:
        print(f"{path}: {what}")
    if len(timeline.wrong) > 20:
        print(f"{path}: and {len(timeline.wrong) - 20} more")
    if dump:
        for _, line in sorted(timeline.lines):
            print(line)
    if not timeline.wrong:
        print(timeline.summary())
    return bool(timeline.wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
