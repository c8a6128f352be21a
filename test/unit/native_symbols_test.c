// SPDX-License-Identifier: Apache-2.0
/* Where symbols come from once a file is stripped, and how they are written. */
#include <lzma.h>
#include <spawn.h>
#include <sys/stat.h>

#include "base/util.h"
#include "capture/elf.h"
#include "native/native_int.h"
#include "test/test.h"
#include "test/unit/native_child.h"

static const char *demangled(const char *symbol)
{
	static char text[SYMBOL_CAP];

	names_demangle(symbol, text, sizeof(text));
	return text;
}

TEST(native_names_are_demangled)
{
	CHECK_STR(demangled("main"), "main");
	CHECK_STR(demangled("_ZN4demo3runEi"), "demo::run");
	CHECK_STR(demangled("_ZN4demo3BoxIiE5twiceEi"), "demo::Box<int>::twice");
	CHECK_STR(demangled("_ZN3foo3barEv.cold"), "foo::bar");
	CHECK_STR(demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
		  "core::fmt::Write::write_fmt");
	CHECK_STR(demangled("_RNvC6_123foo3bar"), "123foo::bar");
	CHECK_STR(demangled("_Z"), "_Z");
	CHECK_STR(demangled("_Znonsense"), "_Znonsense");
	CHECK_STR(demangled(""), "");
	return 0;
}

TEST(native_stubs_have_the_kernel_in_their_variable)
{
	char plain[SYMBOL_CAP];

	CHECK(stub_kernel("_ZZN2at6native7softmaxILi4EEEvPfE8__handle", plain, sizeof(plain)));
	CHECK_STR(plain, "at::native::softmax<4>");
	CHECK(stub_kernel("_ZZL36__device_stub__Z5saxpyIfEviT_PS0_S1_ifPfS_E8__handle", plain,
			  sizeof(plain)));
	CHECK_STR(plain, "saxpy<float>");
	CHECK(stub_kernel("_ZZ24__device_stub__Z5plainPfPfE8__handle", plain, sizeof(plain)));
	CHECK_STR(plain, "plain");
	/* Lambdas as nvcc writes them. */
	CHECK(stub_kernel(
		"_ZZL62__device_stub__ZN2at6nativeL11elementwiseILi2EUnvhdl0_0EEviT1_iR3fooE8"
		"__handle",
		plain, sizeof(plain)));
	CHECK_STR(plain, "at::native::elementwise<...>");
	CHECK(!stub_kernel("_ZZL36__device_stub__Z5saxpyIfEviT_PS0_S1_ifPfS_E5__tmp", plain,
			   sizeof(plain)));
	CHECK(!stub_kernel("_ZZE8__handle", plain, sizeof(plain)));
	CHECK(!stub_kernel("_ZZnonsenseE8__handle", plain, sizeof(plain)));
	CHECK(!stub_kernel("__handle", plain, sizeof(plain)));
	CHECK(!stub_kernel("", plain, sizeof(plain)));
	return 0;
}

TEST(native_stubs_load_their_variable)
{
	/* mov 0x39e0(%rip), %rdi; mov -8(%rip), %r9; mov 8(%rsp), %rdi; mov 1(%rip), %edi; call */
	static const uint8_t code[] = { 0x48, 0x8b, 0x3d, 0xe0, 0x39, 0,    0,    0x4c, 0x8b, 0x0d,
					0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x7c, 0x24, 0x08, 0x8b,
					0x3d, 1,    0,    0,    0,    0xe8, 0,    0,    0,    0 };
	uint64_t found[4] = { 0 };

	CHECK_U64(stub_loads(code, sizeof(code), 0x1661 + sizeof(code), found, 4), 2);
	CHECK_U64(found[0], 0x1661 + 14 - 8);
	CHECK_U64(found[1], 0x5048);
	CHECK_U64(stub_loads(code, sizeof(code), 0x1000, found, 1), 1);
	CHECK_U64(stub_loads(code, 6, 0x1000, found, 4), 0);
	CHECK_U64(stub_loads(code, 0, 0, found, 4), 0);
	return 0;
}

TEST(native_names_that_explode_are_cut)
{
	char symbol[SYMBOL_CAP] = "_Z1fSt4pairI";
	size_t len = strlen(symbol);

	/* Each level names the one before twice: two to the power of sixty. */
	len += (size_t)snprintf(symbol + len, sizeof(symbol) - len, "S_S_E");
	for (int c = '0'; c < '9'; c++)
		len += (size_t)snprintf(symbol + len, sizeof(symbol) - len, "St4pairIS%c_S%c_E", c,
					c);
	for (int c = 'A'; c < 'Z'; c++)
		len += (size_t)snprintf(symbol + len, sizeof(symbol) - len, "St4pairIS%c_S%c_E", c,
					c);
	CHECK(strlen(demangled(symbol)) < SYMBOL_CAP);
	return 0;
}

TEST(native_names_are_kept_once_and_harmless)
{
	struct names n;
	const char *first;
	char text[64];

	names_init(&n);
	first = names_keep(&n, "a\nb\x1b[2J");
	CHECK_STR(first, "a\\x0ab\\x1b[2J");
	CHECK(names_keep(&n, "a\nb\x1b[2J") == first);
	CHECK_STR(names_keep(&n, ""), "");
	for (int i = 0; !names_full(&n) || names_keep(&n, text)[0]; i++) {
		snprintf(text, sizeof(text), "%-60d", i);
		CHECK(names_full(&n) || names_keep(&n, text)[0]);
		CHECK(n.bytes <= NAMES_BYTES_MAX);
	}
	CHECK(names_keep(&n, "a\nb\x1b[2J") == first); /* what is known stays known */
	names_release(&n);
	return 0;
}

#if defined(__x86_64__)

struct place {
	char dir[64];
	char walk[4096], copy[128], debug[128];
};

static bool run(const char *const argv[])
{
	char *args[12];
	pid_t pid;
	int status, i;

	for (i = 0; argv[i] && i < 11; i++)
		args[i] = xstrdup(argv[i]);
	args[i] = NULL;
	status = posix_spawnp(&pid, args[0], NULL, NULL, args, environ);
	if (!status && waitpid(pid, &status, 0) != pid)
		status = 1;
	while (i--)
		free(args[i]);
	return !status;
}

/* A stripped copy of the program, and what was stripped. False: no binutils. */
static bool make_place(struct place *p)
{
	snprintf(p->dir, sizeof(p->dir), "/tmp/native-XXXXXX");
	beside(p->walk, sizeof(p->walk), "native/walk");
	if (!may_look() || !mkdtemp(p->dir))
		return false;
	snprintf(p->copy, sizeof(p->copy), "%s/walk", p->dir);
	snprintf(p->debug, sizeof(p->debug), "%s/walk.debug", p->dir);
	return run((const char *[]){ "objcopy", "--only-keep-debug", p->walk, p->debug, NULL }) &&
	       run((const char *[]){ "strip", "-s", "-o", p->copy, p->walk, NULL });
}

static void remove_place(struct place *p)
{
	(void)run((const char *[]){ "rm", "-rf", p->dir, NULL });
}

/* How many of the frames that walk_handler has above it are named. */
static int named(struct native *n, const char *program)
{
	struct native_stack s = { .frames = 0 };
	struct c_stack c;
	pid_t pid = stopped_child(program);
	int count = 0;

	if (pid < 0 || !copy_stack(pid, true, &c) || !native_unwind(n, &c, &s))
		return -1;
	end_child(pid);
	native_forget(n, (uint32_t)pid);
	if (!s.complete)
		return -1;
	for (int i = 0; i < s.frames; i++)
		count += strstr(s.frame[i].module, "walk") && s.frame[i].func[0];
	return count;
}

/* One is known nevertheless: the part of the evaluation loop that its exported part jumps to. */
TEST(native_unwinds_stripped_programs)
{
	struct native *n = native_new();
	struct place p;

	n->debug_root = "/nonexistent";
	if (make_place(&p)) {
		CHECK(named(n, p.walk) == 12);
		CHECK(named(n, p.copy) == 1);
		remove_place(&p);
	}
	native_free(n);
	return 0;
}

TEST(native_finds_debug_files_by_build_id)
{
	struct native *n = native_new();
	char id[BUILD_ID_CAP], path[256];
	struct place p;
	int fd;

	if (!make_place(&p)) {
		native_free(n);
		return 0;
	}
	fd = open(p.copy, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && !elf_build_id(fd, id, sizeof(id)) && strlen(id) == 40);
	close(fd);
	snprintf(path, sizeof(path), "%s/.build-id", p.dir);
	CHECK(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/.build-id/%.2s", p.dir, id);
	CHECK(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", p.dir, id, id + 2);
	CHECK(!symlink("/etc/passwd", path)); /* leads out: not followed */
	n->debug_root = p.dir;
	CHECK(named(n, p.copy) == 1);
	native_free(n);
	CHECK(!unlink(path) && !rename(p.debug, path));
	n = native_new();
	n->debug_root = p.dir;
	CHECK(named(n, p.copy) == 12);
	CHECK(named(n, p.copy) == 12);
	native_free(n);
	remove_place(&p);
	return 0;
}

/* Beside the file, as seen from the folder of debug files, with the checksum that the link has. */
TEST(native_finds_debug_files_by_link)
{
	struct native *n = native_new();
	char link[160], dir[256], path[512];
	struct place p;
	FILE *f;

	if (!make_place(&p)) {
		native_free(n);
		return 0;
	}
	snprintf(link, sizeof(link), "--add-gnu-debuglink=%s", p.debug);
	CHECK(run((const char *[]){ "objcopy", "--remove-section=.note.gnu.build-id", link, p.copy,
				    NULL }));
	snprintf(dir, sizeof(dir), "%.60s/root/%.60s", p.dir, p.dir + 1);
	CHECK(run((const char *[]){ "mkdir", "-p", dir, NULL }));
	snprintf(path, sizeof(path), "%s/walk.debug", dir);
	CHECK(!rename(p.debug, path));
	snprintf(dir, sizeof(dir), "%s/root", p.dir);
	n->debug_root = dir;
	CHECK(named(n, p.copy) == 12);
	native_free(n);

	f = fopen(path, "a"); /* another file than the one that was linked */
	CHECK(f && fputc('x', f) == 'x' && !fclose(f));
	n = native_new();
	n->debug_root = dir;
	CHECK(named(n, p.copy) == 1);
	native_free(n);
	remove_place(&p);
	return 0;
}

static bool compress(const char *from, const char *to)
{
	enum { CAP = 1 << 20 };
	uint8_t *raw = xcalloc(1, CAP), *packed = xcalloc(1, CAP);
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t size = in ? fread(raw, 1, CAP, in) : 0, used = 0;
	bool ok = out && size && size < CAP &&
		  lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, raw, size, packed, &used,
					  CAP) == LZMA_OK &&
		  fwrite(packed, 1, used, out) == used;

	if (in)
		fclose(in);
	if (out)
		ok = !fclose(out) && ok;
	free(raw);
	free(packed);
	return ok;
}

TEST(native_reads_symbols_compressed_inside_the_file)
{
	struct native *n = native_new();
	char packed[128], section[192];
	struct place p;

	n->debug_root = "/nonexistent";
	if (make_place(&p)) {
		snprintf(packed, sizeof(packed), "%s/mini.xz", p.dir);
		snprintf(section, sizeof(section), ".gnu_debugdata=%s", packed);
		CHECK(compress(p.debug, packed));
		CHECK(run((const char *[]){ "objcopy", "--add-section", section, p.copy, NULL }));
		CHECK(named(n, p.copy) == 12);
		remove_place(&p);
	}
	native_free(n);
	return 0;
}

TEST(native_unwinds_without_a_sorted_table)
{
	struct native *n = native_new();
	struct place p;

	n->debug_root = "/nonexistent";
	if (make_place(&p)) {
		/* The segment says where the table is: make it another segment. */
		FILE *f = fopen(p.copy, "r+");
		Elf64_Ehdr e;
		Elf64_Phdr h;

		CHECK(f && fread(&e, sizeof(e), 1, f) == 1);
		for (int i = 0; i < e.e_phnum; i++) {
			long at = (long)(e.e_phoff + (size_t)i * sizeof(h));

			CHECK(!fseek(f, at, SEEK_SET) && fread(&h, sizeof(h), 1, f) == 1);
			if (h.p_type != PT_GNU_EH_FRAME)
				continue;
			h.p_type = PT_NULL;
			CHECK(!fseek(f, at, SEEK_SET) && fwrite(&h, sizeof(h), 1, f) == 1);
		}
		CHECK(!fclose(f));
		CHECK(named(n, p.copy) == 1); /* which it says only of a complete stack */
		remove_place(&p);
	}
	native_free(n);
	return 0;
}

#endif
