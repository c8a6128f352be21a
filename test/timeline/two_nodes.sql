-- Two nodes, one rank each, and the same pid on both. The second is late to every second collective, by
-- 30 ms; its clock is 5 s behind, which node_clock has.
CREATE TABLE IF NOT EXISTS node_clock(node INTEGER PRIMARY KEY, offset_ns INTEGER NOT NULL, low_ns INTEGER,
	high_ns INTEGER, meetings INTEGER NOT NULL, reference INTEGER NOT NULL);
INSERT INTO node VALUES(1, 'node-a'), (2, 'node-b');
INSERT INTO string VALUES(1, ''), (2, 'python3'), (3, 'python3 train.py'), (4, '/usr/bin/python3'),
	(5, '/kubepods.slice/cri-containerd-' || '4f3a9c21d0aa' || printf('%052d', 0) || '.scope'),
	(6, '/system.slice/docker-' || '77b1c0ffee00' || printf('%052d', 0) || '.scope'),
	(7, 'loader');
INSERT INTO node_clock VALUES(1, 0, NULL, NULL, 0, 1), (2, 5000000000, NULL, NULL, 8, 1);
INSERT INTO run VALUES
	(1, 1, 1700000000000000000, 1700000010000000000, 0, 'a', '0.1.0', '6.1', '', 'multi', 8, 1000000, 1, 0, 0),
	(2, 2, 1699999995000000000, 1700000005000000000, 0, 'b', '0.1.0', '6.1', '', 'multi', 8, 1000000, 1, 0, 0);
INSERT INTO process VALUES
	(1, 1, 4821, 1699999000000000000, 1, 2, 3, 4, 5, '3.11', '', NULL),
	(2, 2, 4821, 1699999500000000000, 1, 2, 3, 4, 6, '3.11', '', NULL);
INSERT INTO thread VALUES(1, 1, 4821, 2, 1700000000000000000, NULL), (2, 2, 4821, 2, 1699999995000000000, NULL),
	(3, 2, 4822, 7, 1699999995000000000, NULL);
INSERT INTO container VALUES(1, '4f3a9c21d0aa' || printf('%052d', 0), 'containerd', '', 'ml', 'train-0', 'worker', '', '', '', 0,
	'ml/train-0 (worker)', 5, NULL, 1700000000000000000, 1700000010000000000);
INSERT INTO rank_env VALUES(1, 0, 0, 2, 'RANK'), (2, 1, 0, 2, 'RANK');
INSERT INTO op VALUES(1, 'ncclAllReduce', 'libnccl.so', 'coll'), (2, 'cudaStreamSynchronize', 'libcudart.so', 'sync'),
	(3, 'cudaMemcpyAsync', 'libcudart.so', 'copy'), (4, '(between calls)', '', 'gap');
INSERT INTO communicator VALUES(1, 1, 7, 99, NULL, 0, 2, 1, NULL, NULL), (2, 2, 8, 99, NULL, 1, 2, 1, NULL, NULL);
-- Ten meetings, one each 0.5 s: a comes first, b 30 ms later on even ones and 1 ms earlier on odd ones.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
INSERT INTO collective SELECT 1, 1, 1, i, 'float32', 'sum', NULL, 1000, 4000, 0,
	1700000000000000000 + i * 500000000, 20000, 0, 0, 'stream', 2, 1700000000000000000 + i * 500000000 + 30000,
	1700000000000000000 + i * 500000000 + 33000000, 32970000, 1 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
INSERT INTO collective SELECT 2, 2, 1, i, 'float32', 'sum', NULL, 1000, 4000, 0,
	1699999995000000000 + i * 500000000 + (CASE WHEN i % 2 THEN -1000000 ELSE 30000000 END), 20000, 0, 0, 'stream', 2,
	1699999995000000000 + i * 500000000 + 30100000, 1699999995000000000 + i * 500000000 + 33000000, 2900000, 1 FROM n;
INSERT INTO account VALUES(1, 1700000010000000000, 10, 10, 0, 0, 10, 0, 0, 0), (2, 1700000005000000000, 10, 10, 0, 0, 10, 0, 0, 0);
