# make             build/culprit, static        make demo     install what is missing, build, run
# make test        install, build, every test   make e2e      only the tests that trace (root)
# make lab         labelled faults (root)       make bench    what a probe costs (root)
# make vmtest      stock kernels in QEMU, T=filter
# make fuzz        every parser, SECONDS=10     make lint     every checker        make fmt
# make install DESTDIR= PREFIX=                 make doc      generated pages
# make samples     a recorded cluster (root)
# make SANITIZE=address,undefined test          make V=1      show commands        make clean
PREFIX  ?= /usr/local
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
ARCH    := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
TRIPLE  := $(shell uname -m)-linux-gnu
OUT     := build$(if $(SANITIZE),-san)$(if $(filter clang%,$(notdir $(CC))),-clang)
VERSION := 0.1.0
.DEFAULT_GOAL := all

PACKAGES_BUILD := gcc libc6-dev clang bpftool libbpf-dev libelf-dev zlib1g-dev libsqlite3-dev \
	liblzma-dev libiberty-dev linux-libc-dev python3
PACKAGES_TEST := sqlite3 clang-format clang-tidy cppcheck shellcheck codespell libclang-rt-14-dev \
	binutils procps util-linux jq iproute2 e2fsprogs protobuf-compiler xfsprogs
PACKAGES_VM := qemu-system-x86 busybox-static cpio e2fsprogs

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Werror -Wformat=2 -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wcast-qual \
	-Wconversion -Wno-sign-conversion -Wnull-dereference -Wimplicit-fallthrough
BASE_FLAGS := -std=gnu11 -D_GNU_SOURCE -DVERSION='"$(VERSION)"' $(WARN) -fno-common -I. -Isrc \
	-isystem $(OUT) -include src/base/banned.h
override CFLAGS += $(BASE_FLAGS) -MMD -MP
ifdef SANITIZE
override CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
else
override CFLAGS += -fstack-protector-strong -D_FORTIFY_SOURCE=2
# The linker warns of SQLite's dlopen, which ours never does. No --no-warnings: it hides undefined
# symbols as well.
LDFLAGS += -static -Wl,-z,relro,-z,now
endif
LDLIBS_OWN := -lbpf -lelf -lz -lsqlite3 -llzma -liberty
LDLIBS_C := -lpthread -ldl -lm
LDLIBS := $(LDLIBS_OWN) $(LDLIBS_C)

MODS  := $(patsubst %.c,$(OUT)/%.o,wire/ops.c $(filter-out src/main.c,$(wildcard src/*/*.c)))
TESTS := $(patsubst %.c,$(OUT)/%.o,test/test.c $(wildcard test/unit/*.c))
FUZZ  := $(patsubst test/fuzz/%.c,$(OUT)/fuzz/%,$(wildcard test/fuzz/*.c))

ifneq ($(V),1)
.SILENT:
say = printf '  %-5s %s\n' $(1) $(2);
endif

all: $(OUT)/culprit
$(OUT)/culprit: $(OUT)/src/main.o $(MODS) $(OUT)/assets.o
	$(call say,LINK,$@) $(CC) $(CFLAGS) $^ $(LDFLAGS) $(LDLIBS) -o $@
$(OUT)/unit: $(TESTS) $(MODS) $(OUT)/assets.o | $(OUT)/native/walk
	$(call say,LINK,$@) $(CC) $(CFLAGS) $^ $(LDFLAGS) $(LDLIBS) -o $@

# ---- the probes

$(patsubst %.c,$(OUT)/%.o,$(wildcard src/capture/capture*.c) src/capture/throttle.c): $(OUT)/probe.skel.h
$(OUT)/src/lineage/load.o: $(OUT)/lineage.skel.h
$(OUT)/%.o: %.c
	mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CFLAGS) -c $< -o $@
# unused-parameter: every BPF_PROG() has a ctx
$(OUT)/probe/%.bpf.o: probe/%.bpf.c
	mkdir -p $(@D)
	$(call say,BPF,$<) $(CLANG) -g -O2 -Wall -Wextra -Wno-unused-parameter -Werror --target=bpf \
		-mcpu=v3 -D__TARGET_ARCH_$(ARCH) -I. -idirafter /usr/include/$(TRIPLE) -MMD -MP -c $< -o $@
$(OUT)/src/capture/tags.o: $(OUT)/tags.skel.h
$(OUT)/tags.skel.h: $(OUT)/probe/tags.bpf.o
	$(call say,SKEL,$@) $(BPFTOOL) gen object $(OUT)/tags.bpf.o $^
	$(BPFTOOL) gen skeleton $(OUT)/tags.bpf.o name tag_probe >$@
# gen object with one input: drops the debug information that is not BTF
$(OUT)/probe.skel.h: $(OUT)/probe/probe.bpf.o
	$(call say,SKEL,$@) $(BPFTOOL) gen object $(OUT)/probe.bpf.o $^
	$(BPFTOOL) gen skeleton $(OUT)/probe.bpf.o name probe >$@
$(OUT)/lineage.skel.h: $(OUT)/probe/lineage.bpf.o
	$(call say,SKEL,$@) $(BPFTOOL) gen object $(OUT)/lineage.bpf.o $^
	{ echo '/* NOLINTBEGIN: not ours */' && $(BPFTOOL) gen skeleton $(OUT)/lineage.bpf.o name lineage_probe && \
		echo '/* NOLINTEND */'; } >$@

# ---- the simulated GPU; see test/sim/README.md

SIM_LIBS := $(OUT)/sim/libcudart.so.13 $(OUT)/sim/libcuda.so.1 $(OUT)/sim/libnccl.so.2
SIM_SRC  := test/sim/lib.c test/sim/sim.c test/sim/driver.c test/sim/nccl.c
# Every entry begins with push %rbp, as NVIDIA's do: a probe there costs what it costs in reality.
SIM_FLAGS := -std=gnu11 -O2 $(WARN) -I. -fPIC -shared -fvisibility=hidden -pthread \
	-fno-omit-frame-pointer $(if $(filter x86,$(ARCH)),-fcf-protection=none) \
	-Wl,-z,nodelete,-z,defs -s
sim: $(SIM_LIBS) $(OUT)/sim/libnvidia-ml.so.1 $(OUT)/sim/simgpu.py $(OUT)/sim/train.py $(OUT)/sim/calls $(OUT)/sim/forge \
		$(OUT)/sim/storm $(OUT)/sim/kernels $(OUT)/sim/kernels_static $(OUT)/sim/libcublasLt.so.13 \
		$(OUT)/sim/tracedb.py $(OUT)/sim/culprit_calls.so
$(OUT)/sim/libcudart.so.13: SIM_LIB = -DSIM_CUDART
$(OUT)/sim/libcuda.so.1: SIM_LIB = -DSIM_CUDA
$(OUT)/sim/libnccl.so.2: SIM_LIB = -DSIM_NCCL
$(SIM_LIBS): $(SIM_SRC) test/sim/sim.h wire/ops.def wire/shapes.def wire/ops.h wire/nccl.def wire/nccl.h \
		wire/event.h
	mkdir -p $(@D)
	$(call say,SIM,$@) $(CC) $(SIM_FLAGS) $(SIM_LIB) -Wl,-soname,$(@F) -o $@ $(SIM_SRC) -ldl
$(OUT)/sim/libnvidia-ml.so.1: test/sim/nvml.c helper/nvml.h
	mkdir -p $(@D)
	$(call say,SIM,$@) $(CC) $(SIM_FLAGS) -Wno-missing-prototypes -Wl,-soname,$(@F) \
		-o $@ $< -ldl
# Calls in blocks as rows, for the sqlite3 shell and other programs: .load, or load_extension().
CALLS_SRC := src/store/packed_table.c src/store/unpack.c
$(OUT)/sim/culprit_calls.so: $(CALLS_SRC) src/store/pack.h src/store/pack_int.h wire/event.h
	mkdir -p $(@D)
	$(call say,CC,$@) $(CC) -std=gnu11 -O2 $(WARN) -I. -Isrc -fPIC -shared -fvisibility=hidden \
		-DPACKED_EXTENSION -s -o $@ $(CALLS_SRC)
$(OUT)/sim/%.py: test/sim/%.py
	mkdir -p $(@D)
	cp $< $@
$(OUT)/sim/libcublasLt.so.13: test/sim/blas.c test/sim/sim.h
	mkdir -p $(@D)
	$(call say,SIM,$@) $(CC) $(SIM_FLAGS) -Wl,-soname,$(@F) -o $@ $<
# The runtime linked in, as nvcc does it: its functions are in .symtab alone.
$(OUT)/sim/kernels_static: test/sim/kernels.c $(SIM_SRC) test/sim/sim.h wire/ops.def wire/shapes.def
	mkdir -p $(@D)
	$(call say,CC,$<) $(CC) -std=gnu11 -O2 $(WARN) -I. -pthread -fno-omit-frame-pointer \
		$(if $(filter x86,$(ARCH)),-fcf-protection=none) -DSIM_CUDART -o $@ $< $(SIM_SRC) -ldl
$(OUT)/sim/calls $(OUT)/sim/forge $(OUT)/sim/storm $(OUT)/sim/kernels: $(OUT)/sim/%: test/sim/%.c
	mkdir -p $(@D)
	$(call say,CC,$<) $(CC) -std=gnu11 -O2 $(WARN) -I. -pthread -rdynamic -o $@ $< -ldl

# ---- programs that load a driver library, which ours cannot; see helper/nvml.c, helper/train.c

# Of the host's own glibc, whichever it is: dlopen is in libdl before 2.34. Never with sanitizers.
HELPERS := $(OUT)/helper/nvml $(OUT)/helper/train
$(OUT)/helper/nvml: helper/nvml.h wire/gpu.h
$(HELPERS): $(OUT)/helper/%: helper/%.c helper/start.c helper/old_glibc.h
	mkdir -p $(@D)
	$(call say,CC,$<) $(CC) -std=gnu11 -O2 $(WARN) -I. -fPIE -pie -nostartfiles -fno-lto -s \
		-Wl,-z,relro,-z,now,-z,noexecstack -o $@ $< helper/start.c \
		-Wl,--no-as-needed -l:libdl.so.2
	tools/check-glibc $@ 2.17

# ---- a program whose frames are known; see test/native/walk.c

# Two compilers, because they write unwind information differently; C++ without its library.
$(OUT)/native/walk: test/native/walk.c test/native/walk.cpp
	mkdir -p $(@D)
	$(call say,CC,$<) $(CC) -std=gnu11 -O2 $(WARN) -fomit-frame-pointer -fasynchronous-unwind-tables \
		-c test/native/walk.c -o $@.c.o
	$(CLANG) -O2 -Wall -Wextra -Werror -fno-exceptions -fno-rtti -fomit-frame-pointer \
		-fasynchronous-unwind-tables -fPIE -c test/native/walk.cpp -o $@.cpp.o
	$(CC) -Wl,--build-id,--export-dynamic-symbol=_PyEval_EvalFrameDefault -o $@ $@.c.o $@.cpp.o

# ---- what the binary carries: the schema, the demo's libraries, its script, its recording

$(OUT)/assets.o: src/cmd/assets.S $(wildcard src/store/*.sql demo/*.sql) $(SIM_LIBS) \
		test/sim/simgpu.py test/sim/train.py $(HELPERS)
	$(call say,AS,$<) sed 's|OUT/|$(OUT)/|' $< >$(OUT)/assets.s
	$(CC) -c $(OUT)/assets.s -o $@

# ---- fuzzing: every parser of foreign bytes, always with sanitizers

FUZZ_FLAGS := -g -O1 $(BASE_FLAGS) -Wno-null-dereference -fsanitize=address,undefined \
	-fno-sanitize-recover=all -MMD -MP
FUZZ_MODS := $(patsubst %.c,$(OUT)/fuzz/%.o,wire/ops.c \
	$(wildcard $(addsuffix /*.c,$(addprefix src/,base decode chain rank tenant step native python tag integrity))) \
	$(addprefix src/store/,hist.c pack.c unpack.c) src/gpu/decode.c src/gpu/xid.c \
	src/export/proto.c $(addprefix src/lineage/,check.c paths.c) \
	$(addprefix src/capture/,elf.c elf_file.c elf_pointer.c elf_symbol.c frees_site.c insn.c maps.c redact.c proc.c host.c \
	usdt.c names.c system.c environ.c trouble.c))
$(OUT)/fuzz/%.o: %.c
	mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c $< -o $@
$(OUT)/fuzz/%_fuzz: test/fuzz/%_fuzz.c $(FUZZ_MODS)
	$(call say,FUZZ,$@) $(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer $(filter %.c %.o,$^) \
		-lm -lz -llzma -liberty $(FUZZ_LIBS) -o $@
$(OUT)/fuzz/query_fuzz $(OUT)/fuzz/merge_fuzz: FUZZ_LIBS := -lsqlite3
$(OUT)/fuzz/query_fuzz $(OUT)/fuzz/merge_fuzz: $(OUT)/assets.o $(patsubst %.c,$(OUT)/fuzz/%.o,\
	$(filter-out src/store/hist.c,$(wildcard src/store/*.c)) $(wildcard src/stack/*.c src/query/*.c src/merge/*.c))
$(OUT)/fuzz/stack_fuzz: $(patsubst %.c,$(OUT)/fuzz/%.o,$(wildcard src/stack/*.c))
fuzz: $(FUZZ)
	sh test/fuzz/run $(or $(SECONDS),10) $^

# ---- checking

C_FILES  := $(shell find src wire probe helper include test -name '*.[ch]')
TIDY     := $(filter-out probe/%,$(filter %.c,$(C_FILES)))
SCRIPTS  := test/bench/io test/bench/ingest test/bench/launches .ci/run demo/record samples/record test/soak test/run test/vm/run test/vm/lib.sh test/vm/init $(wildcard test/vm/jobs/*.sh) test/lab/run test/lib.sh test/gpu/run test/gpu/lab test/gpu/nvml test/gpu/nccl \
	test/gpu/overhead test/gpu/turns test/gpu/surface test/fuzz/run \
	$(wildcard tools/* test/e2e/*.sh test/lab/*.sh test/lab/lib/*.sh)
fmt:
	clang-format -i $(C_FILES)
lint: $(OUT)/probe.skel.h $(OUT)/tags.skel.h $(OUT)/lineage.skel.h
	$(call say,LINT,format) clang-format --dry-run -Werror $(C_FILES)
	$(call say,LINT,includes) tools/check-includes
	$(call say,LINT,size) tools/check-size
	$(call say,LINT,headers) tools/check-headers
	$(call say,LINT,words) tools/check-words
	$(call say,LINT,generated) tools/check-generated $(OUT)
	$(call say,LINT,spelling) codespell README.md CONTRIBUTING.md NEWS.md samples doc src wire probe helper test tools
	$(call say,LINT,cppcheck) cppcheck --quiet --error-exitcode=1 --enable=warning,portability \
		--std=c11 --suppress=unknownMacro --inline-suppr -I. -Isrc src wire
	$(call say,LINT,shell) shellcheck -x $(SCRIPTS)
	$(call say,LINT,tidy) clang-tidy --quiet $(wordlist 1,250,$(TIDY)) -- $(filter-out -W%,$(BASE_FLAGS)) 2>/dev/null & \
		clang-tidy --quiet $(wordlist 251,9999,$(TIDY)) -- $(filter-out -W%,$(BASE_FLAGS)) 2>/dev/null; \
		rest=$$?; wait $$! && [ $$rest = 0 ]
doc: $(OUT)/culprit
	tools/ops-doc <wire/ops.def >doc/ops.md
	tools/schema-doc src/store/schema.sql src/store/merged.sql src/store/views.sql >doc/schema.md
	$(OUT)/culprit help --man >doc/culprit.1
clean:
	rm -rf build build-*

# ---- running

setup:
	tools/setup $(PACKAGES_BUILD)
setup-test: setup
	tools/setup $(PACKAGES_TEST)
demo: setup
	$(MAKE) --no-print-directory all
	sh tools/run-demo $(OUT)/culprit
test: setup-test
	$(MAKE) --no-print-directory all $(OUT)/unit sim $(OUT)/bench/ingest_bench
	sh test/run $(OUT) $(T)
e2e: all sim $(OUT)/bench/ingest_bench
	sh test/run --e2e $(OUT) $(T)
samples: all sim
	sh samples/record $(OUT)
lab: all sim
	sh test/lab/run $(OUT) "$(S)" $(DIR)
vmtest: all sim
	tools/setup $(PACKAGES_VM)
	bash test/vm/run $(OUT) "$(T)"
soak: all sim
	sh test/soak $(OUT) $(SECONDS)
install: all
	install -D -m 0755 $(OUT)/culprit $(DESTDIR)$(PREFIX)/bin/culprit
	install -D -m 0644 include/culprit.h $(DESTDIR)$(PREFIX)/include/culprit.h
	install -D -m 0644 lib/culprit_tag.py $(DESTDIR)$(PREFIX)/share/culprit/culprit_tag.py
	install -D -m 0644 doc/culprit.1 $(DESTDIR)$(PREFIX)/share/man/man1/culprit.1

# ---- benches and the check on a real GPU: libraries linked in, glibc from the machine they run on

$(OUT)/bench/libcuda.so.0: test/bench/null.S
	mkdir -p $(@D)
	$(call say,AS,$<) $(CC) -shared -nostdlib -o $@ $<
$(OUT)/bench/%: $(OUT)/test/bench/%.o $(MODS) $(OUT)/assets.o
	mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(CFLAGS) $^ -Wl,-Bstatic $(LDLIBS_OWN) -Wl,-Bdynamic $(LDLIBS_C) -o $@
$(OUT)/test/gpu/turns.o: $(OUT)/probe.skel.h
$(OUT)/gpu/plain_count $(OUT)/gpu/turns: $(OUT)/gpu/%: $(OUT)/test/gpu/%.o $(MODS) $(OUT)/assets.o
	mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(CFLAGS) $^ $(LDFLAGS) $(LDLIBS) -o $@
# A program of its own: it is looked at, and has nothing of ours in it.
$(OUT)/bench/busy: test/bench/busy.c
	mkdir -p $(@D)
	$(call say,CC,$<) $(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -o $@ $< -ldl
bench: bench-probe bench-switch bench-python bench-export bench-ingest bench-merge
bench-merge: $(OUT)/bench/merge_bench
	$(OUT)/bench/merge_bench $(FILES) $(CALLS)
bench-probe: $(OUT)/bench/probe_bench $(OUT)/bench/libcuda.so.0
	$(OUT)/bench/probe_bench $(abspath $(OUT))/bench/libcuda.so.0 $(ROUNDS)
bench-launches: $(OUT)/bench/busy $(OUT)/bench/libcuda.so.0 $(OUT)/gpu/turns
	sh test/bench/launches $(OUT) $(or $(SECONDS),60) $(VARIANTS)
bench-switch: $(OUT)/bench/switch_bench
	$(OUT)/bench/switch_bench $(or $(ROUNDS),11)
bench-export: $(OUT)/bench/export_bench
	$(OUT)/bench/export_bench $(or $(CALLS),1000000)
bench-ingest: all sim $(OUT)/bench/ingest_bench
	sh test/bench/ingest $(OUT) $(SECONDS)
bench-python: all sim
	sh test/bench/python $(OUT)
bench-io: all $(OUT)/bench/io_bench
	sh test/bench/io $(OUT) $(ROUNDS)
# What test/gpu/run, test/gpu/overhead, test/gpu/turns and test/gpu/lab need, in one folder that can be carried to a machine with a GPU.
gpu: $(OUT)/culprit $(OUT)/gpu/plain_count $(OUT)/gpu/turns $(OUT)/bench/probe_bench $(OUT)/bench/switch_bench \
		$(OUT)/bench/libcuda.so.0 sim
	strip -o $(OUT)/gpu/culprit $(OUT)/culprit
	strip -o $(OUT)/gpu/probe_bench $(OUT)/bench/probe_bench
	strip -o $(OUT)/gpu/switch_bench $(OUT)/bench/switch_bench
	strip $(OUT)/gpu/plain_count $(OUT)/gpu/turns
	cp $(OUT)/bench/libcuda.so.0 $(OUT)/gpu/
	cp -R $(OUT)/sim $(OUT)/gpu/

.PHONY: all sim setup setup-test demo test e2e lab vmtest soak bench bench-probe bench-launches bench-switch bench-python gpu fuzz fmt lint doc install clean bench-export bench-io bench-ingest samples bench-merge
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
