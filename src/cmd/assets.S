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

	carry gpu_helper, OUT/helper/nvml

	.global asset_incident_sql
asset_incident_sql:
	.incbin "demo/incident.sql"
	.byte 0

	.global store_schema
store_schema:
	.incbin "src/store/schema.sql"
	.byte 0

	.section .note.GNU-stack, "", @progbits
