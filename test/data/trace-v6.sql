-- A trace as version 6 of the tables had it: its shape, and some rows of a recording.
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
	bytes INTEGER NOT NULL,
	kernel INTEGER NOT NULL
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
	hist BLOB NOT NULL,
	mapped INTEGER NOT NULL,
	map_ns INTEGER NOT NULL,
	map_max_ns INTEGER NOT NULL,
	map_hist BLOB NOT NULL,
	map_failed INTEGER NOT NULL,
	bounced INTEGER NOT NULL,
	iommu_maps INTEGER NOT NULL
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
	error INTEGER NOT NULL,
	map_ns INTEGER,
	bounced INTEGER NOT NULL,
	iommu_maps INTEGER NOT NULL,
	nvme_status INTEGER,
	nvme_retries INTEGER
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
	max(max_ns) AS max_ns, sum(slow) AS slow, sum(errors) AS errors, sum(mapped) AS mapped,
	sum(map_ns) AS map_ns, max(map_max_ns) AS map_max_ns, sum(bounced) AS bounced
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
	CASE WHEN op.class IN ('launch', 'fill', 'event') THEN nullif(sum(total_ns), 0)
		ELSE sum(total_ns) END AS total_ns,
	CASE WHEN op.class IN ('launch', 'fill', 'event') THEN nullif(max(max_ns), 0)
		ELSE max(max_ns) END AS max_ns,
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
PRAGMA user_version=6;
BEGIN;
INSERT INTO node VALUES(5976854720629402059,'demo');
INSERT INTO string VALUES(30134389650190244,'/usr/lib/x86_64-linux-gnu/libffi.so.8.1.2');
INSERT INTO string VALUES(319240468900466260,'rm');
INSERT INTO string VALUES(359519556171689896,'/data/file1');
INSERT INTO string VALUES(1071215057212316947,'migration/1');
INSERT INTO string VALUES(1141717553771274870,'ffi_call');
INSERT INTO string VALUES(1212875031801051742,'/data/file2');
INSERT INTO string VALUES(1473296087163474831,'/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so');
INSERT INTO string VALUES(1517482141580655420,'interrupts');
INSERT INTO string VALUES(1558663219267373551,'/tmp/culprit-demo-x/simgpu.py');
INSERT INTO string VALUES(1577515565914510980,'irq');
INSERT INTO string VALUES(2066298705649413388,'/usr/bin/python3 /tmp/culprit-demo-x/train.py --seconds=120');
INSERT INTO string VALUES(2305409497583650986,'gzip');
INSERT INTO string VALUES(2470162003563262115,'kworker/1:1H-k');
INSERT INTO string VALUES(2556890877483936020,'/usr/bin/python3.11');
INSERT INTO string VALUES(2571984220958579658,'/usr/lib/python3.11/__pycache__/locale.cpython-311.pyc');
INSERT INTO string VALUES(2735673795800851366,'/usr/lib/python3.11/ctypes/__pycache__/__init__.cpython-311.pyc');
INSERT INTO string VALUES(2800831210227448662,'ksoftirqd/1');
INSERT INTO string VALUES(2823513850182057761,'/tmp/culprit-demo-x/libcudart.so.13');
INSERT INTO string VALUES(3002390674318458134,'python3');
INSERT INTO string VALUES(3408544620645800303,'_check');
INSERT INTO string VALUES(3502093189648683188,'/tmp/culprit-demo-x/train.py');
INSERT INTO string VALUES(3600571479849137510,'task3');
INSERT INTO string VALUES(3616391685742555088,'train_step');
INSERT INTO string VALUES(3638431646494446160,'load_batch.<locals>.<listcomp>.<genexpr>');
INSERT INTO string VALUES(3652345259754747494,'/data/file4');
INSERT INTO string VALUES(3785998470048903569,'vda');
INSERT INTO string VALUES(3893584021652640492,'/data/file5');
INSERT INTO string VALUES(4090326166373118053,'/usr/lib/libpython3.11.so.1.0');
INSERT INTO string VALUES(4546135779409140665,'kworker/u8:4');
INSERT INTO string VALUES(4598031974726864919,'CPU contention: 8 processes had the CPU that python3 needed');
INSERT INTO string VALUES(4651622724621443602,'task6');
INSERT INTO string VALUES(4669412623924275194,'rcu_preempt');
INSERT INTO string VALUES(5110532774887191082,'task7');
INSERT INTO string VALUES(5566008569556000431,'task8');
INSERT INTO string VALUES(5653281665901943911,'gone');
INSERT INTO string VALUES(5787726695638964485,'Gpu.launch');
INSERT INTO string VALUES(6227091708404437166,'culprit');
INSERT INTO string VALUES(6319061714440602879,'/');
INSERT INTO string VALUES(6322535673855719743,'Gpu.copy_to_device');
INSERT INTO string VALUES(6549838725520575768,'/data/file9');
INSERT INTO string VALUES(6645044837682063607,'/usr/bin/gzip');
INSERT INTO string VALUES(7008318553701655487,'(other)');
INSERT INTO string VALUES(7347990519673328018,'');
INSERT INTO string VALUES(7714450847378232658,'/data/file10');
INSERT INTO string VALUES(7757505319449152842,'/usr/lib/python3.11/__pycache__/argparse.cpython-311.pyc');
INSERT INTO string VALUES(7882613540257882101,'kworker/1:1-ev');
INSERT INTO string VALUES(7886418400246549367,'kworker/1:1-mm');
INSERT INTO string VALUES(8026175289672431205,'Gpu.copy_to_host');
INSERT INTO string VALUES(8029646385961362942,'hwrng');
INSERT INTO string VALUES(8124849052967517176,'task11');
INSERT INTO string VALUES(8996617264447008140,'(metadata)');
INSERT INTO string VALUES(9056973841757373688,'grep');
INSERT INTO string VALUES(9192382683910734364,'/data/file12');
INSERT INTO string VALUES(9207676090404096125,'PyCFuncPtr_call');
INSERT INTO run VALUES(1,5976854720629402059,1794837433015717751,1794837444306580885,1794753858848949525,'6d63a2e5-161d-4a51-aeb5-c67cb89188ae','0.1.0','6.18.44-fc-v490','','session',2,1000000,0,1593,2003);
INSERT INTO clock VALUES(1,83575170520625,1794837434021685748);
INSERT INTO clock VALUES(1,83585180913449,1794837444031591901);
INSERT INTO process VALUES(1,1,26147,1794837429662598601,26146,3002390674318458134,2066298705649413388,2556890877483936020,3893584021652640492,'3.11','',1794837444234960072);
INSERT INTO container VALUES(6285051182611839112,'','','','','','','','','',0,'/data/file13',9192382683910734364,163267,1794837434019470150,1794837434019470150);
INSERT INTO container VALUES(8117659968913471264,'','','','','','','','','',0,'/data/file14',3893584021652640492,163651,1794837429662598601,1794837444031554400);
INSERT INTO process_container VALUES(1,1794837429662598601,8117659968913471264,3893584021652640492);
INSERT INTO cgroup_container VALUES(3893584021652640492,8117659968913471264);
INSERT INTO cgroup_container VALUES(9192382683910734364,6285051182611839112);
INSERT INTO disk_user_second VALUES(1,1794837434019470150,266338304,26146,6227091708404437166,3893584021652640492,24,1097728,0);
INSERT INTO disk_user_second VALUES(1,1794837435020296219,266338304,26258,3002390674318458134,9192382683910734364,31,2666496,0);
INSERT INTO disk_user_second VALUES(1,1794837443028923903,266338304,24413,4546135779409140665,7347990519673328018,2,307200,1);
INSERT INTO thread VALUES(1,1,26147,3002390674318458134,1794837433192163643,1794837444234960072);
INSERT INTO op VALUES(2077024389504897238,'cudaMemcpyAsync','libcudart.so','copy');
INSERT INTO op VALUES(3809840992513521489,'(between calls)','','gap');
INSERT INTO op VALUES(5810789964041291922,'cudaLaunchKernel','libcudart.so','launch');
INSERT INTO op VALUES(6857912257604505970,'cudaStreamSynchronize','libcudart.so','sync');
INSERT INTO frame VALUES(-6321295831150596957,'python',3616391685742555088,3502093189648683188,17);
INSERT INTO frame VALUES(-6310913950685661248,'python',3616391685742555088,3502093189648683188,23);
INSERT INTO frame VALUES(-6184822132250628356,'python',3616391685742555088,3502093189648683188,24);
INSERT INTO frame VALUES(-4329607260203243830,'python',3638431646494446160,3502093189648683188,13);
INSERT INTO frame VALUES(-3846921383225882597,'native',1141717553771274870,30134389650190244,0);
INSERT INTO frame VALUES(-2468419479471323769,'python',5787726695638964485,1558663219267373551,53);
INSERT INTO frame VALUES(-1795813569579018278,'python',3616391685742555088,3502093189648683188,28);
INSERT INTO frame VALUES(-1490415266065672947,'python',8026175289672431205,1558663219267373551,65);
INSERT INTO frame VALUES(-1242323194874263803,'native',9207676090404096125,1473296087163474831,0);
INSERT INTO frame VALUES(-1105677140961037228,'python',3616391685742555088,3502093189648683188,25);
INSERT INTO frame VALUES(-423055473750159737,'python',3408544620645800303,1558663219267373551,168);
INSERT INTO frame VALUES(751374903757662696,'python',6322535673855719743,1558663219267373551,61);
INSERT INTO stack VALUES(-8800436432525735038,0,3736513288557547876);
INSERT INTO stack VALUES(-8267748144682874892,0,-2468419479471323769);
INSERT INTO stack VALUES(-6253511103911631053,0,-2468419479471323769);
INSERT INTO stack VALUES(-3750566219158597942,0,-4329607260203243830);
INSERT INTO stack VALUES(-1927606646020178810,0,3117544169839805887);
INSERT INTO stack VALUES(-955367043086539168,4,-2468419479471323769);
INSERT INTO stack VALUES(34753522326395276,0,3117544169839805887);
INSERT INTO stack VALUES(1150976496894006584,0,-423055473750159737);
INSERT INTO stack VALUES(2259953994002121717,4,-2468419479471323769);
INSERT INTO stack VALUES(3048923310170605397,0,-2468419479471323769);
INSERT INTO stack VALUES(3564863697818473262,4,3736513288557547876);
INSERT INTO stack VALUES(4801275062768152290,0,2904030090080962330);
INSERT INTO stack_frame VALUES(-8800436432525735038,0,3736513288557547876);
INSERT INTO stack_frame VALUES(-8800436432525735038,1,-1795813569579018278);
INSERT INTO stack_frame VALUES(-8800436432525735038,2,7525579581831030033);
INSERT INTO stack_frame VALUES(-8267748144682874892,0,-2468419479471323769);
INSERT INTO stack_frame VALUES(-8267748144682874892,1,-1105677140961037228);
INSERT INTO stack_frame VALUES(-8267748144682874892,2,7525579581831030033);
INSERT INTO stack_frame VALUES(-6253511103911631053,0,-2468419479471323769);
INSERT INTO stack_frame VALUES(-6253511103911631053,1,-6184822132250628356);
INSERT INTO stack_frame VALUES(-6253511103911631053,2,7525579581831030033);
INSERT INTO stack_frame VALUES(-3750566219158597942,0,-4329607260203243830);
INSERT INTO stack_frame VALUES(-3750566219158597942,1,2904030090080962330);
INSERT INTO stack_frame VALUES(-3750566219158597942,2,6221866313352576773);
INSERT INTO op_second VALUES(1,2077024389504897238,1794837434019470150,138,138,0,220800276,1432592,40700,1432592,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'160a1717181319111a011b011c031d011e0b1f2220082104220323022401');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837435020296219,170,170,0,272000340,1646509,84775,1600201,0,0,46308,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4000000,X'160a1716181f19101a031b021c081d0f1e1c1f1a200725012901');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837436022329285,166,166,0,265600332,1536081,84775,1520258,0,0,15823,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'1716182b19121c061d151e2b1f092001240125012601');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837437023521076,182,182,0,291200364,1401138,84775,1394118,0,0,7020,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'1501161f1728181319011a021b041c0a1d291e1b1f032003');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837438024666707,184,184,0,294400368,1751354,84775,1678476,0,0,30075,42803,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'161e1713182219051a031b021c061d131e271f1320032302240127012801');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837439025545935,64,64,0,102400128,634607,84775,634607,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'160b1707180b19031c011d041e0d1f092002220123012501');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837440026218181,60,60,0,96000120,597906,84775,597906,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'16041708180d19031b011c011d021e091f0f20032401');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837441026565911,160,160,0,256000320,1576309,84775,1576309,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'160d17101823190d1a031c041d031e171f24200b21012402');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837442027514817,168,168,0,268800336,1743311,84775,1743311,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'1608170f182319151a031b011c031d041e101f2b200f23012403');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837443028923903,170,170,0,272000340,1750715,84775,1683605,0,0,67110,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4000000,X'16081717182319101a031c041d011e181f2a200b240126012801');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837444029862974,166,166,0,265600332,1777370,295768,1524745,0,0,23044,0,229581,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'16071726181d19081c011d151e291f0d200624013001');
INSERT INTO op_second VALUES(1,2077024389504897238,1794837444261890627,38,38,0,60800076,312283,295768,312283,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,X'1609170318071a011b011c031d071e031f032401');
INSERT INTO blame_second VALUES(1,1794837434019470150,-1,1,1517482141580655420,50266);
INSERT INTO blame_second VALUES(1,1794837434019470150,21,1,1071215057212316947,236913);
INSERT INTO blame_second VALUES(1,1794837434019470150,22,1,2800831210227448662,46189);
INSERT INTO blame_second VALUES(1,1794837434019470150,44,1,2470162003563262115,28151);
INSERT INTO blame_second VALUES(1,1794837434019470150,20408,1,5566008569556000431,2809748);
INSERT INTO blame_second VALUES(1,1794837434019470150,25091,1,7882613540257882101,204443);
INSERT INTO blame_second VALUES(1,1794837434019470150,26146,1,6227091708404437166,222411);
INSERT INTO blame_second VALUES(1,1794837434019470150,26253,1,5566008569556000431,2428320);
INSERT INTO blame_second VALUES(1,1794837434019470150,26255,1,5653281665901943911,2029004);
INSERT INTO blame_second VALUES(1,1794837434019470150,26257,1,5653281665901943911,1536386);
INSERT INTO blame_second VALUES(1,1794837434019470150,26260,1,5653281665901943911,749681);
INSERT INTO blame_second VALUES(1,1794837434019470150,26262,1,5653281665901943911,1239346);
INSERT INTO blamed VALUES(1,1794837444029862974,1,5110532774887191082,6319061714440602879);
INSERT INTO blamed VALUES(1,1794837435020296219,15,4669412623924275194,6319061714440602879);
INSERT INTO blamed VALUES(1,1794837434019470150,21,1071215057212316947,6319061714440602879);
INSERT INTO blamed VALUES(1,1794837434019470150,22,2800831210227448662,6319061714440602879);
INSERT INTO blamed VALUES(1,1794837434019470150,44,2470162003563262115,6319061714440602879);
INSERT INTO blamed VALUES(1,1794837441026565911,52,8029646385961362942,6319061714440602879);
INSERT INTO blamed VALUES(1,1794837434019470150,20408,5566008569556000431,9192382683910734364);
INSERT INTO blamed VALUES(1,1794837434019470150,25091,7882613540257882101,6319061714440602879);
INSERT INTO blamed VALUES(1,1794837438024666707,25091,7886418400246549367,6319061714440602879);
INSERT INTO blamed VALUES(1,1794837434019470150,26146,6227091708404437166,3893584021652640492);
INSERT INTO blamed VALUES(1,1794837434019470150,26253,5566008569556000431,9192382683910734364);
INSERT INTO blamed VALUES(1,1794837436022329285,26253,5566008569556000431,9192382683910734364);
INSERT INTO call VALUES(1,1,6857912257604505970,NULL,1794837433192704344,5050443,34,0,0,0,0,0,0,0,139788779978618,3564863697818473262,4133957,0,0,424506,445791,46189,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,3900563);
INSERT INTO call VALUES(2,1,3809840992513521489,2077024389504897238,1794837433197754787,7382658,32,0,0,0,0,0,0,0,0,34753522326395276,7206867,0,0,175791,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(3,1,2077024389504897238,NULL,1794837433205137445,40700,2,0,0,3200000,0,1,0,0,139788779978618,7031661819959682774,40700,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(4,1,5810789964041291922,NULL,1794837433205238505,0,2,0,0,0,0,4096,0,0,139788779978618,2259953994002121717,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(5,1,6857912257604505970,NULL,1794837433205651076,4840001,32,0,0,0,0,0,0,0,139788779978618,3564863697818473262,4785169,0,0,54832,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(6,1,3809840992513521489,2077024389504897238,1794837433210491077,7025689,32,0,0,0,0,0,0,0,0,34753522326395276,6897480,0,0,128209,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(7,1,6857912257604505970,NULL,1794837433217911030,4940500,32,0,0,0,0,0,0,0,139788779978618,3564863697818473262,4918838,0,0,21662,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(8,1,3809840992513521489,2077024389504897238,1794837433222851530,6951409,32,0,0,0,0,0,0,0,0,34753522326395276,6836969,0,0,114440,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(9,1,6857912257604505970,NULL,1794837433230220398,4923084,32,0,0,0,0,0,0,0,139788779978618,3564863697818473262,4898307,0,0,24777,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(10,1,3809840992513521489,2077024389504897238,1794837433235143482,6979030,32,0,0,0,0,0,0,0,0,34753522326395276,6895426,0,0,83604,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(11,1,6857912257604505970,NULL,1794837433242548493,4915163,32,0,0,0,0,0,0,0,139788779978618,3564863697818473262,4851619,0,0,63544,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call VALUES(12,1,3809840992513521489,2077024389504897238,1794837433247463656,5437626,32,0,0,0,0,0,0,0,0,34753522326395276,5412689,0,0,24937,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO call_culprit VALUES(1,22,1,2800831210227448662,46189);
INSERT INTO call_culprit VALUES(31,-1,1,1577515565914510980,58675);
INSERT INTO call_culprit VALUES(31,26473,1,8124849052967517176,3973838);
INSERT INTO call_culprit VALUES(31,26474,1,3600571479849137510,3976669);
INSERT INTO call_culprit VALUES(31,26475,1,4651622724621443602,4007852);
INSERT INTO call_culprit VALUES(32,-1,1,1577515565914510980,40274);
INSERT INTO call_culprit VALUES(32,26473,1,8124849052967517176,3985381);
INSERT INTO call_culprit VALUES(32,26474,1,3600571479849137510,3979513);
INSERT INTO call_culprit VALUES(32,26475,1,4651622724621443602,3992658);
INSERT INTO call_culprit VALUES(33,-1,1,1577515565914510980,81147);
INSERT INTO call_culprit VALUES(33,26473,1,8124849052967517176,3975147);
INSERT INTO call_culprit VALUES(33,26474,1,3600571479849137510,3971724);
INSERT INTO chain VALUES(-9153138528014266559,1);
INSERT INTO chain VALUES(-9114388244473223285,1);
INSERT INTO chain VALUES(-8951150168347475666,1);
INSERT INTO chain VALUES(-8554096541490059769,1);
INSERT INTO chain VALUES(-8353953585671948378,1);
INSERT INTO chain VALUES(-8029168076162329425,1);
INSERT INTO chain VALUES(-7873052055732298765,1);
INSERT INTO chain VALUES(-7458414015706206227,1);
INSERT INTO chain VALUES(-7410484564217950350,1);
INSERT INTO chain VALUES(-7235017808466782818,1);
INSERT INTO chain VALUES(-7179762437336907724,1);
INSERT INTO chain VALUES(-6912829547478873273,1);
INSERT INTO hop VALUES(-9153138528014266559,0,26147,26147,3002390674318458134,'self','preempted','nobody','',4651622724621443602,1,26475,-1,0,0,0,-8800436432525735038,-1,7347990519673328018);
INSERT INTO hop VALUES(-9114388244473223285,0,26147,26147,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,26462,-1,0,0,0,-8800436432525735038,-1,7347990519673328018);
INSERT INTO hop VALUES(-8951150168347475666,0,26147,26147,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,26450,-1,0,0,0,-8267748144682874892,-1,7347990519673328018);
INSERT INTO hop VALUES(-8554096541490059769,0,26147,26147,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,26489,-1,0,0,0,34753522326395276,-1,7347990519673328018);
INSERT INTO hop VALUES(-8353953585671948378,0,26147,26147,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,26262,-1,0,0,0,-3750566219158597942,-1,7347990519673328018);
INSERT INTO hop VALUES(-8029168076162329425,0,26147,26147,3002390674318458134,'self','preempted','nobody','',8124849052967517176,1,26473,-1,0,0,0,34753522326395276,-1,7347990519673328018);
INSERT INTO hop VALUES(-7873052055732298765,0,26147,26147,3002390674318458134,'self','preempted','nobody','',2800831210227448662,1,22,-1,0,0,0,-3750566219158597942,-1,7347990519673328018);
INSERT INTO hop VALUES(-7458414015706206227,0,26147,26147,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,26399,-1,0,0,0,4801275062768152290,-1,7347990519673328018);
INSERT INTO hop VALUES(-7410484564217950350,0,26147,26147,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,26280,-1,0,0,0,-3750566219158597942,-1,7347990519673328018);
INSERT INTO hop VALUES(-7235017808466782818,0,26147,26147,3002390674318458134,'self','preempted','nobody','',5653281665901943911,1,26457,-1,0,0,0,-3750566219158597942,-1,7347990519673328018);
INSERT INTO hop VALUES(-7179762437336907724,0,26147,26147,3002390674318458134,'self','preempted','nobody','',8124849052967517176,1,26473,-1,0,0,0,-3750566219158597942,-1,7347990519673328018);
INSERT INTO hop VALUES(-6912829547478873273,0,26147,26147,3002390674318458134,'self','preempted','nobody','',3600571479849137510,1,26474,-1,0,0,0,34753522326395276,-1,7347990519673328018);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,-8353953585671948378,582904,1,582904);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,-4485216564542022881,1316410,3,488474);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,-4384078934352952449,34020,1,34020);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,-2147260599172683351,55352,1,55352);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,1011215322114018519,1666239,2,1589185);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,2008167682716034489,1468376,1,1468376);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,3882357773462965677,656442,1,656442);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,5739913417988790201,1159478,2,786275);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,8037730812701546196,2072831,1,2072831);
INSERT INTO wait_second VALUES(1,1794837434019470150,3809840992513521489,8081883401438391302,749681,1,749681);
INSERT INTO wait_second VALUES(1,1794837434019470150,6857912257604505970,-3058357686645194057,180828,1,180828);
INSERT INTO wait_second VALUES(1,1794837434019470150,6857912257604505970,-967387528102203133,679306,2,378761);
INSERT INTO sample_second VALUES(1,1794837434019470150,3809840992513521489,-8267748144682874892,'fault',1,10105682);
INSERT INTO sample_second VALUES(1,1794837434019470150,3809840992513521489,-8267748144682874892,'run',1,12023904);
INSERT INTO sample_second VALUES(1,1794837434019470150,3809840992513521489,-6253511103911631053,'run',1,10105623);
INSERT INTO sample_second VALUES(1,1794837434019470150,3809840992513521489,-3750566219158597942,'run',33,325409172);
INSERT INTO sample_second VALUES(1,1794837434019470150,3809840992513521489,1150976496894006584,'run',1,1963870);
INSERT INTO sample_second VALUES(1,1794837434019470150,3809840992513521489,4801275062768152290,'run',8,82531197);
INSERT INTO sample_second VALUES(1,1794837434019470150,3809840992513521489,7285267261210481484,'run',1,10107971);
INSERT INTO sample_second VALUES(1,1794837434019470150,6857912257604505970,-8800436432525735038,'run',32,316414497);
INSERT INTO sample_second VALUES(1,1794837435020296219,3809840992513521489,-6253511103911631053,'fault',1,10099804);
INSERT INTO sample_second VALUES(1,1794837435020296219,3809840992513521489,-6253511103911631053,'run',1,10110429);
INSERT INTO sample_second VALUES(1,1794837435020296219,3809840992513521489,-3750566219158597942,'run',41,368636802);
INSERT INTO sample_second VALUES(1,1794837435020296219,3809840992513521489,4801275062768152290,'run',7,72880208);
INSERT INTO idle_second VALUES(1,1794837434019470150,-2147260599172683351,55352,1,55352);
INSERT INTO idle_second VALUES(1,1794837434019470150,8522030207371261897,167162567,29,7382658);
INSERT INTO idle_second VALUES(1,1794837435020296219,-8353953585671948378,582904,1,582904);
INSERT INTO idle_second VALUES(1,1794837435020296219,-7410484564217950350,400734,1,400734);
INSERT INTO idle_second VALUES(1,1794837435020296219,-4485216564542022881,1316410,3,488474);
INSERT INTO idle_second VALUES(1,1794837435020296219,-4384078934352952449,104444,3,44195);
INSERT INTO idle_second VALUES(1,1794837435020296219,-3838888691556339675,733837,2,450748);
INSERT INTO idle_second VALUES(1,1794837435020296219,-2147260599172683351,27490,1,27490);
INSERT INTO idle_second VALUES(1,1794837435020296219,-711268820296430710,299474,1,299474);
INSERT INTO idle_second VALUES(1,1794837435020296219,1011215322114018519,1666239,2,1589185);
INSERT INTO idle_second VALUES(1,1794837435020296219,1231410686527262284,1236883,2,773716);
INSERT INTO idle_second VALUES(1,1794837435020296219,1368605645287055667,515815,1,515815);
INSERT INTO call_wait VALUES(31,6240988045885842626,12017034);
INSERT INTO call_wait VALUES(32,-9153138528014266559,11997826);
INSERT INTO call_wait VALUES(33,6240988045885842626,12004796);
INSERT INTO call_wait VALUES(34,6240988045885842626,11976284);
INSERT INTO call_wait VALUES(36,-394859993739285502,12027460);
INSERT INTO call_wait VALUES(37,-1173351647703511055,11995032);
INSERT INTO step VALUES(1,0,1794837433192704344,12946732,7850882,0,45407,5050443,0,0,7382658);
INSERT INTO step VALUES(1,64,1794837433946108493,18574961,11626686,1815360,20841,5112074,0,0,13038718);
INSERT INTO step VALUES(1,68,1794837434001742731,14265575,7218514,2072831,20471,4953759,0,0,8941107);
INSERT INTO step VALUES(1,153,1794837434997492282,12087349,7162944,0,18947,4905458,0,0,6798964);
INSERT INTO step VALUES(1,236,1794837436001723841,11912450,6875077,40690,16644,4980039,0,0,6588091);
INSERT INTO step VALUES(1,327,1794837437002312223,11284289,6319313,0,16334,4948642,0,0,5992138);
INSERT INTO step VALUES(1,419,1794837438007144432,9398976,4370315,0,9825,5018836,0,0,4106474);
INSERT INTO step VALUES(1,421,1794837438026708949,30714577,4352459,12017034,50195,14294889,0,0,16092773);
INSERT INTO step VALUES(1,422,1794837438057423526,31994813,4401542,12012908,15973,15564390,0,0,16135076);
INSERT INTO step VALUES(1,423,1794837438089418339,32922458,5283518,12020820,20350,15597770,0,0,16911987);
INSERT INTO step VALUES(1,424,1794837438122340797,33497855,6779919,12004796,34502,14678638,0,0,18422138);
INSERT INTO step VALUES(1,425,1794837438155838652,29930961,4737209,11993409,16955,13183388,0,0,16451695);
INSERT INTO step_second VALUES(1,1794837434019470150,68,809038387,18574961,462915380,7238236,1412121,337472650,0,0,445607850,X'440a4535460247014802');
INSERT INTO step_second VALUES(1,1794837435020296219,85,995749551,14265575,557702624,14754462,1648033,421644432,0,0,540721888,X'440d453c460c');
INSERT INTO step_second VALUES(1,1794837436022329285,83,1004231559,16411616,584155225,9080654,1538384,409457296,0,0,560400897,X'454a46074702');
INSERT INTO step_second VALUES(1,1794837437023521076,91,1000588382,12769870,545461237,124264,1401448,453601433,0,0,516123465,X'441645444601');
INSERT INTO step_second VALUES(1,1794837438024666707,92,1004832209,13314778,545943099,0,1757863,457131247,0,0,514773698,X'442445374601');
INSERT INTO step_second VALUES(1,1794837439025545935,32,978253831,34943472,179414608,359503689,626686,438708848,0,0,528487524,X'44024a024b184c04');
INSERT INTO step_second VALUES(1,1794837440026218181,30,982002494,43303348,194470566,378668239,593690,408269999,0,0,538255379,X'4a014b154c074d01');
INSERT INTO step_second VALUES(1,1794837441026565911,80,1040057639,32885173,534662447,61180206,1577530,442637456,0,0,567390329,X'4408453d46064a014b04');
INSERT INTO step_second VALUES(1,1794837442027514817,84,1003124404,14220720,586552640,39238,1747286,414785240,0,0,555520585,X'440945454606');
INSERT INTO step_second VALUES(1,1794837443028923903,85,995745871,17030733,573035335,28733,1748242,420933561,0,0,542222360,X'440c454146074801');
INSERT INTO step_second VALUES(1,1794837444029862974,83,1008986189,15360187,584896274,12280816,1778272,410030827,0,0,566613948,X'44034543460c4701');
INSERT INTO step_second VALUES(1,1794837444261890627,19,198454526,11856467,103230537,0,311291,94912698,0,0,97388691,X'4408450b');
INSERT INTO host_event VALUES(1,1794837444234962706,1794837444234962706,'exit',26147,3002390674318458134,0,7347990519673328018,7347990519673328018,1,0,0);
INSERT INTO system_second VALUES(1,1794837434019470150,51.75879396984924,0.0,3.0150753768844223,3,0,0.75,24684100,24203604,0,0,0,2,52399,0,4714);
INSERT INTO system_second VALUES(1,1794837435020296219,92.34693877551021,1.0204081632653061,1.530612244897959,3,0,0.75,24684100,24202376,0,0,0,1,91057,0,5115);
INSERT INTO system_second VALUES(1,1794837436022329285,84.84848484848484,0.0,1.0101010101010102,4,0,0.77,24684100,24202264,0,0,0,0,57964,0,174);
INSERT INTO system_second VALUES(1,1794837437023521076,50.0,0.0,1.0,2,0,0.77,24684100,24202740,0,0,0,0,133,0,0);
INSERT INTO system_second VALUES(1,1794837438024666707,50.74626865671642,0.0,0.4975124378109453,3,0,0.77,24684100,24208328,0,0,0,0,247,0,0);
INSERT INTO system_second VALUES(1,1794837439025545935,50.5,0.0,0.5,5,0,0.77,24684100,24215116,0,0,0,0,983504,0,0);
INSERT INTO system_second VALUES(1,1794837440026218181,48.78048780487805,0.0,3.4146341463414633,5,0,0.77,24684100,24224108,0,0,0,0,984716,0,0);
INSERT INTO system_second VALUES(1,1794837441026565911,49.504950495049506,0.0,1.9801980198019802,2,0,0.79,24684100,24230864,0,0,0,0,114177,0,0);
INSERT INTO system_second VALUES(1,1794837442027514817,49.504950495049506,0.0,1.9801980198019802,2,0,0.79,24684100,24230188,0,0,0,0,57,0,0);
INSERT INTO system_second VALUES(1,1794837443028923903,49.01960784313726,0.0,2.9411764705882355,2,0,0.79,24684100,24237120,0,0,0,0,336,0,0);
INSERT INTO system_second VALUES(1,1794837444029862974,61.92893401015228,0.0,2.030456852791878,2,0,0.79,24684100,24226148,0,0,0,0,49874,0,94);
INSERT INTO system_second VALUES(1,1794837444261890627,46.808510638297875,0.0,2.127659574468085,2,0,0.79,24684100,24235416,0,0,0,0,2656,0,0);
INSERT INTO core_second VALUES(1,1794837434019470150,0,4.0,NULL);
INSERT INTO core_second VALUES(1,1794837434019470150,1,99.0,NULL);
INSERT INTO core_second VALUES(1,1794837435020296219,0,84.5360824742268,NULL);
INSERT INTO core_second VALUES(1,1794837435020296219,1,99.0,NULL);
INSERT INTO core_second VALUES(1,1794837436022329285,0,70.83333333333333,NULL);
INSERT INTO core_second VALUES(1,1794837436022329285,1,99.00990099009901,NULL);
INSERT INTO core_second VALUES(1,1794837437023521076,0,0.0,NULL);
INSERT INTO core_second VALUES(1,1794837437023521076,1,100.0,NULL);
INSERT INTO core_second VALUES(1,1794837438024666707,0,1.9801980198019802,NULL);
INSERT INTO core_second VALUES(1,1794837438024666707,1,100.0,NULL);
INSERT INTO core_second VALUES(1,1794837439025545935,0,1.9607843137254901,NULL);
INSERT INTO core_second VALUES(1,1794837439025545935,1,100.0,NULL);
INSERT INTO incident VALUES(1,1,'cpu-contention',26147,3002390674318458134,26475,4651622724621443602,4598031974726864919,'HIGH',1794837438029306287,1794837441026565911,1799191109);
INSERT INTO kernel VALUES(1,1,4096,7347990519673328018,'',30134389650190244);
INSERT INTO kernel_second VALUES(1,1794837434019470150,3864);
INSERT INTO kernel_second VALUES(1,1794837439025545935,21448);
INSERT INTO kernel_second VALUES(1,1794837444029862974,20272);
INSERT INTO kernel_second VALUES(1,1794837444261890627,1064);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,21627,0,1473296087163474831,'submitter',26147,3002390674318458134,6319061714440602879,0,1,10,0,421888,10,10620115,1259076,0,0,0,X'2f013809',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,18834,0,4090326166373118053,'submitter',26146,6227091708404437166,6319061714440602879,0,1,14,0,712704,14,6943334,1095934,0,0,0,X'2c022d012e012f0131013303340136033801',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,257472,0,1212875031801051742,'submitter',26146,6227091708404437166,6319061714440602879,0,1,10,0,385024,10,5291998,1023301,0,0,0,X'2a012c012d012e0131023704',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','metadata','',0,0,0,8996617264447008140,'submitter',26253,5566008569556000431,6319061714440602879,0,1,6,0,102400,6,2701324,456847,0,0,0,X'3206',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,18918,0,7757505319449152842,'submitter',26147,3002390674318458134,6319061714440602879,0,1,2,0,110592,2,1891272,981293,0,0,0,X'36013701',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,247489,0,6645044837682063607,'submitter',26257,2305409497583650986,6319061714440602879,0,1,2,0,16384,2,772865,414444,0,0,0,X'31013201',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','metadata','',0,0,0,8996617264447008140,'submitter',26253,5566008569556000431,6319061714440602879,0,0,2,0,8192,2,745796,447143,0,0,0,X'30013201',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,19089,0,2571984220958579658,'submitter',26147,3002390674318458134,6319061714440602879,0,1,1,0,65536,1,539690,539690,0,0,0,X'3401',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,19590,0,2735673795800851366,'submitter',26147,3002390674318458134,6319061714440602879,0,1,1,0,28672,1,334236,334236,0,0,0,X'3101',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'write','metadata','',0,0,0,8996617264447008140,'submitter',26146,6227091708404437166,6319061714440602879,0,0,3,0,12288,3,305252,120679,0,0,0,X'28012a012b01',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,337937,0,3652345259754747494,'submitter',26147,3002390674318458134,6319061714440602879,0,1,1,0,16384,1,296439,296439,0,0,0,X'3001',0,0,0,X'',0,0,0);
INSERT INTO io_second VALUES(1,1794837434019470150,266338304,3785998470048903569,'read','file','ext4',266338304,5310884,4230938945,6549838725520575768,'submitter',26255,9056973841757373688,6319061714440602879,0,1,1,0,8192,1,289809,289809,0,0,0,X'3001',0,0,0,X'',0,0,0);
INSERT INTO io_request VALUES(1,1794837433016121259,202755,202755,4,0,266338304,3785998470048903569,0,107,'write',2049,352444216,4096,'file',266338304,10994065,108090585,7714450847378232658,0,'dirtier',26146,26146,6227091708404437166,26146,26146,0,0,0,NULL,0,0,NULL,NULL);
INSERT INTO io_request VALUES(1,1794837433154832353,981293,981293,4,0,266338304,3785998470048903569,0,12,'read',526080,2213000,8192,'file',266338304,18918,0,7757505319449152842,0,'submitter',26147,26147,3002390674318458134,26147,26147,0,0,0,NULL,0,0,NULL,NULL);
INSERT INTO io_request VALUES(1,1794837433949524334,289809,289809,4,0,266338304,3785998470048903569,0,30,'read',526080,170357800,8192,'file',266338304,5310884,4230938945,6549838725520575768,0,'submitter',26255,26255,9056973841757373688,26255,26255,0,0,0,NULL,0,0,NULL,NULL);
INSERT INTO io_request VALUES(1,1794837434166996310,1210639,1210639,4,0,266338304,3785998470048903569,0,103,'read',526080,2098688,45056,'metadata',0,0,0,8996617264447008140,0,'submitter',26258,26258,3002390674318458134,26258,26258,0,0,0,NULL,0,0,NULL,NULL);
INSERT INTO io_request VALUES(1,1794837435772827519,173082,149657,4,0,266338304,3785998470048903569,0,103,'discard',2051,351822552,4096,'other',0,0,0,7008318553701655487,0,'submitter',26471,26471,319240468900466260,26471,26471,0,0,0,NULL,0,0,NULL,NULL);
INSERT INTO io_request VALUES(1,1794837442820186834,864857,864857,4,0,266338304,3785998470048903569,0,106,'write',1,171447296,286720,'file',266338304,5357571,1648792092,359519556171689896,0,'none',0,0,7347990519673328018,24413,24413,0,0,0,NULL,0,0,NULL,NULL);
INSERT INTO io_request VALUES(1,1794837443461038159,228244,202796,4,0,266338304,3785998470048903569,0,108,'discard',2051,351822552,4096,'other',0,0,0,7008318553701655487,0,'submitter',26529,26529,319240468900466260,26529,26529,0,0,0,NULL,0,0,NULL,NULL);
INSERT INTO loss VALUES(1,1794837434019470150,'missed_switch',6);
INSERT INTO loss VALUES(1,1794837435020296219,'missed_switch',6);
INSERT INTO loss VALUES(1,1794837436022329285,'missed_switch',8);
INSERT INTO loss VALUES(1,1794837437023521076,'missed_switch',3);
INSERT INTO loss VALUES(1,1794837438024666707,'missed_switch',2);
INSERT INTO loss VALUES(1,1794837439025545935,'missed_switch',3);
INSERT INTO loss VALUES(1,1794837440026218181,'missed_switch',3);
INSERT INTO loss VALUES(1,1794837441026565911,'missed_switch',3);
INSERT INTO loss VALUES(1,1794837442027514817,'missed_switch',2);
INSERT INTO loss VALUES(1,1794837443028923903,'missed_switch',5);
INSERT INTO loss VALUES(1,1794837444029862974,'missed_switch',15);
INSERT INTO loss VALUES(1,1794837444029862974,'lost_state',2);
INSERT INTO account VALUES(1,1794837434019470150,8142,18,8124,0,18,8199980,22411571,823303962);
INSERT INTO account VALUES(1,1794837435020296219,10031,4,10027,0,4,10420863,6687897,998514739);
INSERT INTO account VALUES(1,1794837436022329285,9794,2,9792,0,2,9947925,10843077,1004094256);
INSERT INTO account VALUES(1,1794837437023521076,10738,3,10735,0,3,9956977,3416242,999959139);
INSERT INTO account VALUES(1,1794837438024666707,10856,3,10853,0,3,10109211,8601334,1003007326);
INSERT INTO account VALUES(1,1794837439025545935,3775,5,3770,0,5,4794543,7991247,996239648);
INSERT INTO account VALUES(1,1794837440026218181,3541,2,3539,0,2,4761800,11035278,995201710);
INSERT INTO account VALUES(1,1794837441026565911,9440,4,9436,0,4,9277171,5689819,1011612385);
INSERT INTO account VALUES(1,1794837442027514817,9912,2,9910,0,2,9398969,8900567,1000739600);
INSERT INTO account VALUES(1,1794837443028923903,10030,2,10028,0,2,9492830,4280992,998057787);
INSERT INTO account VALUES(1,1794837444029862974,9793,4,9789,0,4,9894562,9380219,1003114509);
INSERT INTO account VALUES(1,1794837444261890627,2243,0,2243,0,0,299590,11809246,204196623);
INSERT INTO cost_second VALUES(1,1794837434019470150,6155352,416624,0,36424,1591580,0,0,1422336,22411571,2002997720,0.8176967869938464,0.0);
INSERT INTO cost_second VALUES(1,1794837435020296219,7604982,512768,0,6819,1752102,544192,0,644736,6687897,2001652138,1.0398723936516485,0.0);
INSERT INTO cost_second VALUES(1,1794837436022329285,7381962,496744,0,3806,1810949,254464,0,332544,10843077,2004066132,0.9951996933402595,0.0);
INSERT INTO cost_second VALUES(1,1794837437023521076,8117928,546819,0,6559,1285671,0,0,48064,3416242,2002383582,0.7595410857698492,0.0);
INSERT INTO cost_second VALUES(1,1794837438024666707,8207136,552828,0,5769,1343478,0,0,82048,8601334,2002291262,1.000571314484416,0.0);
INSERT INTO cost_second VALUES(1,1794837439025545935,2854656,192288,0,10013,1043442,694144,0,82048,7991247,2001758456,0.6255213241372215,0.0);
INSERT INTO cost_second VALUES(1,1794837440026218181,2676240,180270,0,3645,1147213,754432,0,144832,11035278,2001344492,0.4793586530629131,0.0);
INSERT INTO cost_second VALUES(1,1794837441026565911,7136640,480720,0,8813,1501686,149312,0,20544,5689819,2000695460,0.7863256709744321,0.0);
INSERT INTO cost_second VALUES(1,1794837442027514817,7493472,504756,0,4417,1396324,0,0,58944,8900567,2001897812,0.9397409741511821,0.0);
INSERT INTO cost_second VALUES(1,1794837443028923903,7582680,510765,0,4416,1394969,0,0,0,4280992,2002818172,0.946782402172053,0.0);
INSERT INTO cost_second VALUES(1,1794837444029862974,7404264,498747,0,9054,1809987,172510,0,235136,9380219,2001878142,0.9891283382622598,0.0);
INSERT INTO cost_second VALUES(1,1794837444261890627,89208,6009,0,0,204373,0,0,37184,11809246,464055306,1.0607714072770456,0.0);
INSERT INTO coverage VALUES(1,2823513850182057761,'1fcc4db07059921b9a4674289f4127466b7043f8',10994058,111,0,0,0,1794837433191796069,'');
COMMIT;
