-- What the tables say, in the words of the questions that are asked of them. Views hold nothing: they are
-- made anew for each query, so that a file of any age has those of the program that reads it.
--
-- The views in the plural (events, cuda_events, nccl_events) have one row for each event that was
-- counted, not only for those that were stored one by one: count(*), sum(), avg() and max() over them
-- are those of the workload. They are made of the *_part views, in which a row stands for n events.

-- A thread with what names it. cgroup_id is of node and path: as containers.cgroup_id.
CREATE VIEW thread_names AS
SELECT thread.id AS thread, thread.tid AS tid, process.id AS process, process.pid AS pid,
	comm.text AS comm, run.id AS run, node.name AS node,
	(process.cgroup | node.id) & ~(process.cgroup & node.id) AS cgroup_id
FROM thread
JOIN process ON process.id = thread.process
JOIN run ON run.id = process.run
JOIN node ON node.id = run.node
JOIN string AS comm ON comm.id = process.comm;

-- Where an event comes from: 1 CUDA runtime, 3 host, 4 CUDA driver, 5 disk, 6 TCP, 7 sockets, 8 CUDA
-- graphs, 9 NCCL.
CREATE VIEW op_source AS
SELECT id AS op, symbol, class,
	CASE WHEN class = 'graph' THEN 8
		WHEN lib LIKE 'libcudart%' THEN 1
		WHEN lib LIKE 'libcuda%' THEN 4
		WHEN lib LIKE 'libnccl%' THEN 9
		ELSE 3 END AS source,
	class NOT IN ('launch', 'fill', 'event') AS timed -- the others are only counted
FROM op
WHERE class <> 'gap';

-- n events that are alike: total_ns is how long they took together (NULL: not timed), max_ns the longest
-- (NULL: not known). An event is told when it ends; what was not over is told at the end, without a time.
CREATE VIEW event_part AS
SELECT done AS n, total_ns,
	CASE WHEN max_ns > lag(max_ns, 1, 0) OVER (PARTITION BY thread, op ORDER BY at_ns)
		THEN max_ns END AS max_ns,
	node, source, symbol AS op, class, at_ns AS time_ns, pid, tid, comm, cgroup_id, process, thread
FROM op_second
JOIN op_source USING(op)
JOIN thread_names USING(thread)
WHERE timed
UNION ALL
SELECT calls, NULL, NULL, node, source, symbol, class, at_ns, pid, tid, comm, cgroup_id, process, thread
FROM op_second
JOIN op_source USING(op)
JOIN thread_names USING(thread)
WHERE NOT timed
UNION ALL
SELECT open, NULL, NULL, node, source, symbol, class, at_ns, pid, tid, comm, cgroup_id, process, thread
FROM (SELECT thread, op, sum(calls) - sum(done) AS open, max(at_ns) AS at_ns FROM op_second GROUP BY thread, op)
JOIN op_source USING(op)
JOIN thread_names USING(thread)
WHERE timed AND open > 0
UNION ALL
-- Stops of a calling thread of 20 us and more, by what it did then.
SELECT count, ns, max_ns, node, CASE hop.state WHEN 'socket' THEN 7 ELSE 3 END, hop.state, 'stop',
	at_ns, thread_names.pid, thread_names.tid, thread_names.comm, cgroup_id, process, thread
FROM wait_second
JOIN thread_names USING(thread)
JOIN hop ON hop.chain = wait_second.chain AND hop.n = 0
UNION ALL
SELECT count, CASE WHEN ns > 0 THEN ns END, NULL, node.name,
	CASE WHEN event = 'block_io' OR event LIKE 'disk%' THEN 5
		WHEN event = 'retransmit' THEN 6
		ELSE 3 END,
	event, 'host', at_ns, pid, NULL, comm.text, (cgroup | node.id) & ~(cgroup & node.id), NULL, NULL
FROM host_event
JOIN run ON run.id = host_event.run
JOIN node ON node.id = run.node
JOIN string AS comm ON comm.id = host_event.comm;

-- Every event that was counted. Its duration is that of the longest, or the average of the others of its
-- thread, op and second: sums and averages are exact, and so is the longest of all. NULL: not timed.
CREATE VIEW events AS
WITH RECURSIVE each(node, source, op, class, time_ns, pid, tid, comm, cgroup_id, process, thread,
	i, n, total, longest) AS (
	SELECT node, source, op, class, time_ns, pid, tid, comm, cgroup_id, process, thread,
		1, n, total_ns, min(max_ns, total_ns)
	FROM event_part WHERE n > 0
	UNION ALL
	SELECT node, source, op, class, time_ns, pid, tid, comm, cgroup_id, process, thread,
		i + 1, n, total, longest
	FROM each WHERE i < n
)
SELECT node, source, op, class, time_ns, pid, tid, comm, cgroup_id, process, thread,
	CASE WHEN longest IS NULL OR n = 1 THEN total / n + (i <= total % n)
		WHEN i = 1 THEN longest
		ELSE (total - longest) / (n - 1) + (i - 1 <= (total - longest) % (n - 1)) END AS duration
FROM each;

-- The same answered from sums, at once, however many there are. total_ns is of the timed ones.
CREATE VIEW event_totals AS
SELECT node, source, op, sum(n) AS events, sum(total_ns) AS total_ns,
	CAST(sum(total_ns) AS REAL) / sum(CASE WHEN total_ns IS NOT NULL THEN n END) AS avg_ns,
	max(max_ns) AS max_ns
FROM event_part
GROUP BY node, source, op;

-- Every call into CUDA. kernel_name: of a launch, where it is known; else NULL. How long a kernel ran on
-- the GPU is not known, and launches are not timed: their duration_ns is NULL.
CREATE VIEW cuda_event_part AS
SELECT n, total_ns, max_ns, node, source, op, class, NULL AS kernel_name, time_ns, pid, tid, comm,
	cgroup_id, process
FROM event_part
WHERE source IN (1, 4, 8) AND class <> 'launch'
UNION ALL
SELECT launches, NULL, NULL, names.node, launch.source, launch.op, 'launch', nullif(name.text, ''),
	at_ns, names.pid, NULL, names.comm, names.cgroup_id, kernel.process
FROM kernel_second
JOIN kernel ON kernel.id = kernel_second.kernel
JOIN string AS name ON name.id = kernel.name
JOIN (SELECT process, min(node) AS node, min(pid) AS pid, min(comm) AS comm, min(cgroup_id) AS cgroup_id
	FROM thread_names GROUP BY process) AS names USING(process)
LEFT JOIN (SELECT process, min(source) AS source,
		CASE WHEN min(symbol) = max(symbol) THEN min(symbol) ELSE 'launch' END AS op
	FROM (SELECT DISTINCT thread, op FROM op_second) JOIN op_source USING(op) JOIN thread_names USING(thread)
	WHERE class = 'launch' GROUP BY process) AS launch USING(process)
UNION ALL
-- Launches of which nobody noted the kernel.
SELECT all_of.n - coalesce(named.n, 0), NULL, NULL, node, source, op, 'launch', NULL, time_ns, pid, NULL, comm,
	cgroup_id, process
FROM (SELECT process, sum(n) AS n, min(node) AS node, min(source) AS source, max(time_ns) AS time_ns,
		CASE WHEN min(op) = max(op) THEN min(op) ELSE 'launch' END AS op,
		min(pid) AS pid, min(comm) AS comm, min(cgroup_id) AS cgroup_id
	FROM event_part WHERE class = 'launch' GROUP BY process) AS all_of
LEFT JOIN (SELECT process, sum(launches) AS n FROM kernel_second JOIN kernel ON kernel.id = kernel_second.kernel
	GROUP BY process) AS named USING(process)
WHERE all_of.n > coalesce(named.n, 0);

-- Every call into CUDA, one row each, as events has them.
CREATE VIEW cuda_events AS
WITH RECURSIVE each(node, source, op, class, kernel_name, time_ns, pid, tid, comm, cgroup_id, process,
	i, n, total, longest) AS (
	SELECT node, source, op, class, kernel_name, time_ns, pid, tid, comm, cgroup_id, process,
		1, n, total_ns, min(max_ns, total_ns)
	FROM cuda_event_part WHERE n > 0
	UNION ALL
	SELECT node, source, op, class, kernel_name, time_ns, pid, tid, comm, cgroup_id, process,
		i + 1, n, total, longest
	FROM each WHERE i < n
)
SELECT node, source, op, class, kernel_name, time_ns, pid, tid, comm, cgroup_id, process,
	CASE WHEN longest IS NULL OR n = 1 THEN total / n + (i <= total % n)
		WHEN i = 1 THEN longest
		ELSE (total - longest) / (n - 1) + (i - 1 <= (total - longest) % (n - 1)) END AS duration_ns
FROM each;

-- By container and kernel, answered from sums; calls that launch nothing have kernel_name NULL.
CREATE VIEW cuda_totals AS
SELECT node, cgroup_id, op, kernel_name, sum(n) AS calls, sum(total_ns) AS total_ns, max(max_ns) AS max_ns
FROM cuda_event_part
GROUP BY node, cgroup_id, op, kernel_name;

-- Operations of NCCL: the first 256 of a process in each second with everything that is known of them; of
-- the rest (seq is NULL) what was counted. duration_ns is of the call, which only queues the operation;
-- waited_ns of the synchronisation in which the process waited for it.
CREATE VIEW nccl_event_part AS
SELECT 1 AS n, dur_ns AS total_ns, dur_ns AS max_ns, names.node AS node, names.pid AS pid, names.comm AS comm,
	op.symbol AS op, communicator.hash AS comm_hash, coalesce(communicator.rank, rank_env.rank) AS rank,
	coalesce(communicator.nranks, rank_env.world) AS world_size, seq, datatype,
	redop AS reduce_op, root, count, bytes, stream, collective.start_ns AS time_ns,
	waited_ns, joined, names.cgroup_id AS cgroup_id, names.process AS process, collective.communicator AS communicator
FROM collective
JOIN communicator ON communicator.id = collective.communicator
JOIN thread_names AS names ON names.thread = collective.thread
JOIN op ON op.id = collective.op
LEFT JOIN rank_env ON rank_env.process = names.process
UNION ALL
SELECT counted.n - coalesce(told.n, 0), counted.total_ns - coalesce(told.ns, 0),
	CASE WHEN counted.max_ns > coalesce(told.max_ns, 0) THEN counted.max_ns END, node, pid, comm, symbol,
	NULL, rank_env.rank, rank_env.world, NULL, NULL, NULL, NULL, NULL, NULL, NULL, at_ns, NULL, NULL, cgroup_id,
	names.process, NULL
FROM (SELECT thread, op, sum(op_second.calls - coalesce(nested_second.calls, 0)) AS n,
		sum(total_ns) AS total_ns, max(max_ns) AS max_ns, max(at_ns) AS at_ns
	FROM op_second LEFT JOIN nested_second USING(thread, op, at_ns)
	WHERE op IN (SELECT id FROM op WHERE class IN ('collective', 'p2p'))
	GROUP BY thread, op) AS counted
LEFT JOIN (SELECT thread, op, count(*) AS n, sum(dur_ns) AS ns, max(dur_ns) AS max_ns FROM collective GROUP BY thread, op) AS told
	USING(thread, op)
JOIN op_source USING(op)
JOIN thread_names AS names USING(thread)
LEFT JOIN rank_env ON rank_env.process = names.process
WHERE counted.n > coalesce(told.n, 0);

-- Every operation of NCCL, one row each.
CREATE VIEW nccl_events AS
WITH RECURSIVE each(node, pid, comm, op, comm_hash, rank, world_size, seq, datatype, reduce_op, root, count,
	bytes, stream, time_ns, waited_ns, joined, cgroup_id, process, communicator, i, n, total, longest) AS (
	SELECT node, pid, comm, op, comm_hash, rank, world_size, seq, datatype, reduce_op, root, count,
		bytes, stream, time_ns, waited_ns, joined, cgroup_id, process, communicator, 1, n, total_ns,
		min(max_ns, total_ns)
	FROM nccl_event_part WHERE n > 0
	UNION ALL
	SELECT node, pid, comm, op, comm_hash, rank, world_size, seq, datatype, reduce_op, root, count,
		bytes, stream, time_ns, waited_ns, joined, cgroup_id, process, communicator, i + 1, n, total, longest
	FROM each WHERE i < n
)
SELECT node, pid, comm, op, comm_hash, rank, world_size, seq, datatype, reduce_op, root, count,
	bytes, stream, time_ns, waited_ns, joined, cgroup_id, process, communicator,
	CASE WHEN longest IS NULL OR n = 1 THEN total / n + (i <= total % n)
		WHEN i = 1 THEN longest
		ELSE (total - longest) / (n - 1) + (i - 1 <= (total - longest) % (n - 1)) END AS duration_ns
FROM each;

-- Every cgroup that a traced or blamed process is in. container_id is the path of the cgroup where that is
-- no container's. What else is known of a container belongs into this view, and into no other.
CREATE VIEW containers AS
SELECT DISTINCT (cgroup.id | node.id) & ~(cgroup.id & node.id) AS cgroup_id, node.name AS node,
	coalesce(nullif(c.container_id, ''), CASE WHEN c.id IS NULL AND instr(cgroup.text, '/') THEN (
		-- Of a file that does not tell: the last part of the path that ends in 64 hexadecimal digits, without what the runtime adds.
		WITH RECURSIVE part(text, rest) AS (
			SELECT '', trim(cgroup.text, '/') || '/'
			UNION ALL
			SELECT replace(substr(rest, 1, instr(rest, '/') - 1), '.scope', ''), substr(rest, instr(rest, '/') + 1)
			FROM part WHERE rest <> ''
		)
		SELECT substr(text, -64) FROM part
		WHERE length(text) >= 64 AND NOT substr(text, -64) GLOB '*[^0-9a-f]*'
		ORDER BY length(rest) LIMIT 1
	) END, cgroup.text) AS container_id,
	cgroup.text AS cgroup, c.runtime AS runtime, c.pod_uid AS pod_uid, c.namespace AS namespace, c.pod AS pod,
	c.name AS name, c.image AS image, c.slurm_job AS slurm_job, c.unit AS unit
FROM (SELECT run, cgroup FROM process UNION SELECT run, cgroup FROM blamed) AS seen
JOIN run ON run.id = seen.run
JOIN node ON node.id = run.node
JOIN string AS cgroup ON cgroup.id = seen.cgroup
LEFT JOIN cgroup_container AS cc ON cc.cgroup = seen.cgroup
LEFT JOIN container AS c ON c.id = cc.container
WHERE cgroup.text <> '';

-- Calls that were stored one by one, because they were slow, the first of their kind, failed or sampled
-- (because): a sample, unless the run had --record-all.
CREATE VIEW calls AS
SELECT call.id AS id, names.node AS node, source.source AS source, source.symbol AS op, source.class AS class,
	names.pid AS pid, names.tid AS tid, names.comm AS comm, call.start_ns AS time_ns,
	CASE WHEN source.timed THEN dur_ns END AS duration_ns, usual_ns,
	because, depth, ret, bytes, stream,
	CASE source.class WHEN 'launch' THEN (SELECT nullif(text, '') FROM kernel JOIN string ON string.id = kernel.name
		WHERE kernel.process = names.process AND kernel.handle = call.aux LIMIT 1) END AS kernel_name,
	func, file, line, names.cgroup_id AS cgroup_id, names.process AS process, names.thread AS thread
FROM every_call AS call
JOIN op_source AS source ON source.op = call.op
JOIN thread_names AS names ON names.thread = call.thread
LEFT JOIN stack_line ON stack_line.stack = call.stack;

-- What thread waited for whom, summed up: the last hop says where the time was spent.
CREATE VIEW waits AS
SELECT names.node AS node, names.pid AS pid, names.tid AS tid, names.comm AS comm, op.symbol AS op,
	wait_second.at_ns AS time_ns, ns, count, max_ns, first.state AS state, last.pid AS last_pid,
	last_comm.text AS last_comm, last.relation AS relation, last.state AS last_state, last.object AS object,
	name.text AS name, wait_second.chain AS chain, names.cgroup_id AS cgroup_id, names.process AS process,
	wait_second.thread AS thread
FROM wait_second
JOIN thread_names AS names USING(thread)
JOIN op ON op.id = wait_second.op
JOIN hop AS first ON first.chain = wait_second.chain AND first.n = 0
JOIN hop AS last ON last.chain = wait_second.chain
	AND last.n = (SELECT max(n) FROM hop WHERE hop.chain = wait_second.chain)
JOIN string AS last_comm ON last_comm.id = last.comm
JOIN string AS name ON name.id = last.name;
