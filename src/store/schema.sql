-- The trace database, version 1. Times are wall-clock ns: boot time of the event plus the offset
-- that the run noted at its start (run.wall_minus_boot_ns), so they never jump within a run.

CREATE TABLE node(
	id INTEGER PRIMARY KEY, -- hash of the name, so that merging is a union
	name TEXT NOT NULL UNIQUE
);

CREATE TABLE string(
	id INTEGER PRIMARY KEY, -- hash of the text
	text TEXT NOT NULL
);

-- One life of the agent.
CREATE TABLE run(
	id INTEGER PRIMARY KEY,
	node INTEGER NOT NULL REFERENCES node(id),
	start_ns INTEGER NOT NULL,
	end_ns INTEGER, -- NULL: still running, or killed
	wall_minus_boot_ns INTEGER NOT NULL,
	boot_id TEXT NOT NULL,
	version TEXT NOT NULL,
	kernel TEXT NOT NULL,
	gpu TEXT NOT NULL, -- '' = no GPU seen
	attach_mode TEXT NOT NULL,
	cpus INTEGER NOT NULL,
	slow_ns INTEGER NOT NULL,
	record_all INTEGER NOT NULL,
	count_cost_ns INTEGER NOT NULL, -- what one probe hit cost on this host; 0 = not measured
	timed_cost_ns INTEGER NOT NULL
);

-- The clocks side by side, so that a step of the wall clock can be told.
CREATE TABLE clock(
	run INTEGER NOT NULL REFERENCES run(id),
	boot_ns INTEGER NOT NULL,
	wall_ns INTEGER NOT NULL
);

CREATE TABLE process(
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run(id),
	pid INTEGER NOT NULL,
	start_ns INTEGER NOT NULL, -- with pid, its identity
	ppid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	cmdline INTEGER NOT NULL REFERENCES string(id), -- secrets removed
	exe INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id),
	python TEXT NOT NULL, -- '3.12', '' = not Python
	exit_ns INTEGER -- NULL: alive when last seen
);

CREATE TABLE thread(
	id INTEGER PRIMARY KEY,
	process INTEGER NOT NULL REFERENCES process(id),
	tid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	first_ns INTEGER NOT NULL,
	exit_ns INTEGER
);

CREATE TABLE op(
	id INTEGER PRIMARY KEY, -- hash of the symbol
	symbol TEXT NOT NULL,
	lib TEXT NOT NULL,
	class TEXT NOT NULL
);

-- Complete counts, about one row per second, thread and op. Never a sample.
CREATE TABLE op_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	at_ns INTEGER NOT NULL, -- end of the interval
	calls INTEGER NOT NULL, -- entered
	done INTEGER NOT NULL, -- returned; the rest is in flight or never came back
	errors INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	total_ns INTEGER NOT NULL, -- of timed ops
	max_ns INTEGER NOT NULL, -- the longest so far, not of this interval
	run_ns INTEGER NOT NULL, -- these six: calls that are not inside another call,
	preempted_ns INTEGER NOT NULL, -- so that the rows of a thread add up to its time
	wake_ns INTEGER NOT NULL,
	throttled_ns INTEGER NOT NULL,
	blocked_ns INTEGER NOT NULL,
	unknown_ns INTEGER NOT NULL,
	hist BLOB NOT NULL, -- pairs (bucket, count), see wire/hist.h
	PRIMARY KEY(thread, op, at_ns)
) WITHOUT ROWID;
CREATE INDEX op_second_at ON op_second(at_ns);

-- Who had the CPU while a thread waited for it. Complete.
CREATE TABLE blame_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	pid INTEGER NOT NULL, -- 0 = the CPU was idle: wake-up latency
	cpu INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, pid, cpu)
) WITHOUT ROWID;
CREATE INDEX blame_second_at ON blame_second(at_ns);

-- Single calls and gaps that were slow, first of their kind, failed, or sampled: see because.
CREATE TABLE call(
	id INTEGER PRIMARY KEY,
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	next_op INTEGER REFERENCES op(id), -- of a gap: the call that ended it
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	because INTEGER NOT NULL, -- bits: 1 slow, 2 first, 4 sampled, 8 all recorded, 16 failed
	depth INTEGER NOT NULL, -- 0 = not inside another traced call
	ret INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	stream INTEGER NOT NULL,
	aux INTEGER NOT NULL,
	out INTEGER NOT NULL,
	run_ns INTEGER NOT NULL,
	preempted_ns INTEGER NOT NULL,
	wake_ns INTEGER NOT NULL,
	throttled_ns INTEGER NOT NULL,
	blocked_ns INTEGER NOT NULL,
	unknown_ns INTEGER NOT NULL
);
CREATE INDEX call_start ON call(start_ns);

CREATE TABLE call_culprit(
	call INTEGER NOT NULL REFERENCES call(id),
	pid INTEGER NOT NULL,
	cpu INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	ns INTEGER NOT NULL
);
CREATE INDEX call_culprit_call ON call_culprit(call);

CREATE TABLE loss(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	reason TEXT NOT NULL,
	count INTEGER NOT NULL
);

-- What the agent itself did in an interval: the account of every record, and its cost.
CREATE TABLE account(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	seen INTEGER NOT NULL, -- records made = submitted + filtered + dropped
	submitted INTEGER NOT NULL,
	filtered INTEGER NOT NULL, -- counted, not sent
	dropped INTEGER NOT NULL,
	received INTEGER NOT NULL, -- = submitted, once the ring is drained
	probe_ns INTEGER NOT NULL, -- hits times the cost measured at start
	agent_ns INTEGER NOT NULL, -- CPU time of the agent
	traced_ns INTEGER NOT NULL -- time of the traced processes: of each its longest thread
);

CREATE TABLE coverage(
	process INTEGER NOT NULL REFERENCES process(id),
	library INTEGER NOT NULL REFERENCES string(id),
	build_id TEXT NOT NULL,
	inode INTEGER NOT NULL,
	ops INTEGER NOT NULL,
	stepped INTEGER NOT NULL,
	refused INTEGER NOT NULL,
	missing INTEGER NOT NULL,
	since_ns INTEGER NOT NULL,
	note TEXT NOT NULL -- '' = attached
);

CREATE VIEW op_totals AS
SELECT node.name AS node, process.pid AS pid, string.text AS comm, op.symbol AS op,
	sum(calls) AS calls,
	-- launches are only counted: their time is not known
	CASE WHEN op.class = 'launch' THEN NULL ELSE sum(total_ns) END AS total_ns,
	CASE WHEN op.class = 'launch' THEN NULL ELSE max(max_ns) END AS max_ns,
	sum(errors) AS errors, sum(bytes) AS bytes, process.id AS process
FROM op_second
JOIN thread ON thread.id = op_second.thread
JOIN process ON process.id = thread.process
JOIN string ON string.id = process.comm
JOIN run ON run.id = process.run
JOIN node ON node.id = run.node
JOIN op ON op.id = op_second.op
WHERE op.class <> 'gap'
GROUP BY process.id, op.id;
