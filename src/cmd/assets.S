/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of the files that the binary carries. OUT is the build folder. */
	.section .rodata

	.macro carry symbol, path
	.global \symbol\()_start, \symbol\()_end
\symbol\()_start:
	.incbin "\path"
\symbol\()_end:
	.byte 0
	.endm

	carry asset_libcudart, OUT/sim/libcudart.so.13
	carry asset_libcuda, OUT/sim/libcuda.so.1
	carry asset_libnccl, OUT/sim/libnccl.so.2
	carry asset_simgpu, test/sim/simgpu.py
	carry asset_train, test/sim/train.py
	carry asset_gpu_train, OUT/helper/train
	carry gpu_helper, OUT/helper/nvml

	.macro recording symbol, path
	.global \symbol
\symbol:
	.incbin "\path"
	.byte 0
	.endm

	recording asset_incident_sql, demo/incident.sql
	recording asset_cold_start_sql, demo/cold-start.sql
	recording asset_memcpy_bottleneck_sql, demo/memcpy-bottleneck.sql
	recording asset_periodic_spike_sql, demo/periodic-spike.sql
	recording asset_cpu_contention_sql, demo/cpu-contention.sql
	recording asset_gpu_steal_sql, demo/gpu-steal.sql

	.global store_schema
store_schema:
	.incbin "src/store/schema.sql"
	.byte 0

	.global store_merged
store_merged:
	.incbin "src/store/merged.sql"
	.byte 0

	.global store_views
store_views:
	.incbin "src/store/views.sql"
	.byte 0

	.section .note.GNU-stack, "", @progbits
