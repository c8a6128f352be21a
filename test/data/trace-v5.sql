-- A trace as version 5 of the tables had it: its shape, and some rows of a recording.
CREATE TABLE node(
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
);
CREATE TABLE string(
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL
);
CREATE TABLE run(
	id INTEGER PRIMARY KEY,
	node INTEGER NOT NULL REFERENCES node(id),
	start_ns INTEGER NOT NULL,
	end_ns INTEGER,
	wall_minus_boot_ns INTEGER NOT NULL,
	boot_id TEXT NOT NULL,
	version TEXT NOT NULL,
	kernel TEXT NOT NULL,
	gpu TEXT NOT NULL,
	attach_mode TEXT NOT NULL,
	cpus INTEGER NOT NULL,
	slow_ns INTEGER NOT NULL,
	record_all INTEGER NOT NULL,
	count_cost_ns INTEGER NOT NULL,
	timed_cost_ns INTEGER NOT NULL
);
CREATE TABLE clock(
	run INTEGER NOT NULL REFERENCES run(id),
	boot_ns INTEGER NOT NULL,
	wall_ns INTEGER NOT NULL
);
CREATE TABLE process(
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run(id),
	pid INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	ppid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	cmdline INTEGER NOT NULL REFERENCES string(id),
	exe INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id),
	python TEXT NOT NULL,
	python_note TEXT NOT NULL,
	exit_ns INTEGER
);
CREATE TABLE container(
	id INTEGER PRIMARY KEY,
	container_id TEXT NOT NULL,
	runtime TEXT NOT NULL,
	pod_uid TEXT NOT NULL,
	namespace TEXT NOT NULL,
	pod TEXT NOT NULL,
	name TEXT NOT NULL,
	image TEXT NOT NULL,
	slurm_job TEXT NOT NULL,
	unit TEXT NOT NULL,
	claimed INTEGER NOT NULL,
	label TEXT NOT NULL,
	cgroup INTEGER NOT NULL REFERENCES string(id),
	cgroup_id INTEGER,
	first_ns INTEGER NOT NULL,
	last_ns INTEGER NOT NULL
);
CREATE TABLE process_container(
	process INTEGER NOT NULL REFERENCES process(id),
	from_ns INTEGER NOT NULL,
	container INTEGER REFERENCES container(id),
	cgroup INTEGER NOT NULL REFERENCES string(id),
	PRIMARY KEY(process, from_ns)
) WITHOUT ROWID;
CREATE TABLE cgroup_container(
	cgroup INTEGER PRIMARY KEY REFERENCES string(id),
	container INTEGER NOT NULL REFERENCES container(id)
);
CREATE TABLE disk_user_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	dev INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id),
	requests INTEGER NOT NULL,
	bytes INTEGER NOT NULL
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
	id INTEGER PRIMARY KEY,
	symbol TEXT NOT NULL,
	lib TEXT NOT NULL,
	class TEXT NOT NULL
);
CREATE TABLE frame(
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,
	func INTEGER NOT NULL REFERENCES string(id),
	file INTEGER NOT NULL REFERENCES string(id),
	line INTEGER NOT NULL
);
CREATE TABLE stack(
	id INTEGER PRIMARY KEY,
	flags INTEGER NOT NULL,
	line INTEGER REFERENCES frame(id)
);
CREATE TABLE stack_frame(
	stack INTEGER NOT NULL REFERENCES stack(id),
	n INTEGER NOT NULL,
	frame INTEGER NOT NULL REFERENCES frame(id),
	PRIMARY KEY(stack, n)
) WITHOUT ROWID;
CREATE TABLE op_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	at_ns INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	done INTEGER NOT NULL,
	errors INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	total_ns INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	run_ns INTEGER NOT NULL,
	gc_ns INTEGER NOT NULL,
	reclaim_ns INTEGER NOT NULL,
	irq_ns INTEGER NOT NULL,
	steal_ns INTEGER NOT NULL,
	preempted_ns INTEGER NOT NULL,
	wake_ns INTEGER NOT NULL,
	throttled_ns INTEGER NOT NULL,
	futex_ns INTEGER NOT NULL,
	pipe_ns INTEGER NOT NULL,
	socket_ns INTEGER NOT NULL,
	poll_ns INTEGER NOT NULL,
	read_ns INTEGER NOT NULL,
	write_ns INTEGER NOT NULL,
	fsync_ns INTEGER NOT NULL,
	path_ns INTEGER NOT NULL,
	fault_ns INTEGER NOT NULL,
	reclaim_wait_ns INTEGER NOT NULL,
	sleep_ns INTEGER NOT NULL,
	gpu_ns INTEGER NOT NULL,
	child_ns INTEGER NOT NULL,
	device_ns INTEGER NOT NULL,
	uring_ns INTEGER NOT NULL,
	mmap_ns INTEGER NOT NULL,
	stopped_ns INTEGER NOT NULL,
	syscall_ns INTEGER NOT NULL,
	unknown_ns INTEGER NOT NULL,
	minor_faults INTEGER NOT NULL,
	major_faults INTEGER NOT NULL,
	kernel_ns INTEGER NOT NULL,
	hist BLOB NOT NULL,
	PRIMARY KEY(thread, op, at_ns)
) WITHOUT ROWID;
CREATE TABLE nested_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	at_ns INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	PRIMARY KEY(thread, op, at_ns)
) WITHOUT ROWID;
CREATE TABLE blame_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	cpu INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, pid, cpu)
) WITHOUT ROWID;
CREATE TABLE blamed(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id),
	PRIMARY KEY(run, pid, at_ns)
) WITHOUT ROWID;
CREATE TABLE call(
	id INTEGER PRIMARY KEY,
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	next_op INTEGER REFERENCES op(id),
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	because INTEGER NOT NULL,
	depth INTEGER NOT NULL,
	ret INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	stream INTEGER NOT NULL,
	aux INTEGER NOT NULL,
	out INTEGER NOT NULL,
	usual_ns INTEGER NOT NULL,
	site INTEGER NOT NULL,
	stack INTEGER NOT NULL,
	run_ns INTEGER NOT NULL,
	gc_ns INTEGER NOT NULL,
	reclaim_ns INTEGER NOT NULL,
	irq_ns INTEGER NOT NULL,
	steal_ns INTEGER NOT NULL,
	preempted_ns INTEGER NOT NULL,
	wake_ns INTEGER NOT NULL,
	throttled_ns INTEGER NOT NULL,
	futex_ns INTEGER NOT NULL,
	pipe_ns INTEGER NOT NULL,
	socket_ns INTEGER NOT NULL,
	poll_ns INTEGER NOT NULL,
	read_ns INTEGER NOT NULL,
	write_ns INTEGER NOT NULL,
	fsync_ns INTEGER NOT NULL,
	path_ns INTEGER NOT NULL,
	fault_ns INTEGER NOT NULL,
	reclaim_wait_ns INTEGER NOT NULL,
	sleep_ns INTEGER NOT NULL,
	gpu_ns INTEGER NOT NULL,
	child_ns INTEGER NOT NULL,
	device_ns INTEGER NOT NULL,
	uring_ns INTEGER NOT NULL,
	mmap_ns INTEGER NOT NULL,
	stopped_ns INTEGER NOT NULL,
	syscall_ns INTEGER NOT NULL,
	unknown_ns INTEGER NOT NULL,
	minor_faults INTEGER NOT NULL,
	major_faults INTEGER NOT NULL,
	kernel_ns INTEGER NOT NULL
);
CREATE TABLE call_block(
	id INTEGER PRIMARY KEY,
	thread INTEGER NOT NULL REFERENCES thread(id),
	first_ns INTEGER NOT NULL,
	last_ns INTEGER NOT NULL,
	n INTEGER NOT NULL,
	kinds BLOB NOT NULL,
	data BLOB NOT NULL
);
CREATE TABLE call_culprit(
	call INTEGER NOT NULL REFERENCES call(id),
	pid INTEGER NOT NULL,
	cpu INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	ns INTEGER NOT NULL
);
CREATE TABLE chain(
	id INTEGER PRIMARY KEY,
	complete INTEGER NOT NULL
);
CREATE TABLE hop(
	chain INTEGER NOT NULL REFERENCES chain(id),
	n INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	relation TEXT NOT NULL,
	state TEXT NOT NULL,
	waker TEXT NOT NULL,
	object TEXT NOT NULL,
	name INTEGER NOT NULL REFERENCES string(id),
	cpu INTEGER NOT NULL,
	cpu_pid INTEGER NOT NULL,
	nr INTEGER NOT NULL,
	flags INTEGER NOT NULL,
	obj INTEGER NOT NULL,
	obj2 INTEGER NOT NULL,
	stack INTEGER NOT NULL,
	irq INTEGER NOT NULL,
	device INTEGER NOT NULL REFERENCES string(id),
	PRIMARY KEY(chain, n)
) WITHOUT ROWID;
CREATE TABLE wait_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	op INTEGER NOT NULL REFERENCES op(id),
	chain INTEGER NOT NULL REFERENCES chain(id),
	ns INTEGER NOT NULL,
	count INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, op, chain)
) WITHOUT ROWID;
CREATE TABLE sample_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	op INTEGER NOT NULL REFERENCES op(id),
	stack INTEGER NOT NULL,
	state TEXT NOT NULL,
	samples INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, op, stack, state)
) WITHOUT ROWID;
CREATE TABLE idle_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	chain INTEGER NOT NULL REFERENCES chain(id),
	ns INTEGER NOT NULL,
	count INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, chain)
) WITHOUT ROWID;
CREATE TABLE call_wait(
	call INTEGER NOT NULL REFERENCES call(id),
	chain INTEGER NOT NULL REFERENCES chain(id),
	ns INTEGER NOT NULL
);
CREATE TABLE step(
	thread INTEGER NOT NULL REFERENCES thread(id),
	n INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	host_ns INTEGER NOT NULL,
	data_ns INTEGER NOT NULL,
	copy_ns INTEGER NOT NULL,
	sync_ns INTEGER NOT NULL,
	coll_ns INTEGER NOT NULL,
	other_ns INTEGER NOT NULL,
	idle_ns INTEGER NOT NULL,
	PRIMARY KEY(thread, start_ns)
) WITHOUT ROWID;
CREATE TABLE step_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	steps INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	host_ns INTEGER NOT NULL,
	data_ns INTEGER NOT NULL,
	copy_ns INTEGER NOT NULL,
	sync_ns INTEGER NOT NULL,
	coll_ns INTEGER NOT NULL,
	other_ns INTEGER NOT NULL,
	idle_ns INTEGER NOT NULL,
	hist BLOB NOT NULL,
	PRIMARY KEY(thread, at_ns)
) WITHOUT ROWID;
CREATE TABLE communicator(
	id INTEGER PRIMARY KEY,
	process INTEGER NOT NULL REFERENCES process(id),
	handle INTEGER NOT NULL,
	hash INTEGER,
	parent INTEGER,
	rank INTEGER,
	nranks INTEGER,
	made_by INTEGER REFERENCES op(id),
	made_ns INTEGER,
	gone_ns INTEGER
);
CREATE TABLE communicator_second(
	communicator INTEGER NOT NULL REFERENCES communicator(id),
	at_ns INTEGER NOT NULL,
	collectives INTEGER NOT NULL,
	p2p INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	told INTEGER NOT NULL,
	PRIMARY KEY(communicator, at_ns)
) WITHOUT ROWID;
CREATE TABLE collective(
	communicator INTEGER NOT NULL REFERENCES communicator(id),
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	seq INTEGER NOT NULL,
	datatype TEXT NOT NULL,
	redop TEXT NOT NULL,
	root INTEGER,
	count INTEGER NOT NULL,
	bytes INTEGER,
	stream INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	ret INTEGER NOT NULL,
	grouped INTEGER NOT NULL,
	joined TEXT NOT NULL,
	sync_op INTEGER REFERENCES op(id),
	sync_start_ns INTEGER,
	sync_end_ns INTEGER,
	waited_ns INTEGER,
	last INTEGER NOT NULL
);
CREATE TABLE rank_env(
	process INTEGER PRIMARY KEY REFERENCES process(id),
	rank INTEGER,
	local_rank INTEGER,
	world INTEGER,
	source TEXT NOT NULL
);
CREATE TABLE host_event(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	first_ns INTEGER NOT NULL,
	event TEXT NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	obj INTEGER NOT NULL,
	name INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id),
	count INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	value INTEGER NOT NULL
);
CREATE TABLE system_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	busy_pct REAL,
	iowait_pct REAL,
	steal_pct REAL,
	running INTEGER,
	blocked INTEGER,
	load1 REAL,
	mem_total_kb INTEGER,
	mem_available_kb INTEGER,
	swap_used_kb INTEGER,
	swap_in_pages INTEGER,
	swap_out_pages INTEGER,
	major_faults INTEGER,
	psi_cpu_us INTEGER,
	psi_memory_us INTEGER,
	psi_io_us INTEGER,
	PRIMARY KEY(run, at_ns)
) WITHOUT ROWID;
CREATE TABLE core_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	cpu INTEGER NOT NULL,
	busy_pct REAL NOT NULL,
	mhz INTEGER,
	PRIMARY KEY(run, at_ns, cpu)
) WITHOUT ROWID;
CREATE TABLE gpu(
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run(id),
	n INTEGER NOT NULL,
	name TEXT NOT NULL,
	uuid TEXT NOT NULL,
	bus_id TEXT NOT NULL,
	first_ns INTEGER NOT NULL
);
CREATE TABLE gpu_second(
	gpu INTEGER NOT NULL REFERENCES gpu(id),
	at_ns INTEGER NOT NULL,
	util_pct REAL,
	mem_util_pct REAL,
	mem_used INTEGER,
	mem_total INTEGER,
	sm_mhz INTEGER,
	sm_max_mhz INTEGER,
	mem_mhz INTEGER,
	reasons INTEGER,
	power_w REAL,
	power_limit_w REAL,
	power_default_w REAL,
	temp_c INTEGER,
	pcie_tx INTEGER,
	pcie_rx INTEGER,
	pcie_replays INTEGER,
	ecc_corrected INTEGER,
	ecc_uncorrected INTEGER,
	sm_active_pct REAL,
	occupancy_pct REAL,
	tensor_pct REAL,
	dram_pct REAL,
	PRIMARY KEY(gpu, at_ns)
) WITHOUT ROWID;
CREATE TABLE gpu_process(
	gpu INTEGER NOT NULL REFERENCES gpu(id),
	pid INTEGER NOT NULL,
	first_ns INTEGER NOT NULL,
	last_ns INTEGER NOT NULL,
	mem_used INTEGER,
	mem_max INTEGER,
	PRIMARY KEY(gpu, pid, first_ns)
) WITHOUT ROWID;
CREATE TABLE gpu_error(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	bus_id TEXT NOT NULL,
	code INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	text INTEGER NOT NULL REFERENCES string(id)
);
CREATE TABLE incident(
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run(id),
	cause TEXT NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	culprit_pid INTEGER NOT NULL,
	culprit INTEGER NOT NULL REFERENCES string(id),
	title INTEGER NOT NULL REFERENCES string(id),
	severity TEXT NOT NULL,
	first_ns INTEGER NOT NULL,
	last_ns INTEGER NOT NULL,
	lost_ns INTEGER NOT NULL
);
CREATE TABLE kernel(
	id INTEGER PRIMARY KEY,
	process INTEGER NOT NULL REFERENCES process(id),
	handle INTEGER NOT NULL,
	name INTEGER NOT NULL REFERENCES string(id),
	source TEXT NOT NULL,
	library INTEGER NOT NULL REFERENCES string(id)
);
CREATE TABLE kernel_second(
	kernel INTEGER NOT NULL REFERENCES kernel(id),
	at_ns INTEGER NOT NULL,
	launches INTEGER NOT NULL,
	PRIMARY KEY(kernel, at_ns)
) WITHOUT ROWID;
CREATE TABLE memory_second(
	process INTEGER NOT NULL REFERENCES process(id),
	kind TEXT NOT NULL,
	device INTEGER NOT NULL,
	at_ns INTEGER NOT NULL,
	current INTEGER NOT NULL,
	high INTEGER NOT NULL,
	allocs INTEGER NOT NULL,
	frees INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	failed_bytes INTEGER NOT NULL,
	retried INTEGER NOT NULL,
	strangers INTEGER NOT NULL,
	PRIMARY KEY(process, kind, device, at_ns)
) WITHOUT ROWID;
CREATE TABLE tag(
	id INTEGER PRIMARY KEY,
	label TEXT NOT NULL,
	first_ns INTEGER NOT NULL
);
CREATE TABLE tag_target(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	tag INTEGER NOT NULL,
	kind TEXT NOT NULL,
	source TEXT NOT NULL,
	pid INTEGER,
	tid INTEGER,
	uid INTEGER,
	dev INTEGER,
	ino INTEGER,
	generation INTEGER,
	path TEXT
);
CREATE TABLE checkpoint(
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run(id),
	dev INTEGER NOT NULL,
	ino INTEGER NOT NULL,
	generation INTEGER NOT NULL,
	path TEXT NOT NULL,
	tag INTEGER NOT NULL,
	from_start INTEGER NOT NULL,
	dense INTEGER NOT NULL,
	declared INTEGER,
	lost INTEGER NOT NULL,
	unseen INTEGER NOT NULL,
	began_ns INTEGER,
	last_ns INTEGER,
	closed_ns INTEGER,
	size INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	writes INTEGER NOT NULL,
	stretches INTEGER NOT NULL,
	gaps INTEGER NOT NULL,
	gap_bytes INTEGER NOT NULL,
	overwritten INTEGER NOT NULL,
	shared INTEGER NOT NULL,
	mapped INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	writers INTEGER NOT NULL,
	writer INTEGER NOT NULL,
	sync_error INTEGER NOT NULL,
	signal INTEGER NOT NULL,
	synced_ns INTEGER,
	renamed_ns INTEGER,
	renamed_dirty INTEGER NOT NULL,
	name_synced_ns INTEGER,
	sha256 TEXT,
	sha_size INTEGER,
	mtime_ns INTEGER,
	hashed_ns INTEGER,
	changed_ns INTEGER,
	changer INTEGER NOT NULL
);
CREATE TABLE checkpoint_event(
	checkpoint INTEGER NOT NULL REFERENCES checkpoint(id),
	at_ns INTEGER NOT NULL,
	event TEXT NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	first INTEGER NOT NULL,
	behind INTEGER NOT NULL,
	count INTEGER NOT NULL,
	since_ns INTEGER,
	tag INTEGER NOT NULL
);
CREATE TABLE io_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	dev INTEGER NOT NULL,
	disk INTEGER NOT NULL REFERENCES string(id),
	op TEXT NOT NULL,
	class TEXT NOT NULL,
	fs TEXT NOT NULL,
	fs_dev INTEGER NOT NULL,
	ino INTEGER NOT NULL,
	gen INTEGER NOT NULL,
	file INTEGER NOT NULL REFERENCES string(id),
	owner TEXT NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id),
	tag INTEGER NOT NULL,
	readahead INTEGER NOT NULL,
	requests INTEGER NOT NULL,
	merged INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	timed INTEGER NOT NULL,
	total_ns INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	slow INTEGER NOT NULL,
	errors INTEGER NOT NULL,
	requeues INTEGER NOT NULL,
	hist BLOB NOT NULL
);
CREATE TABLE io_request(
	run INTEGER NOT NULL REFERENCES run(id),
	done_ns INTEGER NOT NULL,
	total_ns INTEGER NOT NULL,
	device_ns INTEGER,
	because INTEGER NOT NULL,
	part INTEGER NOT NULL,
	dev INTEGER NOT NULL,
	disk INTEGER NOT NULL REFERENCES string(id),
	queue INTEGER NOT NULL,
	rq_tag INTEGER NOT NULL,
	op TEXT NOT NULL,
	flags INTEGER NOT NULL,
	sector INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	class TEXT NOT NULL,
	fs_dev INTEGER NOT NULL,
	ino INTEGER NOT NULL,
	gen INTEGER NOT NULL,
	file INTEGER NOT NULL REFERENCES string(id),
	file_offset INTEGER NOT NULL,
	owner TEXT NOT NULL,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	submitter_pid INTEGER NOT NULL,
	submitter_tid INTEGER NOT NULL,
	tag INTEGER NOT NULL,
	requeues INTEGER NOT NULL,
	error INTEGER NOT NULL
);
CREATE TABLE loss(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	reason TEXT NOT NULL,
	count INTEGER NOT NULL
);
CREATE TABLE account(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	seen INTEGER NOT NULL,
	submitted INTEGER NOT NULL,
	filtered INTEGER NOT NULL,
	dropped INTEGER NOT NULL,
	received INTEGER NOT NULL,
	probe_ns INTEGER NOT NULL,
	agent_ns INTEGER NOT NULL,
	traced_ns INTEGER NOT NULL
);
CREATE TABLE pruned(
	run INTEGER NOT NULL REFERENCES run(id),
	what TEXT NOT NULL,
	until_ns INTEGER NOT NULL,
	rows INTEGER NOT NULL,
	PRIMARY KEY(run, what)
) WITHOUT ROWID;
CREATE TABLE cost_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	launch_ns INTEGER NOT NULL,
	call_ns INTEGER NOT NULL,
	stepped_ns INTEGER NOT NULL,
	record_ns INTEGER NOT NULL,
	stack_ns INTEGER NOT NULL,
	switch_ns INTEGER NOT NULL,
	related_ns INTEGER NOT NULL,
	other_ns INTEGER NOT NULL,
	agent_ns INTEGER NOT NULL,
	cpus_ns INTEGER NOT NULL,
	worst_pct REAL NOT NULL,
	budget_pct REAL NOT NULL,
	PRIMARY KEY(run, at_ns)
) WITHOUT ROWID;
CREATE TABLE shed(
	run INTEGER NOT NULL REFERENCES run(id),
	what TEXT NOT NULL,
	from_ns INTEGER NOT NULL,
	to_ns INTEGER NOT NULL,
	cost_pct REAL NOT NULL,
	calls INTEGER NOT NULL,
	PRIMARY KEY(run, what, from_ns)
) WITHOUT ROWID;
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
	note TEXT NOT NULL
);
CREATE INDEX disk_user_second_at ON disk_user_second(at_ns);
CREATE INDEX op_second_at ON op_second(at_ns);
CREATE INDEX blame_second_at ON blame_second(at_ns);
CREATE INDEX call_start ON call(start_ns);
CREATE INDEX call_block_last ON call_block(last_ns);
CREATE INDEX call_culprit_call ON call_culprit(call);
CREATE INDEX wait_second_at ON wait_second(at_ns);
CREATE INDEX sample_second_at ON sample_second(at_ns);
CREATE INDEX idle_second_at ON idle_second(at_ns);
CREATE INDEX call_wait_call ON call_wait(call);
CREATE INDEX collective_start ON collective(start_ns);
CREATE INDEX host_event_at ON host_event(at_ns);
CREATE INDEX gpu_second_at ON gpu_second(at_ns);
CREATE INDEX kernel_second_at ON kernel_second(at_ns);
CREATE INDEX memory_second_at ON memory_second(at_ns);
CREATE INDEX tag_target_tag ON tag_target(tag);
CREATE INDEX checkpoint_file ON checkpoint(dev, ino, generation);
CREATE INDEX checkpoint_path ON checkpoint(path);
CREATE INDEX checkpoint_event_of ON checkpoint_event(checkpoint, at_ns);
CREATE INDEX io_second_at ON io_second(at_ns);
CREATE INDEX io_request_done ON io_request(done_ns);
CREATE INDEX loss_at ON loss(at_ns);
CREATE INDEX account_at ON account(at_ns);
CREATE VIEW every_call AS
SELECT * FROM call UNION ALL SELECT * FROM call_packed;
CREATE VIEW stack_line AS
SELECT stack.id AS stack, func.text AS func, file.text AS file, frame.line AS line
FROM stack
JOIN frame ON frame.id = stack.line
JOIN string AS func ON func.id = frame.func
JOIN string AS file ON file.id = frame.file;
CREATE VIEW kernel_totals AS
SELECT node.name AS node, process.pid AS pid, comm.text AS comm, kernel.text AS kernel,
	library.text AS library, sum(launches) AS launches, process.id AS process
FROM kernel_second
JOIN kernel AS k ON k.id = kernel_second.kernel
JOIN string AS kernel ON kernel.id = k.name
JOIN string AS library ON library.id = k.library
JOIN process ON process.id = k.process
JOIN string AS comm ON comm.id = process.comm
JOIN run ON run.id = process.run
JOIN node ON node.id = run.node
GROUP BY process.id, k.name, k.library;
CREATE VIEW io_files AS
SELECT node.name AS node, disk.text AS disk, op, class, file.text AS file, comm.text AS comm, pid, owner, tag,
	sum(requests + merged) AS requests, sum(bytes) AS bytes, sum(total_ns) AS total_ns,
	max(max_ns) AS max_ns, sum(slow) AS slow, sum(errors) AS errors
FROM io_second
JOIN string AS disk ON disk.id = io_second.disk
JOIN string AS file ON file.id = io_second.file
JOIN string AS comm ON comm.id = io_second.comm
JOIN run ON run.id = io_second.run
JOIN node ON node.id = run.node
GROUP BY node.id, io_second.dev, op, class, io_second.file, pid, owner, tag;
CREATE VIEW op_totals AS
SELECT node.name AS node, process.pid AS pid, string.text AS comm, op.symbol AS op,
	sum(calls) AS calls,
	CASE WHEN op.class IN ('launch', 'fill', 'event') THEN NULL ELSE sum(total_ns) END AS total_ns,
	CASE WHEN op.class IN ('launch', 'fill', 'event') THEN NULL ELSE max(max_ns) END AS max_ns,
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
CREATE VIEW thread_names AS
SELECT thread.id AS thread, thread.tid AS tid, process.id AS process, process.pid AS pid,
	comm.text AS comm, run.id AS run, node.name AS node,
	(process.cgroup | node.id) & ~(process.cgroup & node.id) AS cgroup_id
FROM thread
JOIN process ON process.id = thread.process
JOIN run ON run.id = process.run
JOIN node ON node.id = run.node
JOIN string AS comm ON comm.id = process.comm;
CREATE VIEW op_source AS
SELECT id AS op, symbol, class,
	CASE WHEN class = 'graph' THEN 8
		WHEN lib LIKE 'libcudart%' THEN 1
		WHEN lib LIKE 'libcuda%' THEN 4
		WHEN lib LIKE 'libnccl%' THEN 9
		ELSE 3 END AS source,
	class NOT IN ('launch', 'fill', 'event') AS timed
FROM op
WHERE class <> 'gap';
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
CREATE VIEW event_totals AS
SELECT node, source, op, sum(n) AS events, sum(total_ns) AS total_ns,
	CAST(sum(total_ns) AS REAL) / sum(CASE WHEN total_ns IS NOT NULL THEN n END) AS avg_ns,
	max(max_ns) AS max_ns
FROM event_part
GROUP BY node, source, op;
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
SELECT all_of.n - coalesce(named.n, 0), NULL, NULL, node, source, op, 'launch', NULL, time_ns, pid, NULL, comm,
	cgroup_id, process
FROM (SELECT process, sum(n) AS n, min(node) AS node, min(source) AS source, max(time_ns) AS time_ns,
		CASE WHEN min(op) = max(op) THEN min(op) ELSE 'launch' END AS op,
		min(pid) AS pid, min(comm) AS comm, min(cgroup_id) AS cgroup_id
	FROM event_part WHERE class = 'launch' GROUP BY process) AS all_of
LEFT JOIN (SELECT process, sum(launches) AS n FROM kernel_second JOIN kernel ON kernel.id = kernel_second.kernel
	GROUP BY process) AS named USING(process)
WHERE all_of.n > coalesce(named.n, 0);
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
CREATE VIEW cuda_totals AS
SELECT node, cgroup_id, op, kernel_name, sum(n) AS calls, sum(total_ns) AS total_ns, max(max_ns) AS max_ns
FROM cuda_event_part
GROUP BY node, cgroup_id, op, kernel_name;
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
CREATE VIEW containers AS
SELECT DISTINCT (cgroup.id | node.id) & ~(cgroup.id & node.id) AS cgroup_id, node.name AS node,
	coalesce(nullif(c.container_id, ''), CASE WHEN c.id IS NULL AND instr(cgroup.text, '/') THEN (
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
PRAGMA application_id=1129663568;
PRAGMA user_version=5;
BEGIN;
INSERT INTO node VALUES(5976854720629402059,'demo');
INSERT INTO string VALUES(30134389650190244,'/data/file1');
INSERT INTO string VALUES(312059008702225301,'mv');
INSERT INTO string VALUES(316411975237461137,'tr');
INSERT INTO string VALUES(319240468900466260,'rm');
INSERT INTO string VALUES(738696421259451714,'/data/file2');
INSERT INTO string VALUES(859123922530238060,'/data/file3');
INSERT INTO string VALUES(1071215057212316947,'migration/1');
INSERT INTO string VALUES(1141717553771274870,'ffi_call');
INSERT INTO string VALUES(1163845698079532968,'_ctypes_callproc');
INSERT INTO string VALUES(1237655590901713637,'/data/file4');
INSERT INTO string VALUES(1473296087163474831,'/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so');
INSERT INTO string VALUES(1517482141580655420,'interrupts');
INSERT INTO string VALUES(1577515565914510980,'irq');
INSERT INTO string VALUES(1580054723884762889,'kworker/0:1H');
INSERT INTO string VALUES(1595110494507543272,'Gpu._transfer');
INSERT INTO string VALUES(1699679245916245563,'/usr/lib/python3.11/__pycache__/gettext.cpython-311.pyc');
INSERT INTO string VALUES(2091827632023980375,'load_batch');
INSERT INTO string VALUES(2470162003563262115,'kworker/1:1H-k');
INSERT INTO string VALUES(2556890877483936020,'/usr/bin/python3.11');
INSERT INTO string VALUES(2729471282652031382,'qemu-system-x8');
INSERT INTO string VALUES(3002390674318458134,'python3');
INSERT INTO string VALUES(3156862274087921365,'memfd:sealed-91');
INSERT INTO string VALUES(3408544620645800303,'_check');
INSERT INTO string VALUES(3470007782949912747,'(flush)');
INSERT INTO string VALUES(3571530258176230758,'/data/file5');
INSERT INTO string VALUES(3616391685742555088,'train_step');
INSERT INTO string VALUES(3638431646494446160,'load_batch.<locals>.<listcomp>.<genexpr>');
INSERT INTO string VALUES(3785998470048903569,'vda');
INSERT INTO string VALUES(3978398635092799668,'/tmp/culprit-demo-x/simgpu.py');
INSERT INTO string VALUES(4090326166373118053,'/usr/lib/libpython3.11.so.1.0');
INSERT INTO string VALUES(4109093780844411191,'/data/file6');
INSERT INTO string VALUES(4180836969373691133,'/data/file7');
INSERT INTO string VALUES(4195031565385855933,'kworker/1:0');
INSERT INTO string VALUES(4241074738790849167,'CPU contention: metrics-agent had the CPU that python3 needed');
INSERT INTO string VALUES(4546132480874256032,'kworker/u8:2');
INSERT INTO string VALUES(4669412623924275194,'rcu_preempt');
INSERT INTO string VALUES(4692112599686379897,'sed');
INSERT INTO string VALUES(4931619760910658572,'memfd:sealed-9');
INSERT INTO string VALUES(5018802332056549951,'Gpu.sync');
INSERT INTO string VALUES(5077411360058609778,'/data/file8');
INSERT INTO string VALUES(5110532774887191082,'task9');
INSERT INTO string VALUES(5167262355575530584,'kworker/1:0-vi');
INSERT INTO string VALUES(5173585097192327977,'kworker/1:0-ev');
INSERT INTO string VALUES(5177380061576341343,'kworker/1:0-mm');
INSERT INTO string VALUES(5566008569556000431,'task10');
INSERT INTO string VALUES(5567702054071908518,'/data/file11');
INSERT INTO string VALUES(5653281665901943911,'gone');
INSERT INTO string VALUES(5720275878074777546,'/data/file12');
INSERT INTO string VALUES(5771676685692370300,'/data/file13');
INSERT INTO string VALUES(5787726695638964485,'Gpu.launch');
INSERT INTO string VALUES(5964467144763437195,'load_batch.<locals>.<listcomp>');
INSERT INTO string VALUES(6099188867896505786,'/data/file14');
INSERT INTO string VALUES(6227091708404437166,'culprit');
INSERT INTO string VALUES(6287733346359140521,'/data/file15');
INSERT INTO string VALUES(6319061714440602879,'/');
INSERT INTO string VALUES(6322535673855719743,'Gpu.copy_to_device');
INSERT INTO string VALUES(6600552532294742624,'/data/file16');
INSERT INTO string VALUES(6629266934648311211,'kworker/u8:2-e');
INSERT INTO string VALUES(6662322183669104636,'mkdir');
INSERT INTO string VALUES(6697521990253555537,'/data/file17');
INSERT INTO string VALUES(6754257176954355942,'kdamond.0');
INSERT INTO string VALUES(6816538909542852577,'/data/file18');
INSERT INTO string VALUES(6852794404484811078,'/data/file19');
INSERT INTO string VALUES(7008318553701655487,'(other)');
INSERT INTO string VALUES(7311698998486568921,'/usr/lib/python3.11/lib-dynload/_bz2.cpython-311-x86_64-linux-gnu.so');
INSERT INTO string VALUES(7347990519673328018,'');
INSERT INTO string VALUES(7596069841100838432,'/tmp/culprit-demo-x/libcudart.so.13');
INSERT INTO string VALUES(7630044378109422925,'/data/file20');
INSERT INTO string VALUES(7716540502426279197,'metrics-agent');
INSERT INTO string VALUES(7757505319449152842,'/usr/lib/python3.11/__pycache__/argparse.cpython-311.pyc');
INSERT INTO string VALUES(7911049223861139482,'/data/file21');
INSERT INTO string VALUES(8026175289672431205,'Gpu.copy_to_host');
INSERT INTO string VALUES(8463368349700101057,'/data/file22');
INSERT INTO string VALUES(8610795659123068501,'<module>');
INSERT INTO string VALUES(8628225267001866085,'/usr/bin/python3 /tmp/culprit-demo-x/train.py --seconds=120');
INSERT INTO string VALUES(8649608983412087447,'qemu-system-x86');
INSERT INTO string VALUES(8849087090207377156,'/data/file23');
INSERT INTO string VALUES(8859006581588775315,'cat');
INSERT INTO string VALUES(8965202940846811067,'/data/file24');
INSERT INTO string VALUES(8996617264447008140,'(metadata)');
INSERT INTO string VALUES(9008164294002921407,'/data/file25');
INSERT INTO string VALUES(9056973841757373688,'grep');
INSERT INTO string VALUES(9092809427238453112,'/data/file26');
INSERT INTO string VALUES(9142756905783158675,'/tmp/culprit-demo-x/train.py');
INSERT INTO string VALUES(9207676090404096125,'PyCFuncPtr_call');
INSERT INTO run VALUES(1,5976854720629402059,1794825004481075283,1794825017566439389,1794753858848949530,'6d63a2e5-161d-4a51-aeb5-c67cb89188ae','0.1.0','6.18.44-fc-v490','','session',2,1000000,0,1002,1663);
INSERT INTO clock VALUES(1,71146633632195,1794825005486414744);
INSERT INTO clock VALUES(1,71156641055208,1794825015490684786);
INSERT INTO process VALUES(1,1,22217,1794825002211349573,22212,3002390674318458134,8628225267001866085,2556890877483936020,8463368349700101057,'3.11','',1794825017492048912);
INSERT INTO container VALUES(3981241259832670389,'','','','','','','','','',0,'/process_api/fb682012c9a39b8845630576fdea8ca4',8463368349700101057,143811,1794825002211349573,1794825015490658858);
INSERT INTO container VALUES(5688380306129052406,'','','','','','','','','',0,'/process_api/897848e8f7e286a871c4b1c0fff20a3a',6099188867896505786,144707,1794825005482581725,1794825005482581725);
INSERT INTO process_container VALUES(1,1794825002211349573,3981241259832670389,8463368349700101057);
INSERT INTO cgroup_container VALUES(6099188867896505786,5688380306129052406);
INSERT INTO cgroup_container VALUES(8463368349700101057,3981241259832670389);
INSERT INTO disk_user_second VALUES(1,1794825009485619619,266338304,54,1580054723884762889,7347990519673328018,32,266240);
INSERT INTO disk_user_second VALUES(1,1794825010486457230,266338304,54,1580054723884762889,7347990519673328018,19,23240704);
INSERT INTO thread VALUES(1,1,22217,3002390674318458134,1794825004645418113,1794825017492048912);
INSERT INTO op VALUES(2077024389504897238,'cudaMemcpyAsync','libcudart.so','copy');
INSERT INTO op VALUES(3809840992513521489,'(between calls)','','gap');
INSERT INTO op VALUES(5810789964041291922,'cudaLaunchKernel','libcudart.so','launch');
INSERT INTO op VALUES(6857912257604505970,'cudaStreamSynchronize','libcudart.so','sync');
INSERT INTO frame VALUES(-8954312876699905091,'python',3616391685742555088,9142756905783158675,23);
INSERT INTO frame VALUES(-8851246210626822234,'python',2091827632023980375,9142756905783158675,13);
INSERT INTO frame VALUES(-8084767128533580602,'python',5964467144763437195,9142756905783158675,13);
INSERT INTO frame VALUES(-7142937985377265546,'python',8026175289672431205,3978398635092799668,65);
INSERT INTO frame VALUES(-5527243002750290256,'python',5787726695638964485,3978398635092799668,53);
INSERT INTO frame VALUES(-3977480944509711743,'python',8610795659123068501,9142756905783158675,47);
INSERT INTO frame VALUES(-3846921383225882597,'native',1141717553771274870,30134389650190244,0);
INSERT INTO frame VALUES(-3098162152732939188,'python',3616391685742555088,9142756905783158675,17);
INSERT INTO frame VALUES(-1706862778134351888,'python',6322535673855719743,3978398635092799668,61);
INSERT INTO frame VALUES(-1242323194874263803,'native',9207676090404096125,1473296087163474831,0);
INSERT INTO frame VALUES(-244398488314419458,'python',3616391685742555088,9142756905783158675,24);
INSERT INTO frame VALUES(424006303348587603,'python',5018802332056549951,3978398635092799668,72);
INSERT INTO stack VALUES(-8864721846829701804,0,5431930499332288324);
INSERT INTO stack VALUES(-7326751939443938747,0,-5527243002750290256);
INSERT INTO stack VALUES(-7021320972622362669,0,-5527243002750290256);
INSERT INTO stack VALUES(-6029798865878933295,0,-5527243002750290256);
INSERT INTO stack VALUES(-5674912159108210385,0,7426435169113957262);
INSERT INTO stack VALUES(-5638959809280815193,0,-8084767128533580602);
INSERT INTO stack VALUES(-4011233256911963712,0,5431930499332288324);
INSERT INTO stack VALUES(-2033972316987864017,4,424006303348587603);
INSERT INTO stack VALUES(-1935555796272264935,0,424006303348587603);
INSERT INTO stack VALUES(-769319758130791339,4,-5527243002750290256);
INSERT INTO stack VALUES(-609090923408785890,4,-5527243002750290256);
INSERT INTO stack VALUES(1700341437410259341,4,-5527243002750290256);
INSERT INTO stack_frame VALUES(-8864721846829701804,0,5431930499332288324);
INSERT INTO stack_frame VALUES(-8864721846829701804,1,-1706862778134351888);
INSERT INTO stack_frame VALUES(-8864721846829701804,2,-8954312876699905091);
INSERT INTO stack_frame VALUES(-8864721846829701804,3,-3977480944509711743);
INSERT INTO stack_frame VALUES(-7326751939443938747,0,-5527243002750290256);
INSERT INTO stack_frame VALUES(-7326751939443938747,1,-244398488314419458);
INSERT INTO stack_frame VALUES(-7326751939443938747,2,-3977480944509711743);
INSERT INTO stack_frame VALUES(-7021320972622362669,0,-5527243002750290256);
INSERT INTO stack_frame VALUES(-7021320972622362669,1,2167400526254041406);
INSERT INTO stack_frame VALUES(-7021320972622362669,2,-3977480944509711743);
INSERT INTO stack_frame VALUES(-6029798865878933295,0,-5527243002750290256);
INSERT INTO stack_frame VALUES(-6029798865878933295,1,5650812446135354406);
INSERT INTO op_second VALUES(1,2077024389504897238,1794825005482581725,180,180,0,288000360,979912,52227,960563,0,0,0,0,19349,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,x'16411715180c19311a111b021c061d031e02200124012601');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825006483207466,218,218,0,348800436,994904,52227,994904,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'1662170a182219361a0d1b071c012101');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825007483928254,218,218,0,348800436,1062198,52227,1046896,0,0,15302,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'165c170c182319261a181b071c061d021e012401');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825008484438705,217,217,0,348800432,1017061,52227,1004082,0,0,12979,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'1501165c170d183119281a091b061c031d0221012401');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825009485619619,219,219,0,348800440,902197,52227,902197,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'16681708185019151a041c011d01');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825010486457230,164,164,0,262400328,12777135,4024723,760973,0,0,7841,0,12008321,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'163b170a1826192d1a041b041f013f03');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825011487021571,168,168,0,268800336,748999,4024723,748999,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'1640170c1828192b1a041b041d01');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825012487404222,160,160,0,256000320,8736131,4024723,735858,0,0,6390,0,7993883,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'163117111833191e1a061b021c021d013f02');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825013487743965,162,162,0,259200324,4804057,4024723,814526,0,0,0,0,3989531,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'1635170b182019221a121b031c071d021e013f01');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825014488979435,216,216,0,345600432,981274,4024723,981274,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'1661170a182f19241a0c1b041c081d02');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825015490004738,218,218,0,348800436,1082405,4024723,1062946,0,0,19459,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'16521716181d192e1a121b0a1c0a2601');
INSERT INTO op_second VALUES(1,2077024389504897238,1794825016490637351,214,214,0,342400428,1017301,4024723,1017301,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,x'164c171d180c193f1a1b1b021c05');
INSERT INTO blame_second VALUES(1,1794825005482581725,-1,1,1517482141580655420,114832);
INSERT INTO blame_second VALUES(1,1794825005482581725,1,1,5110532774887191082,1528488);
INSERT INTO blame_second VALUES(1,1794825005482581725,15,1,4669412623924275194,49473);
INSERT INTO blame_second VALUES(1,1794825005482581725,76,1,6754257176954355942,1192128);
INSERT INTO blame_second VALUES(1,1794825005482581725,1629,1,4931619760910658572,555283);
INSERT INTO blame_second VALUES(1,1794825005482581725,8606,1,6629266934648311211,47841);
INSERT INTO blame_second VALUES(1,1794825005482581725,16962,1,2729471282652031382,9134740);
INSERT INTO blame_second VALUES(1,1794825005482581725,22212,1,6227091708404437166,5650354);
INSERT INTO blame_second VALUES(1,1794825005482581725,28667,1,4931619760910658572,360245);
INSERT INTO blame_second VALUES(1,1794825005482581725,32488,1,5177380061576341343,31777);
INSERT INTO blame_second VALUES(1,1794825006483207466,-1,1,1517482141580655420,34061);
INSERT INTO blame_second VALUES(1,1794825006483207466,1,1,5110532774887191082,4387579);
INSERT INTO blamed VALUES(1,1794825005482581725,1,5110532774887191082,6319061714440602879);
INSERT INTO blamed VALUES(1,1794825005482581725,15,4669412623924275194,6319061714440602879);
INSERT INTO blamed VALUES(1,1794825007483928254,21,1071215057212316947,6319061714440602879);
INSERT INTO blamed VALUES(1,1794825008484438705,44,2470162003563262115,6319061714440602879);
INSERT INTO blamed VALUES(1,1794825005482581725,76,6754257176954355942,6319061714440602879);
INSERT INTO blamed VALUES(1,1794825005482581725,1629,4931619760910658572,6099188867896505786);
INSERT INTO blamed VALUES(1,1794825005482581725,8606,6629266934648311211,6319061714440602879);
INSERT INTO blamed VALUES(1,1794825005482581725,16962,2729471282652031382,6099188867896505786);
INSERT INTO blamed VALUES(1,1794825005482581725,22212,6227091708404437166,8463368349700101057);
INSERT INTO blamed VALUES(1,1794825010486457230,22262,7716540502426279197,8463368349700101057);
INSERT INTO blamed VALUES(1,1794825014488979435,22262,7716540502426279197,8463368349700101057);
INSERT INTO blamed VALUES(1,1794825017490891312,22290,5653281665901943911,6099188867896505786);
INSERT INTO call VALUES(1,1,2077024389504897238,NULL,1794825004651004170,52227,2,0,0,3200000,0,1,0,0,139912673591162,4933534691490607928,52227,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0);
INSERT INTO call VALUES(2,1,5810789964041291922,NULL,1794825004651097588,0,2,0,0,0,0,4096,0,0,139912673591162,-609090923408785890,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(3,1,6857912257604505970,NULL,1794825004651406135,4947370,34,0,0,0,0,0,0,0,139912673591162,-2033972316987864017,4881694,0,0,34620,0,31056,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(4,1,3809840992513521489,2077024389504897238,1794825004656353505,3863384,32,0,0,0,0,0,0,0,0,-8864721846829701804,3791717,0,0,20120,0,51547,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(5,1,6857912257604505970,NULL,1794825004660511776,5022902,32,0,0,0,0,0,0,0,139912673591162,-2033972316987864017,4537714,0,0,45156,402987,37045,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(6,1,3809840992513521489,2077024389504897238,1794825004665534678,3849724,32,0,0,0,0,0,0,0,0,-8864721846829701804,3795906,0,0,18817,0,35001,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(7,1,6857912257604505970,NULL,1794825004669678578,5023963,32,0,0,0,0,0,0,0,139912673591162,-2033972316987864017,4955674,0,0,31366,0,36923,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(8,1,3809840992513521489,2077024389504897238,1794825004674702541,3882653,32,0,0,0,0,0,0,0,0,-8864721846829701804,3778379,0,0,32508,0,71766,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(9,1,6857912257604505970,NULL,1794825004678865849,5039026,32,0,0,0,0,0,0,0,139912673591162,-2033972316987864017,4674795,0,0,40522,0,323709,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(10,1,3809840992513521489,2077024389504897238,1794825004683904875,5875976,32,0,0,0,0,0,0,0,0,-8864721846829701804,3784327,0,0,35283,0,2056366,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(11,1,6857912257604505970,NULL,1794825004690056469,5044995,32,0,0,0,0,0,0,0,139912673591162,-2033972316987864017,3193203,0,0,29262,0,1822530,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(12,1,3809840992513521489,2077024389504897238,1794825004695101464,3970944,32,0,0,0,0,0,0,0,0,-8864721846829701804,3864225,0,0,24757,16034,65928,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call_culprit VALUES(3,16962,1,8649608983412087447,31056);
INSERT INTO call_culprit VALUES(4,16962,1,8649608983412087447,34151);
INSERT INTO call_culprit VALUES(4,15,1,4669412623924275194,17396);
INSERT INTO call_culprit VALUES(5,15,1,4669412623924275194,8823);
INSERT INTO call_culprit VALUES(5,16962,1,8649608983412087447,28222);
INSERT INTO call_culprit VALUES(6,16962,1,8649608983412087447,35001);
INSERT INTO call_culprit VALUES(7,15,1,4669412623924275194,6259);
INSERT INTO call_culprit VALUES(7,16962,1,8649608983412087447,30664);
INSERT INTO call_culprit VALUES(8,28667,1,3156862274087921365,17766);
INSERT INTO call_culprit VALUES(8,1629,1,3156862274087921365,27441);
INSERT INTO call_culprit VALUES(8,16962,1,8649608983412087447,26559);
INSERT INTO call_culprit VALUES(9,16962,1,8649608983412087447,323709);
INSERT INTO chain VALUES(-9156615528624802749,1);
INSERT INTO chain VALUES(-9065249997243696071,1);
INSERT INTO chain VALUES(-8987561744873181166,1);
INSERT INTO chain VALUES(-8850227417710142176,1);
INSERT INTO chain VALUES(-7954181092491472151,1);
INSERT INTO chain VALUES(-7536385350678774830,1);
INSERT INTO chain VALUES(-7231624937429987722,1);
INSERT INTO chain VALUES(-6931967509086477072,1);
INSERT INTO chain VALUES(-6593739760993951579,1);
INSERT INTO chain VALUES(-6493305970235843233,1);
INSERT INTO chain VALUES(-5953706252462459980,1);
INSERT INTO chain VALUES(-4470310190808707165,1);
INSERT INTO hop VALUES(-9156615528624802749,0,22217,22217,3002390674318458134,'self','preempted','nobody','',4931619760910658572,1,1629,-1,0,0,0,-5638959809280815193,-1,7347990519673328018);
INSERT INTO hop VALUES(-9065249997243696071,0,22217,22217,3002390674318458134,'self','preempted','nobody','',4931619760910658572,1,28667,-1,0,0,0,-5674912159108210385,-1,7347990519673328018);
INSERT INTO hop VALUES(-8987561744873181166,0,22217,22217,3002390674318458134,'self','preempted','nobody','',6227091708404437166,1,22212,-1,0,0,0,-7021320972622362669,-1,7347990519673328018);
INSERT INTO hop VALUES(-8850227417710142176,0,22217,22217,3002390674318458134,'self','preempted','nobody','',5173585097192327977,1,32488,-1,0,0,0,-1935555796272264935,-1,7347990519673328018);
INSERT INTO hop VALUES(-7954181092491472151,0,22217,22217,3002390674318458134,'self','preempted','nobody','',5173585097192327977,1,32488,-1,0,0,0,-5674912159108210385,-1,7347990519673328018);
INSERT INTO hop VALUES(-7536385350678774830,0,22217,22217,3002390674318458134,'self','preempted','nobody','',6227091708404437166,1,22212,-1,0,0,0,-5674912159108210385,-1,7347990519673328018);
INSERT INTO hop VALUES(-7231624937429987722,0,22217,22217,3002390674318458134,'self','preempted','nobody','',2729471282652031382,1,16962,-1,0,0,0,-5674912159108210385,-1,7347990519673328018);
INSERT INTO hop VALUES(-6931967509086477072,0,22217,22217,3002390674318458134,'self','run','nobody','',7347990519673328018,0,0,-1,0,0,0,0,-1,7347990519673328018);
INSERT INTO hop VALUES(-6593739760993951579,0,22217,22217,3002390674318458134,'self','preempted','nobody','',2729471282652031382,1,16962,-1,0,0,0,6720139890573481003,-1,7347990519673328018);
INSERT INTO hop VALUES(-6493305970235843233,0,22217,22217,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,22292,-1,0,0,0,-6029798865878933295,-1,7347990519673328018);
INSERT INTO hop VALUES(-5953706252462459980,0,22217,22217,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,22290,-1,0,0,0,-5674912159108210385,-1,7347990519673328018);
INSERT INTO hop VALUES(-4470310190808707165,0,22217,22217,3002390674318458134,'self','preempted','nobody','',7716540502426279197,1,22262,-1,0,0,0,-8864721846829701804,-1,7347990519673328018);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-9156615528624802749,35593,1,35593);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-9065249997243696071,118135,3,47771);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-8987561744873181166,300214,1,300214);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-7536385350678774830,2886405,6,2042626);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-7231624937429987722,1322939,20,379282);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-4467216638314464304,551108,6,315678);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-3080372553693835233,295729,5,140097);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-2231963871061875423,24977,1,24977);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-1162932360477266767,1379353,1,1379353);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,-574374514564964743,317160,1,317160);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,2229645447493603623,20000,1,20000);
INSERT INTO wait_second VALUES(1,1794825005482581725,3809840992513521489,5569070857671517250,20230,1,20230);
INSERT INTO sample_second VALUES(1,1794825005482581725,3809840992513521489,-7021320972622362669,'run',1,17060436);
INSERT INTO sample_second VALUES(1,1794825005482581725,3809840992513521489,-6029798865878933295,'run',1,5228857);
INSERT INTO sample_second VALUES(1,1794825005482581725,3809840992513521489,-5674912159108210385,'run',24,203577910);
INSERT INTO sample_second VALUES(1,1794825005482581725,3809840992513521489,-5638959809280815193,'run',5,59128584);
INSERT INTO sample_second VALUES(1,1794825005482581725,3809840992513521489,-4011233256911963712,'run',1,13295739);
INSERT INTO sample_second VALUES(1,1794825005482581725,6857912257604505970,-1935555796272264935,'run',41,382525109);
INSERT INTO sample_second VALUES(1,1794825006483207466,3809840992513521489,-7326751939443938747,'fault',1,10101011);
INSERT INTO sample_second VALUES(1,1794825006483207466,3809840992513521489,-7021320972622362669,'fault',1,10099588);
INSERT INTO sample_second VALUES(1,1794825006483207466,3809840992513521489,-6029798865878933295,'run',2,15522091);
INSERT INTO sample_second VALUES(1,1794825006483207466,3809840992513521489,-5674912159108210385,'run',37,365562961);
INSERT INTO sample_second VALUES(1,1794825006483207466,3809840992513521489,-5638959809280815193,'run',4,39735402);
INSERT INTO sample_second VALUES(1,1794825006483207466,6857912257604505970,-1935555796272264935,'run',53,524689083);
INSERT INTO idle_second VALUES(1,1794825005482581725,-9156615528624802749,35593,1,35593);
INSERT INTO idle_second VALUES(1,1794825005482581725,-9065249997243696071,25968,1,25968);
INSERT INTO idle_second VALUES(1,1794825005482581725,-7536385350678774830,2284253,3,2042626);
INSERT INTO idle_second VALUES(1,1794825005482581725,-7231624937429987722,1034182,12,379282);
INSERT INTO idle_second VALUES(1,1794825005482581725,-6931967509086477072,138032292,35,5831811);
INSERT INTO idle_second VALUES(1,1794825005482581725,-4467216638314464304,31126,1,31126);
INSERT INTO idle_second VALUES(1,1794825005482581725,-3080372553693835233,199515,3,140097);
INSERT INTO idle_second VALUES(1,1794825005482581725,-574374514564964743,317160,1,317160);
INSERT INTO idle_second VALUES(1,1794825005482581725,5569070857671517250,20230,1,20230);
INSERT INTO idle_second VALUES(1,1794825005482581725,8702947451001508906,34101,1,34101);
INSERT INTO idle_second VALUES(1,1794825006483207466,-9065249997243696071,185716,4,48141);
INSERT INTO idle_second VALUES(1,1794825006483207466,-7536385350678774830,2577350,5,1802301);
INSERT INTO call_wait VALUES(35,7146947836553386132,4004433);
INSERT INTO call_wait VALUES(36,7146947836553386132,3979916);
INSERT INTO call_wait VALUES(37,1806658906908582402,4002781);
INSERT INTO call_wait VALUES(38,7146947836553386132,3998544);
INSERT INTO call_wait VALUES(39,7146947836553386132,3994949);
INSERT INTO call_wait VALUES(40,7146947836553386132,3995770);
INSERT INTO call_wait VALUES(41,7146947836553386132,3996010);
INSERT INTO call_wait VALUES(42,7146947836553386132,3999365);
INSERT INTO call_wait VALUES(43,7146947836553386132,4013486);
INSERT INTO call_wait VALUES(44,3740648933736222212,3997793);
INSERT INTO call_wait VALUES(45,3740648933736222212,3948049);
INSERT INTO call_wait VALUES(47,1806658906908582402,4001468);
INSERT INTO step VALUES(1,0,1794825004651406135,9105641,4093204,51547,13520,4947370,0,0,3863384);
INSERT INTO step VALUES(1,88,1794825005469610617,9136106,4030382,72368,9233,5024123,0,0,3845989);
INSERT INTO step VALUES(1,197,1794825006470932605,9074284,4014378,0,7611,5052295,0,0,3761624);
INSERT INTO step VALUES(1,306,1794825007470592741,9016859,3990192,0,8302,5018365,0,0,3716056);
INSERT INTO step VALUES(1,415,1794825008475338091,9350815,4281645,0,9383,5059787,0,0,3955601);
INSERT INTO step VALUES(1,524,1794825009475358031,9150747,4093966,0,8041,5048740,0,0,3825588);
INSERT INTO step VALUES(1,525,1794825009484508778,16579865,4085232,4004433,10416,8479784,0,0,3792759);
INSERT INTO step VALUES(1,527,1794825009510951195,14155052,4149087,3979916,9384,6016665,0,0,3838076);
INSERT INTO step VALUES(1,531,1794825009558027444,15041074,4090451,3998544,9183,6942896,0,0,3803706);
INSERT INTO step VALUES(1,537,1794825009629989032,15124588,4123078,3994949,9364,6997197,0,0,3830625);
INSERT INTO step VALUES(1,541,1794825009678531252,14529166,4075639,3996010,9063,6448454,0,0,3790506);
INSERT INTO step VALUES(1,543,1794825009702676295,14362420,4063240,3999365,9625,6290190,0,0,3783325);
INSERT INTO step_second VALUES(1,1794825005482581725,88,818204482,11775827,365839583,9653092,914507,441797300,0,0,350573330,x'44534505');
INSERT INTO step_second VALUES(1,1794825006483207466,109,1001321988,12031476,444415940,6654838,996526,549254684,0,0,421495602,x'446b4502');
INSERT INTO step_second VALUES(1,1794825007483928254,109,999660136,10718681,449449634,29063,1061507,549119932,0,0,420298131,x'446c4501');
INSERT INTO step_second VALUES(1,1794825008484438705,109,1004745350,12958890,450338029,4034527,1019605,549353189,0,0,425540257,x'446945034601');
INSERT INTO step_second VALUES(1,1794825009485619619,109,1000019940,9517371,449382529,22152,899914,549715345,0,0,420946506,x'446d');
INSERT INTO step_second VALUES(1,1794825010486457230,82,993625675,16579865,329794688,230837827,12776493,420216667,0,0,470862733,x'44154514461a470f');
INSERT INTO step_second VALUES(1,1794825011487021571,84,1004937215,15146381,333128005,231867884,749340,439191986,0,0,478772068,x'4411451a461e470b');
INSERT INTO step_second VALUES(1,1794825012487404222,80,996116445,16955561,324912473,275849399,8735360,386619213,0,0,475083562,x'4416450d461647164801');
INSERT INTO step_second VALUES(1,1794825013487743965,81,998970044,15993666,333902945,247957714,4805087,412304298,0,0,483523472,x'4413451246184714');
INSERT INTO step_second VALUES(1,1794825014488979435,108,1004920320,12434973,457709934,5465467,980865,540764054,0,0,433190171,x'430144664505');
INSERT INTO step_second VALUES(1,1794825015490004738,109,1001940294,10046455,452563791,38889,1081503,548256111,0,0,422657107,x'446d');
INSERT INTO step_second VALUES(1,1794825016490637351,107,1000076037,11219928,460871388,29593,1017431,538157625,0,0,431225963,x'44694502');
INSERT INTO host_event VALUES(1,1794825017492049843,1794825017492049843,'exit',22217,3002390674318458134,0,7347990519673328018,7347990519673328018,1,0,0);
INSERT INTO system_second VALUES(1,1794825005482581725,99.50738916256158,0.0,0.49261083743842365,3,0,2.42,24684100,23816792,0,0,0,3,67919,0,856);
INSERT INTO system_second VALUES(1,1794825006483207466,78.1725888324873,0.0,0.0,2,0,2.38,24684100,23819536,0,0,0,0,23755,0,0);
INSERT INTO system_second VALUES(1,1794825007483928254,51.256281407035175,0.0,0.0,2,0,2.38,24684100,23819152,0,0,0,0,302,0,0);
INSERT INTO system_second VALUES(1,1794825008484438705,52.02020202020202,0.0,0.0,2,0,2.38,24684100,23819732,0,0,0,0,13485,0,0);
INSERT INTO system_second VALUES(1,1794825009485619619,51.515151515151516,0.0,0.0,5,0,2.38,24684100,23819372,0,0,0,0,380,0,23);
INSERT INTO system_second VALUES(1,1794825010486457230,62.0,0.0,0.0,3,0,2.38,24684100,24208296,0,0,0,5,834644,0,1052);
INSERT INTO system_second VALUES(1,1794825011487021571,50.5,0.0,0.0,3,0,2.35,24684100,24210168,0,0,0,0,992360,0,0);
INSERT INTO system_second VALUES(1,1794825012487404222,51.0,0.0,0.0,3,0,2.35,24684100,24212692,0,0,0,0,992405,0,0);
INSERT INTO system_second VALUES(1,1794825013487743965,50.5,0.0,0.0,3,0,2.35,24684100,24217900,0,0,0,0,988466,0,0);
INSERT INTO system_second VALUES(1,1794825014488979435,50.5,0.0,0.0,2,0,2.35,24684100,24223188,0,0,0,0,6553,0,0);
INSERT INTO system_second VALUES(1,1794825015490004738,50.753768844221106,0.0,0.0,2,0,2.35,24684100,24224596,0,0,0,0,172,0,0);
INSERT INTO system_second VALUES(1,1794825016490637351,50.0,0.0,0.0,2,0,2.24,24684100,24224952,0,0,0,0,75,0,0);
INSERT INTO core_second VALUES(1,1794825005482581725,0,100.0,NULL);
INSERT INTO core_second VALUES(1,1794825005482581725,1,100.0,NULL);
INSERT INTO core_second VALUES(1,1794825006483207466,0,55.55555555555556,NULL);
INSERT INTO core_second VALUES(1,1794825006483207466,1,100.0,NULL);
INSERT INTO core_second VALUES(1,1794825007483928254,0,3.0303030303030303,NULL);
INSERT INTO core_second VALUES(1,1794825007483928254,1,100.0,NULL);
INSERT INTO core_second VALUES(1,1794825008484438705,0,2.0408163265306123,NULL);
INSERT INTO core_second VALUES(1,1794825008484438705,1,100.0,NULL);
INSERT INTO core_second VALUES(1,1794825009485619619,0,2.0408163265306123,NULL);
INSERT INTO core_second VALUES(1,1794825009485619619,1,100.0,NULL);
INSERT INTO core_second VALUES(1,1794825010486457230,0,24.0,NULL);
INSERT INTO core_second VALUES(1,1794825010486457230,1,100.0,NULL);
INSERT INTO incident VALUES(1,1,'cpu-contention',22217,3002390674318458134,22262,7716540502426279197,4241074738790849167,'HIGH',1794825009485992762,1794825013487743965,1999064504);
INSERT INTO kernel VALUES(1,1,4096,7347990519673328018,'',30134389650190244);
INSERT INTO kernel_second VALUES(1,1794825005482581725,5040);
INSERT INTO kernel_second VALUES(1,1794825010486457230,29008);
INSERT INTO kernel_second VALUES(1,1794825015490004738,25872);
INSERT INTO kernel_second VALUES(1,1794825017524043430,11984);
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','file','ext4',266338304,18834,0,4090326166373118053,'submitter',22217,3002390674318458134,6319061714440602879,0,1,37,0,155648,37,18255518,640970,0,0,0,x'3102320d3309340d');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','file','ext4',266338304,10978245,2282466099,9092809427238453112,'submitter',22212,6227091708404437166,6319061714440602879,0,1,4,0,16384,4,1202562,351301,0,0,0,x'2f0130023101');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','file','ext4',266338304,18918,0,7757505319449152842,'submitter',22217,3002390674318458134,6319061714440602879,0,1,1,0,114688,1,733897,733897,0,0,0,x'3501');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','file','ext4',266338304,19044,0,1699679245916245563,'submitter',22217,3002390674318458134,6319061714440602879,0,1,1,0,24576,1,350269,350269,0,0,0,x'3101');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'write','metadata','',0,0,0,8996617264447008140,'submitter',22212,6227091708404437166,6319061714440602879,0,0,5,0,20480,5,331173,79478,0,0,0,x'25012804');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','file','ext4',266338304,322654,0,9008164294002921407,'submitter',22212,6227091708404437166,6319061714440602879,0,1,1,0,4096,1,313064,313064,0,0,0,x'3001');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','metadata','',0,0,0,8996617264447008140,'submitter',22217,5566008569556000431,6319061714440602879,0,0,2,0,8192,2,195950,113849,0,0,0,x'29012a01');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','file','ext4',266338304,21617,0,7311698998486568921,'submitter',22212,6227091708404437166,6319061714440602879,0,1,1,0,4096,1,158355,158355,0,0,0,x'2c01');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','file','ext4',266338304,247101,0,859123922530238060,'submitter',22217,5566008569556000431,6319061714440602879,0,1,2,0,8192,2,119126,70354,0,0,0,x'25012801');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'write','flush','',0,0,0,3470007782949912747,'submitter',22212,6227091708404437166,6319061714440602879,0,0,2,0,0,2,111446,71987,0,0,0,x'24012801');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'write','file','ext4',266338304,10955187,281627071,6816538909542852577,'dirtier',22212,6227091708404437166,6319061714440602879,0,0,1,0,4096,1,89322,89322,0,0,0,x'2901');
INSERT INTO io_second VALUES(1,1794825005482581725,266338304,3785998470048903569,'read','file','ext4',266338304,247312,0,1237655590901713637,'submitter',22217,3002390674318458134,6319061714440602879,0,1,1,0,4096,1,85587,85587,0,0,0,x'2901');
INSERT INTO io_request VALUES(1,1794825003657581270,351301,351301,4,0,266338304,3785998470048903569,0,70,'read',526080,357207312,4096,'file',266338304,10978245,2282466099,9092809427238453112,1712128,'submitter',22212,22212,6227091708404437166,22212,22212,0,0,0);
INSERT INTO io_request VALUES(1,1794825004480890619,313064,313064,4,0,266338304,3785998470048903569,0,74,'read',526080,20377112,4096,'file',266338304,322654,0,9008164294002921407,0,'submitter',22212,22212,6227091708404437166,22212,22212,0,0,0);
INSERT INTO io_request VALUES(1,1794825004581222601,350269,350269,4,0,266338304,3785998470048903569,0,104,'read',526080,2220832,24576,'file',266338304,19044,0,1699679245916245563,0,'submitter',22217,22217,3002390674318458134,22217,22217,0,0,0);
INSERT INTO io_request VALUES(1,1794825009145480063,386172,268728,4,0,266338304,3785998470048903569,0,40,'write',1060865,34078728,4096,'metadata',0,0,0,8996617264447008140,0,'submitter',8606,8606,4546132480874256032,8606,8606,0,0,0);
INSERT INTO io_request VALUES(1,1794825010260125482,154228,154228,4,0,266338304,3785998470048903569,0,52,'read',526080,22176632,4096,'file',266338304,333127,0,6697521990253555537,110592,'submitter',16962,16962,8649608983412087447,16962,16962,0,0,0);
INSERT INTO io_request VALUES(1,1794825014265659419,545082,545082,4,0,266338304,3785998470048903569,0,53,'write',1,171213168,4096,'file',266338304,10977311,1982246494,738696421259451714,0,'none',0,0,7347990519673328018,8606,8606,0,0,0);
INSERT INTO io_request VALUES(1,1794825014265659930,545082,545082,4,1,266338304,3785998470048903569,0,53,'write',1,171213176,4096,'file',266338304,10986900,2613963985,5077411360058609778,0,'none',0,0,7347990519673328018,8606,8606,0,0,0);
INSERT INTO io_request VALUES(1,1794825014265660060,545082,545082,4,2,266338304,3785998470048903569,0,53,'write',1,171213184,4096,'file',266338304,10986916,1269919741,7911049223861139482,0,'none',0,0,7347990519673328018,8606,8606,0,0,0);
INSERT INTO io_request VALUES(1,1794825017304064384,162235,162235,4,0,266338304,3785998470048903569,0,54,'read',526080,22505456,4096,'file',266338304,333397,0,3571530258176230758,4096,'submitter',22288,22288,6662322183669104636,22288,22288,0,0,0);
INSERT INTO loss VALUES(1,1794825005482581725,'missed_switch',1);
INSERT INTO loss VALUES(1,1794825005482581725,'lost_state',1);
INSERT INTO loss VALUES(1,1794825006483207466,'missed_switch',4);
INSERT INTO loss VALUES(1,1794825006483207466,'lost_state',2);
INSERT INTO loss VALUES(1,1794825007483928254,'missed_switch',3);
INSERT INTO loss VALUES(1,1794825008484438705,'missed_switch',4);
INSERT INTO loss VALUES(1,1794825009485619619,'missed_switch',3);
INSERT INTO loss VALUES(1,1794825010486457230,'missed_switch',5);
INSERT INTO loss VALUES(1,1794825011487021571,'missed_switch',5);
INSERT INTO loss VALUES(1,1794825012487404222,'missed_switch',4);
INSERT INTO loss VALUES(1,1794825013487743965,'missed_switch',2);
INSERT INTO loss VALUES(1,1794825014488979435,'missed_switch',4);
INSERT INTO account VALUES(1,1794825005482581725,10618,20,10598,0,20,8306808,13779057,827742553);
INSERT INTO account VALUES(1,1794825006483207466,12862,2,12860,0,2,8175523,2558200,1001260166);
INSERT INTO account VALUES(1,1794825007483928254,12862,5,12857,0,5,7361153,5442402,999602711);
INSERT INTO account VALUES(1,1794825008484438705,12802,2,12800,0,2,7207900,2694121,1004931887);
INSERT INTO account VALUES(1,1794825009485619619,12922,5,12917,0,5,7110466,6932454,999967291);
INSERT INTO account VALUES(1,1794825010486457230,9677,22,9655,0,22,6163049,7193667,1000464468);
INSERT INTO account VALUES(1,1794825011487021571,9911,18,9893,0,18,6113088,5949875,999898329);
INSERT INTO account VALUES(1,1794825012487404222,9441,33,9408,0,33,6006363,3117495,1001111156);
INSERT INTO account VALUES(1,1794825013487743965,9558,22,9536,0,22,6181711,5402306,999003323);
INSERT INTO account VALUES(1,1794825014488979435,12744,4,12740,0,4,7189745,3666240,1003159691);
INSERT INTO account VALUES(1,1794825015490004738,12861,4,12857,0,4,7252098,5141799,997074715);
INSERT INTO account VALUES(1,1794825016490637351,12627,3,12624,0,3,7127957,2397351,1005132209);
INSERT INTO cost_second VALUES(1,1794825005482581725,5050080,449010,0,18620,2261284,527814,0,630016,13779057,2000521192,0.8293699695034273,0.0);
INSERT INTO cost_second VALUES(1,1794825006483207466,6116208,543801,0,3756,1198243,313515,0,494528,2558200,2001251482,0.8181350593498273,0.0);
INSERT INTO cost_second VALUES(1,1794825007483928254,6116208,543801,0,10836,577540,112768,0,657536,5442402,2001441576,0.7355850990875988,0.0);
INSERT INTO cost_second VALUES(1,1794825008484438705,6116208,543801,0,7000,540891,0,0,479936,2694121,2001020902,0.7135795526037938,0.0);
INSERT INTO cost_second VALUES(1,1794825009485619619,6116208,543801,0,6509,443948,0,0,733120,6932454,2002361828,0.7109431372959633,0.0);
INSERT INTO cost_second VALUES(1,1794825010486457230,4601184,409098,0,27261,923650,201856,0,1031872,7193667,2001675222,0.6218940946654732,0.0);
INSERT INTO cost_second VALUES(1,1794825011487021571,4713408,419076,0,22734,768110,189760,0,85888,5949875,2001128682,0.6045781117838178,0.0);
INSERT INTO cost_second VALUES(1,1794825012487404222,4488960,399120,0,36192,863531,218560,0,84544,3117495,2000765302,0.6067936098184094,0.0);
INSERT INTO cost_second VALUES(1,1794825013487743965,4545072,404109,0,32315,929175,271040,0,14720,5402306,2000679486,0.6179611520243278,0.0);
INSERT INTO cost_second VALUES(1,1794825014488979435,6060096,538812,0,7482,583355,0,0,107136,3666240,2002470940,0.718087324653011,0.0);
INSERT INTO cost_second VALUES(1,1794825015490004738,6116208,543801,0,6700,585389,0,0,94848,5141799,2002050606,0.7238286563072023,0.0);
INSERT INTO cost_second VALUES(1,1794825016490637351,6003984,533823,0,7141,583009,0,0,65984,2397351,2001265226,0.712240027699357,0.0);
INSERT INTO coverage VALUES(1,7596069841100838432,'1fcc4db07059921b9a4674289f4127466b7043f8',10985491,111,0,0,0,1794825004645167001,'');
COMMIT;
