-- Only in files that `culprit merge` made.

-- The runs that were put together. In such a file an id of a process, a thread, a call and so on is that of
-- its own file in the lower 32 bits, and the number of its run above.
CREATE TABLE merged_run(
	run INTEGER PRIMARY KEY REFERENCES run(id),
	number INTEGER NOT NULL UNIQUE, -- hash of what follows
	node INTEGER NOT NULL REFERENCES node(id),
	boot_id TEXT NOT NULL,
	start_ns INTEGER NOT NULL,
	local INTEGER NOT NULL, -- id of the run in its own file
	salt INTEGER NOT NULL, -- counts up where two would have the same number
	seen_ns INTEGER NOT NULL -- the last thing that its file said of it
);

-- What to add to the times of a node to compare them with those of others. Rows keep the time of their
-- node; it is added when they are read. By collectives: none ends before its last rank has come.
CREATE TABLE node_clock(
	node INTEGER PRIMARY KEY REFERENCES node(id),
	offset_ns INTEGER NOT NULL,
	low_ns INTEGER, -- it cannot be less, nor more; NULL: not known
	high_ns INTEGER,
	meetings INTEGER NOT NULL, -- collectives that say so; 0: none, the clock is taken as it is
	reference INTEGER NOT NULL REFERENCES node(id) -- whose clock it is compared with
);
