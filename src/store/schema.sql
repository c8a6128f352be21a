-- The trace database, version 6. Times are wall-clock ns: boot time of the event plus the offset
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
	python_note TEXT NOT NULL, -- why its lines of code cannot be read; '' = they can, or not Python
	exit_ns INTEGER -- NULL: alive when last seen
);

-- Whose processes are: a container, pod, job or unit, told by its control group. '' = not known, or none.
CREATE TABLE container(
	id INTEGER PRIMARY KEY, -- hash of what makes it this one on any node: see src/tenant/tenant.h
	container_id TEXT NOT NULL, -- 64 digits, or the name of an LXC container, a machine
	runtime TEXT NOT NULL, -- docker, containerd, cri-o, podman, lxc, nspawn, libvirt, ecs, ...
	pod_uid TEXT NOT NULL,
	namespace TEXT NOT NULL,
	pod TEXT NOT NULL, -- name of the pod; of ECS: the task
	name TEXT NOT NULL, -- of the container
	image TEXT NOT NULL,
	slurm_job TEXT NOT NULL,
	unit TEXT NOT NULL, -- of systemd, the outermost; with claimed the one that says so
	claimed INTEGER NOT NULL, -- 1 = the id is what a unit wrote below itself: it may be anything
	label TEXT NOT NULL, -- the best of these for people
	cgroup INTEGER NOT NULL REFERENCES string(id), -- one of its groups, the first seen
	cgroup_id INTEGER, -- inode of that one; on a v1 host of the v1 hierarchy; NULL = not known
	first_ns INTEGER NOT NULL, -- seen first
	last_ns INTEGER NOT NULL -- seen last
);

-- Where a process is, from some time on: one row, and one more each time it moves.
CREATE TABLE process_container(
	process INTEGER NOT NULL REFERENCES process(id),
	from_ns INTEGER NOT NULL,
	container INTEGER REFERENCES container(id), -- NULL = the root group, or not known
	cgroup INTEGER NOT NULL REFERENCES string(id), -- '' = not known
	PRIMARY KEY(process, from_ns)
) WITHOUT ROWID;

-- Every control group that was told of, as process.cgroup, blamed.cgroup, host_event.cgroup have it.
CREATE TABLE cgroup_container(
	cgroup INTEGER PRIMARY KEY REFERENCES string(id),
	container INTEGER NOT NULL REFERENCES container(id)
);

-- Who gave how much to a disk, about once a second; small amounts are left out.
CREATE TABLE disk_user_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL, -- end of the interval
	dev INTEGER NOT NULL, -- the disk, as the kernel numbers it: major << 20 | minor
	pid INTEGER NOT NULL, -- who issued the requests
	comm INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id), -- whose they are; '' = not known
	requests INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	kernel INTEGER NOT NULL -- 1 = a thread of the kernel, which does it for somebody of that control group
);
CREATE INDEX disk_user_second_at ON disk_user_second(at_ns);

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

-- Where in the program a thread was. Frames and stacks are told once, by the hash of what they are.
CREATE TABLE frame(
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL, -- python, native
	func INTEGER NOT NULL REFERENCES string(id), -- '' = not known
	file INTEGER NOT NULL REFERENCES string(id), -- the source; of a native frame its library
	line INTEGER NOT NULL -- 0 = not known
);

CREATE TABLE stack(
	id INTEGER PRIMARY KEY,
	flags INTEGER NOT NULL, -- bits: 1 cut at the outer end, 2 an outer frame could not be read,
		-- 4 native frames end at the interpreter's loop, 8 they do not
	line INTEGER REFERENCES frame(id) -- the innermost that the user wrote; NULL = none
);

CREATE TABLE stack_frame(
	stack INTEGER NOT NULL REFERENCES stack(id),
	n INTEGER NOT NULL, -- 0 is the innermost
	frame INTEGER NOT NULL REFERENCES frame(id),
	PRIMARY KEY(stack, n)
) WITHOUT ROWID;

-- Complete counts, about one row per second, thread and op. Never a sample.
CREATE TABLE op_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	at_ns INTEGER NOT NULL, -- end of the interval
	calls INTEGER NOT NULL, -- entered
	done INTEGER NOT NULL, -- returned; the rest is in flight or never came back
	errors INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	total_ns INTEGER NOT NULL, -- of timed ops; of launches, fills and events with --launch-times, as far as hist counts
	max_ns INTEGER NOT NULL, -- the longest so far, not of this interval
	-- These states: calls that are not inside another call, so that the rows of a thread add up
	-- to its time. See wire/event.h.
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
	kernel_ns INTEGER NOT NULL, -- sampled at the clock tick, part of run_ns
	hist BLOB NOT NULL, -- pairs (bucket, count), see wire/hist.h
	PRIMARY KEY(thread, op, at_ns)
) WITHOUT ROWID;
CREATE INDEX op_second_at ON op_second(at_ns);

-- Of op_second: calls inside another traced call, as cuMemAlloc_v2 inside cudaMalloc. Without them each
-- thing that a program did is counted once. No row: none.
CREATE TABLE nested_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	at_ns INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	PRIMARY KEY(thread, op, at_ns)
) WITHOUT ROWID;

-- Who had the CPU while a thread waited for it. Complete.
CREATE TABLE blame_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	pid INTEGER NOT NULL, -- 0 = the CPU was idle: wake-up latency; -1 = it served interrupts
	cpu INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, pid, cpu)
) WITHOUT ROWID;
CREATE INDEX blame_second_at ON blame_second(at_ns);

-- Whoever had a CPU or is on a chain: where he belongs. Told when he is first seen, and under another name.
CREATE TABLE blamed(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id), -- '' = gone before anybody looked
	PRIMARY KEY(run, pid, at_ns)
) WITHOUT ROWID;

-- Single calls and gaps that were slow, first of their kind, failed, or sampled: see because. With
-- --record-all also those that waited for a CPU; the others are in call_block. calls has all of them.
CREATE TABLE call(
	id INTEGER PRIMARY KEY,
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	next_op INTEGER REFERENCES op(id), -- of a gap: the call that ended it
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	because INTEGER NOT NULL, -- bits: 1 slow, 2 first, 4 sampled, 8 all recorded, 16 failed, 32 cold,
		-- 32 not over at the end
	depth INTEGER NOT NULL, -- 0 = not inside another traced call
	ret INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	stream INTEGER NOT NULL,
	aux INTEGER NOT NULL,
	out INTEGER NOT NULL,
	usual_ns INTEGER NOT NULL, -- median of this op, site and size until then; 0 = not known
	site INTEGER NOT NULL, -- return address; 0 = not read
	stack INTEGER NOT NULL, -- stack(id); 0 to 255 = why there is none, see wire/python.h
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
CREATE INDEX call_start ON call(start_ns);

-- Calls and gaps that are stored only because all are (--record-all), a few thousand to a row. Read them
-- as rows of call_packed, or of every_call; src/store/pack_int.h says how they are packed.
CREATE TABLE call_block(
	id INTEGER PRIMARY KEY,
	thread INTEGER NOT NULL REFERENCES thread(id),
	first_ns INTEGER NOT NULL, -- the first start,
	last_ns INTEGER NOT NULL, -- ... and the last one
	n INTEGER NOT NULL, -- calls
	kinds BLOB NOT NULL, -- ops and stacks of these calls, with counts and sums
	data BLOB NOT NULL
);
CREATE INDEX call_block_last ON call_block(last_ns);

CREATE TABLE call_culprit(
	call INTEGER NOT NULL REFERENCES call(id),
	pid INTEGER NOT NULL,
	cpu INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	ns INTEGER NOT NULL
);
CREATE INDEX call_culprit_call ON call_culprit(call);

-- Who waited for whom: a chain is told once, by the hash of its hops.
CREATE TABLE chain(
	id INTEGER PRIMARY KEY,
	complete INTEGER NOT NULL -- 0 = what the last one did meanwhile is not known
);

CREATE TABLE hop(
	chain INTEGER NOT NULL REFERENCES chain(id),
	n INTEGER NOT NULL, -- 0 is the thread that makes the traced calls
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	relation TEXT NOT NULL, -- self, child, foreign, kernel
	state TEXT NOT NULL, -- what it did; in the last hop: where the time was spent
	waker TEXT NOT NULL, -- who ended that
	object TEXT NOT NULL, -- what kind of thing it waited for, '' = none
	name INTEGER NOT NULL REFERENCES string(id), -- of that thing, or of who had the CPU
	cpu INTEGER NOT NULL,
	cpu_pid INTEGER NOT NULL, -- who had the CPU; 0 = nobody, -1 = interrupts
	nr INTEGER NOT NULL, -- system call, -1 = none
	flags INTEGER NOT NULL, -- bits: 1 rebuilt, 2 on CPU, 4 packets lost, 8 I/O wait,
		-- 32 not over at the end of the trace
	obj INTEGER NOT NULL,
	obj2 INTEGER NOT NULL,
	stack INTEGER NOT NULL, -- where it was; as call.stack
	irq INTEGER NOT NULL, -- that ended it, the first time; -1 = none, or not known
	device INTEGER NOT NULL REFERENCES string(id), -- whose interrupt that is, '' = not known
	PRIMARY KEY(chain, n)
) WITHOUT ROWID;

-- What the stops of a calling thread are charged to. Complete but for stops under 20 us.
CREATE TABLE wait_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	op INTEGER NOT NULL REFERENCES op(id), -- the call that it stopped in, or the gap
	chain INTEGER NOT NULL REFERENCES chain(id),
	ns INTEGER NOT NULL,
	count INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, op, chain)
) WITHOUT ROWID;
CREATE INDEX wait_second_at ON wait_second(at_ns);

-- Where a calling thread ran, by looks at it every 20 ms or so; each stands for the time next to it.
CREATE TABLE sample_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	op INTEGER NOT NULL REFERENCES op(id), -- the call that it was in, or the gap
	stack INTEGER NOT NULL, -- as call.stack
	state TEXT NOT NULL, -- run; fault: in a page fault; gc, reclaim
	samples INTEGER NOT NULL, -- 0 = not looked at, but timed from beginning to end
	ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, op, stack, state)
) WITHOUT ROWID;
CREATE INDEX sample_second_at ON sample_second(at_ns);

-- When the GPU had nothing to do (at least), by what the thread did that gave it work next. The rows of
-- a second add up; running is a chain of one hop.
CREATE TABLE idle_second(
	thread INTEGER NOT NULL REFERENCES thread(id),
	at_ns INTEGER NOT NULL,
	chain INTEGER NOT NULL REFERENCES chain(id),
	ns INTEGER NOT NULL,
	count INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	PRIMARY KEY(thread, at_ns, chain)
) WITHOUT ROWID;
CREATE INDEX idle_second_at ON idle_second(at_ns);

CREATE TABLE call_wait(
	call INTEGER NOT NULL REFERENCES call(id),
	chain INTEGER NOT NULL REFERENCES chain(id),
	ns INTEGER NOT NULL
);
CREATE INDEX call_wait_call ON call_wait(call);

-- Iterations of the workload, found by the rhythm of its calls. Single ones: slow or sampled.
CREATE TABLE step(
	thread INTEGER NOT NULL REFERENCES thread(id),
	n INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	host_ns INTEGER NOT NULL, -- these six add up to dur_ns
	data_ns INTEGER NOT NULL,
	copy_ns INTEGER NOT NULL,
	sync_ns INTEGER NOT NULL,
	coll_ns INTEGER NOT NULL,
	other_ns INTEGER NOT NULL,
	idle_ns INTEGER NOT NULL, -- the GPU had nothing to do, at least
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

-- A communicator of NCCL in one process. What is not known is NULL: it was made before anybody looked.
CREATE TABLE communicator(
	id INTEGER PRIMARY KEY,
	process INTEGER NOT NULL REFERENCES process(id),
	handle INTEGER NOT NULL,
	hash INTEGER, -- the same in all of its ranks, on all hosts
	parent INTEGER, -- hash of the one that it was split from
	rank INTEGER, -- by the arguments; of a split: once all of its ranks were seen
	nranks INTEGER,
	made_by INTEGER REFERENCES op(id),
	made_ns INTEGER,
	gone_ns INTEGER -- NULL: not seen to end
);

-- Its operations, counted in full; told: those with a row in collective.
CREATE TABLE communicator_second(
	communicator INTEGER NOT NULL REFERENCES communicator(id),
	at_ns INTEGER NOT NULL,
	collectives INTEGER NOT NULL,
	p2p INTEGER NOT NULL, -- sends and receives
	bytes INTEGER NOT NULL,
	told INTEGER NOT NULL,
	PRIMARY KEY(communicator, at_ns)
) WITHOUT ROWID;

-- Single operations, and the synchronisation in which the process waited for them. At most 256 of a
-- process in a second of the clock, the first ones: ranks of a host tell the same ones.
CREATE TABLE collective(
	communicator INTEGER NOT NULL REFERENCES communicator(id),
	thread INTEGER NOT NULL REFERENCES thread(id),
	op INTEGER NOT NULL REFERENCES op(id),
	seq INTEGER NOT NULL, -- from 1; sends and receives have a sequence of their own
	datatype TEXT NOT NULL, -- 'float32'; a number where it has no name here
	redop TEXT NOT NULL, -- 'sum'; '' = no such argument
	root INTEGER, -- or peer; NULL: no such argument
	count INTEGER NOT NULL, -- elements, as passed
	bytes INTEGER, -- of these; NULL: the type is not known
	stream INTEGER NOT NULL,
	start_ns INTEGER NOT NULL, -- the rank arrived
	dur_ns INTEGER NOT NULL, -- of the call, which only queues it
	ret INTEGER NOT NULL,
	grouped INTEGER NOT NULL, -- 1: between ncclGroupStart and End
	joined TEXT NOT NULL, -- stream, device: it waited for this; event, copy, other: assumed; none
	sync_op INTEGER REFERENCES op(id), -- NULL: none
	sync_start_ns INTEGER,
	sync_end_ns INTEGER,
	waited_ns INTEGER, -- in that synchronisation, which others may share
	last INTEGER NOT NULL -- 1: the last collective of its communicator in front of that
);
CREATE INDEX collective_start ON collective(start_ns);

-- What the launcher told a process in its environment; NULL: nothing.
CREATE TABLE rank_env(
	process INTEGER PRIMARY KEY REFERENCES process(id),
	rank INTEGER,
	local_rank INTEGER,
	world INTEGER,
	source TEXT NOT NULL -- the variable with the rank
);

-- What happened on the host: see wire/event.h.
CREATE TABLE host_event(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL, -- the last of them
	first_ns INTEGER NOT NULL, -- of the kernel's log: since then
	event TEXT NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	obj INTEGER NOT NULL, -- of disks, and iommu_fault of an NVMe drive: one row for each part, numbered as io_second.dev
	name INTEGER NOT NULL REFERENCES string(id), -- of that: the other end, the device
	cgroup INTEGER NOT NULL REFERENCES string(id), -- '' = not known
	count INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	value INTEGER NOT NULL -- bounce: bytes; iommu_fault: the first address
);
CREATE INDEX host_event_at ON host_event(at_ns);

-- The host once a second. NULL: this host does not tell.
CREATE TABLE system_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	busy_pct REAL,
	iowait_pct REAL,
	steal_pct REAL,
	running INTEGER, -- threads on CPU or waiting for one
	blocked INTEGER,
	load1 REAL,
	mem_total_kb INTEGER,
	mem_available_kb INTEGER,
	swap_used_kb INTEGER,
	swap_in_pages INTEGER, -- in this second
	swap_out_pages INTEGER,
	major_faults INTEGER,
	psi_cpu_us INTEGER, -- stalled in this second, some
	psi_memory_us INTEGER,
	psi_io_us INTEGER,
	PRIMARY KEY(run, at_ns)
) WITHOUT ROWID;

CREATE TABLE core_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	cpu INTEGER NOT NULL,
	busy_pct REAL NOT NULL,
	mhz INTEGER, -- NULL: not known
	PRIMARY KEY(run, at_ns, cpu)
) WITHOUT ROWID;

-- GPUs as NVML tells of them.
CREATE TABLE gpu(
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run(id),
	n INTEGER NOT NULL, -- its number
	name TEXT NOT NULL,
	uuid TEXT NOT NULL,
	bus_id TEXT NOT NULL,
	first_ns INTEGER NOT NULL
);

-- About once a second. NULL: not told, which is not zero. See wire/gpu.h.
CREATE TABLE gpu_second(
	gpu INTEGER NOT NULL REFERENCES gpu(id),
	at_ns INTEGER NOT NULL,
	util_pct REAL, -- some kernel ran
	mem_util_pct REAL,
	mem_used INTEGER, -- bytes
	mem_total INTEGER,
	sm_mhz INTEGER,
	sm_max_mhz INTEGER,
	mem_mhz INTEGER,
	reasons INTEGER, -- why clocks are not higher, bits: 1 idle, 2 set by somebody, 4 power limit,
		-- 8 hardware slowdown, 16 kept equal, 32 heat (software), 64 heat (hardware), 128 power brake
	power_w REAL,
	power_limit_w REAL,
	power_default_w REAL,
	temp_c INTEGER,
	pcie_tx INTEGER, -- bytes per second
	pcie_rx INTEGER,
	pcie_replays INTEGER, -- these three: since the driver was loaded
	ecc_corrected INTEGER,
	ecc_uncorrected INTEGER,
	sm_active_pct REAL, -- multiprocessors with work
	occupancy_pct REAL,
	tensor_pct REAL,
	dram_pct REAL,
	PRIMARY KEY(gpu, at_ns)
) WITHOUT ROWID;
CREATE INDEX gpu_second_at ON gpu_second(at_ns);

-- Who computes on which GPU, and with how much of its memory.
CREATE TABLE gpu_process(
	gpu INTEGER NOT NULL REFERENCES gpu(id),
	pid INTEGER NOT NULL,
	first_ns INTEGER NOT NULL,
	last_ns INTEGER NOT NULL,
	mem_used INTEGER, -- bytes, at last; NULL: not told
	mem_max INTEGER,
	PRIMARY KEY(gpu, pid, first_ns)
) WITHOUT ROWID;

-- Errors that a GPU's driver reported (Xid).
CREATE TABLE gpu_error(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	bus_id TEXT NOT NULL,
	code INTEGER NOT NULL,
	pid INTEGER NOT NULL, -- 0 = not told
	comm INTEGER NOT NULL REFERENCES string(id), -- '' = not known
	text INTEGER NOT NULL REFERENCES string(id) -- what the driver says of it
);

-- One cause over time. Rows are added and extended, never removed while their evidence is kept.
CREATE TABLE incident(
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run(id),
	cause TEXT NOT NULL,
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	culprit_pid INTEGER NOT NULL, -- 0 = nobody
	culprit INTEGER NOT NULL REFERENCES string(id),
	title INTEGER NOT NULL REFERENCES string(id),
	severity TEXT NOT NULL,
	first_ns INTEGER NOT NULL,
	last_ns INTEGER NOT NULL,
	lost_ns INTEGER NOT NULL
);

-- A kernel as one library of a process launches it. The name may come later than its first launch.
CREATE TABLE kernel(
	id INTEGER PRIMARY KEY,
	process INTEGER NOT NULL REFERENCES process(id),
	handle INTEGER NOT NULL, -- as launches pass it: call.aux
	name INTEGER NOT NULL REFERENCES string(id), -- '' = not known
	source TEXT NOT NULL, -- where the name is from: symbol, stub, library, module; '' = not known
	library INTEGER NOT NULL REFERENCES string(id) -- file that launches it; '' = not known
);

-- Complete counts: every launch is in one of these, but for loss "no_kernel". A row for some seconds.
CREATE TABLE kernel_second(
	kernel INTEGER NOT NULL REFERENCES kernel(id),
	at_ns INTEGER NOT NULL, -- end of the interval
	launches INTEGER NOT NULL,
	PRIMARY KEY(kernel, at_ns)
) WITHOUT ROWID;
CREATE INDEX kernel_second_at ON kernel_second(at_ns);

-- What a process has from CUDA, when that changed: sums since it is traced. Each allocation counts once,
-- whether the runtime or the driver made it.
CREATE TABLE memory_second(
	process INTEGER NOT NULL REFERENCES process(id),
	kind TEXT NOT NULL, -- device, pool, managed, mapped, pinned, registered
	device INTEGER NOT NULL, -- -1 = not known, or the host's
	at_ns INTEGER NOT NULL,
	current INTEGER NOT NULL, -- bytes allocated and not freed
	high INTEGER NOT NULL, -- the most so far
	allocs INTEGER NOT NULL,
	frees INTEGER NOT NULL,
	failed INTEGER NOT NULL, -- allocations
	failed_bytes INTEGER NOT NULL, -- of the last of these
	retried INTEGER NOT NULL, -- failed, and went well after the same thread had freed something
	strangers INTEGER NOT NULL, -- frees of what was allocated before it was traced
	PRIMARY KEY(process, kind, device, at_ns)
) WITHOUT ROWID;
CREATE INDEX memory_second_at ON memory_second(at_ns);

-- What tags stand for. A tag is the 64-bit FNV-1a hash of its label.
CREATE TABLE tag(
	id INTEGER PRIMARY KEY, -- the tag, all of its bits
	label TEXT NOT NULL,
	first_ns INTEGER NOT NULL
);

-- Who or what was given a tag, each time that it was.
CREATE TABLE tag_target(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	tag INTEGER NOT NULL, -- 0 = it was taken away
	kind TEXT NOT NULL, -- thread, process, file, folder
	source TEXT NOT NULL, -- call, environment, command, xattr
	pid INTEGER, -- of the task, or of who tagged the file; NULL = not known
	tid INTEGER, -- of a thread
	uid INTEGER, -- of who said so; NULL = not known
	dev INTEGER, -- of a file: major << 20 | minor
	ino INTEGER,
	generation INTEGER, -- of its inode; 0 = not known
	path TEXT -- of a file, when it was tagged; NULL = not known, or no file
);
CREATE INDEX tag_target_tag ON tag_target(tag);

-- One writing of a file that is checked; another one begins when it is written to after its digest was made.
CREATE TABLE checkpoint(
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run(id),
	dev INTEGER NOT NULL, -- major << 20 | minor
	ino INTEGER NOT NULL,
	generation INTEGER NOT NULL, -- of the inode, whose number is used again
	path TEXT NOT NULL, -- as it was last called
	tag INTEGER NOT NULL, -- 0 = none
	from_start INTEGER NOT NULL, -- 1: it was empty when it was first seen
	dense INTEGER NOT NULL, -- 1: it must have no gaps
	declared INTEGER, -- the size that it must have; NULL = not told
	lost INTEGER NOT NULL, -- 1: events were lost
	unseen INTEGER NOT NULL, -- 1: some of its writes cannot be seen on this host
	began_ns INTEGER, -- first write
	last_ns INTEGER, -- last write or truncation
	closed_ns INTEGER, -- NULL: a writer has it open, or had when the agent stopped
	size INTEGER NOT NULL, -- when it was closed
	bytes INTEGER NOT NULL, -- written
	writes INTEGER NOT NULL,
	stretches INTEGER NOT NULL, -- runs of writes that follow each other
	gaps INTEGER NOT NULL, -- ranges never written
	gap_bytes INTEGER NOT NULL,
	overwritten INTEGER NOT NULL, -- bytes written more than once
	shared INTEGER NOT NULL, -- of these: by different processes
	mapped INTEGER NOT NULL, -- pages written to through a mapping
	failed INTEGER NOT NULL, -- writes
	writers INTEGER NOT NULL, -- processes
	writer INTEGER NOT NULL, -- pid of the last
	sync_error INTEGER NOT NULL, -- negative errno of an fsync that failed; 0 = none
	signal INTEGER NOT NULL, -- that ended a writer in the middle; 0 = none
	synced_ns INTEGER, -- when the last fsync that went well began
	renamed_ns INTEGER,
	renamed_dirty INTEGER NOT NULL, -- 1: before its data was durable
	name_synced_ns INTEGER, -- fsync of its folder, or of all
	sha256 TEXT, -- NULL = not made yet
	sha_size INTEGER, -- the size that was read for it
	mtime_ns INTEGER, -- the file's, then
	hashed_ns INTEGER,
	changed_ns INTEGER, -- when another process than its writers first wrote to it after that
	changer INTEGER NOT NULL -- pid of that; 0 = none
);
CREATE INDEX checkpoint_file ON checkpoint(dev, ino, generation);
CREATE INDEX checkpoint_path ON checkpoint(path);

-- What happened to it, in the order in which it was over; at most 4096 for each.
CREATE TABLE checkpoint_event(
	checkpoint INTEGER NOT NULL REFERENCES checkpoint(id),
	at_ns INTEGER NOT NULL,
	event TEXT NOT NULL, -- write, write_failed, mapped, truncate, sync, sync_dir, sync_all, rename, exit
	pid INTEGER NOT NULL,
	comm INTEGER NOT NULL REFERENCES string(id),
	first INTEGER NOT NULL, -- write: first byte; truncate: new size; sync: 0 or an errno; exit: code
	behind INTEGER NOT NULL, -- write: the byte behind the last
	count INTEGER NOT NULL, -- writes in this stretch
	since_ns INTEGER, -- write: when the first of them was over; sync: when it began
	tag INTEGER NOT NULL -- of the thread or process that did it; 0 = none
);
CREATE INDEX checkpoint_event_of ON checkpoint_event(checkpoint, at_ns);

-- Storage lineage: disk requests counted in full, by disk, file and owner. The rows of a second add up; of
-- many files in one second the smaller ones share a row of their owner.
CREATE TABLE io_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL, -- end of the interval
	dev INTEGER NOT NULL, -- the disk, as the kernel numbers it: major << 20 | minor
	disk INTEGER NOT NULL REFERENCES string(id), -- its name: nvme0n1
	op TEXT NOT NULL, -- read, write, flush, discard, ...
	class TEXT NOT NULL, -- file, direct, metadata, journal, swap, raw, flush, other, unknown
	fs TEXT NOT NULL, -- ext4, xfs; '' = not known
	fs_dev INTEGER NOT NULL, -- the file system, numbered as dev
	ino INTEGER NOT NULL, -- 0 = no file, or many
	gen INTEGER NOT NULL, -- of the inode, whose number is used again
	file INTEGER NOT NULL REFERENCES string(id), -- path; in parentheses what is known instead
	owner TEXT NOT NULL, -- how it is known: submitter, dirtier, fsync; shared, none: it is not
	pid INTEGER NOT NULL, -- the owner; 0 = not known, or shared
	comm INTEGER NOT NULL REFERENCES string(id),
	cgroup INTEGER NOT NULL REFERENCES string(id), -- '' = not known
	tag INTEGER NOT NULL, -- 0 = none
	readahead INTEGER NOT NULL, -- 1: nobody had asked for it yet
	requests INTEGER NOT NULL, -- that begin with this
	merged INTEGER NOT NULL, -- ... or have it further on
	bytes INTEGER NOT NULL,
	timed INTEGER NOT NULL, -- of both: with a known latency, of which the following are
	total_ns INTEGER NOT NULL, -- from queued to completed
	max_ns INTEGER NOT NULL,
	slow INTEGER NOT NULL, -- see io_request
	errors INTEGER NOT NULL,
	requeues INTEGER NOT NULL,
	hist BLOB NOT NULL, -- of total_ns
	mapped INTEGER NOT NULL, -- of NVMe: with a known time of mapping them for DMA; 0 = not measured
	map_ns INTEGER NOT NULL, -- of these: from the command's set-up to its issue, what mapping took at most
	map_max_ns INTEGER NOT NULL,
	map_hist BLOB NOT NULL,
	map_failed INTEGER NOT NULL, -- could not be mapped, at first or at all
	bounced INTEGER NOT NULL, -- of bytes: copied through memory that the device can reach (SWIOTLB)
	iommu_maps INTEGER NOT NULL, -- mappings that the IOMMU was given for them
	iommu_unmaps INTEGER NOT NULL, -- requests whose mapping was seen to be taken back, in one for each
	unmap_ns INTEGER NOT NULL, -- of these: from then to the completion, what the flush of the IOMMU took at most
	unmap_max_ns INTEGER NOT NULL
);
CREATE INDEX io_second_at ON io_second(at_ns);

-- Single requests: slow or failed, and some others. One whose bios belong to several has a row for each.
CREATE TABLE io_request(
	run INTEGER NOT NULL REFERENCES run(id),
	done_ns INTEGER NOT NULL, -- completed
	total_ns INTEGER NOT NULL, -- from queued to completed
	device_ns INTEGER, -- of that: from issued; NULL: not known
	because INTEGER NOT NULL, -- bits: 1 slow, 2 failed or given to the disk again, 4 sampled
	part INTEGER NOT NULL, -- 0 = the beginning of a request
	dev INTEGER NOT NULL,
	disk INTEGER NOT NULL REFERENCES string(id),
	queue INTEGER NOT NULL, -- of the hardware
	rq_tag INTEGER NOT NULL, -- the driver's number of the request; -1 = none
	op TEXT NOT NULL,
	flags INTEGER NOT NULL, -- of the block layer
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
	tid INTEGER NOT NULL, -- 0 = several threads of the owner
	comm INTEGER NOT NULL REFERENCES string(id),
	submitter_pid INTEGER NOT NULL, -- often the flusher; 0 = not known
	submitter_tid INTEGER NOT NULL,
	tag INTEGER NOT NULL,
	requeues INTEGER NOT NULL,
	error INTEGER NOT NULL, -- status of the block layer; 0 = fine
	map_ns INTEGER, -- of the request: what mapping it for DMA took at most; NULL: not measured
	bounced INTEGER NOT NULL, -- of bytes: copied through memory that the device can reach
	iommu_maps INTEGER NOT NULL, -- of the request: mappings that the IOMMU was given
	nvme_status INTEGER, -- because & 2: the drive's own status, 0 = fine; NULL: not known
	nvme_retries INTEGER, -- ... and how often its driver had tried again
	iova INTEGER, -- of the request: where the device saw its data when it was first mapped; NULL: no IOMMU
	iova_bytes INTEGER, -- ... as far as that is in one piece
	unmap_ns INTEGER -- ... and giving the mapping back took at most that; NULL: not seen
);
CREATE INDEX io_request_done ON io_request(done_ns);

CREATE TABLE loss(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	reason TEXT NOT NULL,
	count INTEGER NOT NULL
);
CREATE INDEX loss_at ON loss(at_ns);

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
CREATE INDEX account_at ON account(at_ns);

-- What was removed to stay within --max-db and --max-age.
CREATE TABLE pruned(
	run INTEGER NOT NULL REFERENCES run(id), -- that removed it
	what TEXT NOT NULL, -- blocks, calls: but for those at the time of incidents; then incident_blocks,
		-- incident_calls; seconds, incident_seconds: the rest of that time; age: all that is too old
	until_ns INTEGER NOT NULL, -- none of it is older
	rows INTEGER NOT NULL,
	PRIMARY KEY(run, what)
) WITHOUT ROWID;

-- What that cost is made of. Times are on the threads of traced processes, but for the last three.
CREATE TABLE cost_second(
	run INTEGER NOT NULL REFERENCES run(id),
	at_ns INTEGER NOT NULL,
	launch_ns INTEGER NOT NULL, -- hits times what one costs, measured at start; also the next two
	call_ns INTEGER NOT NULL,
	stepped_ns INTEGER NOT NULL, -- more, where the kernel has to single-step
	record_ns INTEGER NOT NULL, -- sending records: measured
	stack_ns INTEGER NOT NULL, -- looking at stacks: measured
	switch_ns INTEGER NOT NULL, -- context switches of traced processes: one of 64 is measured
	related_ns INTEGER NOT NULL, -- ... of processes that they wait for
	other_ns INTEGER NOT NULL, -- ... of everybody else, hits of processes that are not traced, disk requests
	agent_ns INTEGER NOT NULL, -- CPU time of the agent
	cpus_ns INTEGER NOT NULL, -- the interval times the number of CPUs
	worst_pct REAL NOT NULL, -- of the process that paid most, of its time
	budget_pct REAL NOT NULL, -- 0 = no limit
	PRIMARY KEY(run, at_ns)
) WITHOUT ROWID;

-- What was not looked at for a while, to cost no more than was allowed.
CREATE TABLE shed(
	run INTEGER NOT NULL REFERENCES run(id),
	what TEXT NOT NULL, -- returns (times of launches), launches, stacks, detail; io: disk requests, which are counted without a file then
	from_ns INTEGER NOT NULL,
	to_ns INTEGER NOT NULL,
	cost_pct REAL NOT NULL, -- of the process that paid most, which made it necessary
	calls INTEGER NOT NULL, -- launches that were not counted: an estimate
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
	note TEXT NOT NULL -- '' = attached
);

-- Every single call that is stored. Of those in call_block the id is below zero.
CREATE VIEW every_call AS
SELECT * FROM call UNION ALL SELECT * FROM call_packed;

-- The line of each stack that has one of the user's.
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

-- Disk requests by file and owner, in words.
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
	-- launches, fills and events are only counted: their time is known with --launch-times alone
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
