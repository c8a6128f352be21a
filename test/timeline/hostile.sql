-- What no agent writes, but a file can hold: times that overflow, slices that overlap in every way, names
-- that are no text, numbers that are none, references to nothing.
INSERT INTO node VALUES(1, CAST(x'ff6e6f6465' AS TEXT));
INSERT INTO string VALUES(1, ''), (2, CAST(x'c3' AS TEXT)), (3, 'a' || char(10) || 'b' || char(27) || '[31m"<>\|'),
	(4, printf('%.*c', 5000, 'x'));
INSERT INTO run VALUES(1, 1, 1700000000000000000, NULL, 0, '', '', '', '', '', 1, 0, 1, 0, 0);
INSERT INTO process VALUES(1, 1, -1, 0, 0, 2, 4, 3, 4, '', '', NULL), (2, 1, -1, 9e18, 0, 3, 3, 3, 3, '', '', NULL),
	(3, 1, 7, 0, 0, 99, 99, 99, 99, '', '', NULL);
INSERT INTO thread VALUES(1, 1, -1, 2, 0, NULL), (2, 1, 0, 3, 0, NULL), (3, 2, -1, 4, 0, NULL), (4, 3, 7, 2, 0, NULL),
	(5, 99, 8, 2, 0, NULL);
INSERT INTO op VALUES(1, CAST(x'80ff' AS TEXT), '', ''), (2, 'cudaMemcpyAsync', '', 'copy'),
	(3, 'cudaStreamSynchronize', '', 'sync'), (4, '', '', '');
-- 200 calls of one thread: each begins in the one before it and ends behind it; and 200 inside one another.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
INSERT INTO call SELECT NULL, 1, 1 + i % 4, NULL, 1700000000000000000 + i * 1000, 5500, 8, 0, -1, -1, i % 3, 0, 0, 0, 0, 12345,
	0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
INSERT INTO call SELECT NULL, 2, 2 + i % 2, 77, 1700000000000000000 + i, 9000000 - 2 * i, -1, i, 0, 5, 0, 0, 0, 0, 0, 0,
	9223372036854775807,9223372036854775807,-5,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 FROM n;
INSERT INTO call SELECT NULL, 3, 2, NULL, 9223372036854775807, 9223372036854775807, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0;
INSERT INTO call SELECT NULL, 99, 2, NULL, 1700000000000000000, 10, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0;
INSERT INTO step VALUES(1, -1, 1700000000000000000, -1, 0, 0, 0, 0, 0, 0, 0), (1, 9e18, 1700000000000000001, 9e18, 0, 0, 0, 0, 0, 0, 0),
	(1, 2, 1700000000000000002, 9e18, 0, 0, 0, 0, 0, 0, 0);
-- Chains that are not stored, that have no hops, or hops of nobody.
INSERT INTO chain VALUES(1, 1), (2, 0);
INSERT INTO hop VALUES(2, 0, -1, -1, 2, 'no such', 'futex', 'x', 'x', 4, 0, 0, 0, 0, 0, 0, 0, 0, 4),
	(2, 1, 555, 556, 3, 'self', 'wake', 'x', 'x', 4, -1, 777, 0, 0, 0, 0, 0, 0, 4),
	(2, 2, 0, 0, 3, 'self', 'preempted', 'x', 'x', 4, -1, -1, 0, 0, 0, 0, 0, 0, 4);
INSERT INTO call_wait SELECT id, id % 3, dur_ns FROM call;
INSERT INTO op_second SELECT 1, 2, 1700000001000000000, 1, 1, 0, 0, 0, 0, 400000000, 9223372036854775807, 1, 1, 1, 100000000, 1,
	100000000,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1, x'';
INSERT INTO op_second SELECT 1, 3, 1700000002000000000, 1, 1, 0, 0, 0, 0, 400000000, 0, 1, 1, 1, 100000000, 1,
	100000000,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1, x'';
INSERT INTO wait_second VALUES(1, 1700000002000000000, 1, 2, 90000000, 1, 1), (1, 1700000002000000000, 2, 99, 90000000, 1, 1),
	(1, 1700000002000000000, 1, 1, 9223372036854775807, 1, 1), (99, 1700000002000000000, 1, 1, 5, 1, 1);
INSERT INTO blame_second VALUES(1, 1700000002000000000, -1, 0, 2, 5), (1, 1700000002000000000, 0, 0, 2, 5),
	(1, 1700000002000000000, 3, 0, 99, 5), (1, 1700000002000000000, 4, 0, 3, 5);
INSERT INTO system_second VALUES(1, 1700000001000000000, 9e999, -9e999, 'x', -1, 1, 1e308, 1, 1, 1, 1, 1, 1, 1, 1, 1);
INSERT INTO gpu VALUES(1, 1, -5, '', '', '', 0), (2, 99, 0, '', '', '', 0);
INSERT INTO gpu_second(gpu, at_ns, util_pct, sm_active_pct) VALUES(1, 1700000001000000000, 'x', 9e99), (2, 1700000001000000000, 1, 1);
INSERT INTO loss VALUES(1, 1700000001000000000, CAST(x'fe' AS TEXT), 9223372036854775807), (1, -1, '', -1);
INSERT INTO shed VALUES(1, 'stacks', 0, 9223372036854775807, 9e999, -1), (1, 'x', 1700000002000000000, 1, 0, 0);
INSERT INTO incident VALUES(1, 1, '', -1, 2, 0, 2, 2, 'WORST', 0, 9223372036854775807, -1),
	(2, 1, '', 7, 2, 0, 2, 4, 'HIGH', 1700000001000000000, 1, 1), (3, 1, '', 12345, 2, -7, 2, 99, '', 1700000001000000000, 1700000001500000000, 1);
INSERT INTO communicator VALUES(1, 1, 0, 5, NULL, -7, -7, NULL, NULL, NULL), (2, 3, 0, 5, NULL, 3, 4, NULL, NULL, NULL),
	(3, 99, 0, 5, NULL, 3, 4, NULL, NULL, NULL);
INSERT INTO collective SELECT 1 + value, 1 + 3 * (value = 1), 2, 1, '', '', NULL, 0, NULL, 0, 1700000000000000000 + 1000 * value, -5, 0, 0, 'stream', NULL, 0,
	1700000000000009000, 0, 1 FROM json_each('[0, 1, 2]');
INSERT INTO host_event VALUES(1, 1700000001000000000, 1700000001500000000, 'retransmit', 1, 2, 0, 4, 99, -1, -1, 0),
	(1, 1700000001000000000, 0, 'block_io', 1, 2, 0, 4, 99, 0, 5, 0);
INSERT INTO memory_second VALUES(1, 'device', -5, 1700000001000000000, -1, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO account VALUES(1, 1700000003000000000, 1, 1, 0, 9223372036854775807, 1, 0, 0, 0);
