// SPDX-License-Identifier: Apache-2.0
/* Probes are found in an image built here, bent or not, and in the system's Python. */
#include "capture/usdt.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "test/test.h"

/* Code and data in two segments whose addresses differ from their offsets. */
enum {
	OFF_PHDR = 0x40,
	OFF_NAMES = 0x200,
	OFF_NOTES = 0x300,
	OFF_SHDR = 0x800,
	OFF_TEXT = 0x1000,
	OFF_DATA = 0x2000,
	IMAGE = 0x3000,
	TEXT_ADDR = 0x401000,
	DATA_ADDR = 0x502000,
	BASE_ADDR = 0x400500,
};

enum { S_NULL, S_NAMES, S_BASE, S_NOTES, S_COUNT };

struct image {
	_Alignas(16) char bytes[IMAGE];
	size_t notes; /* bytes */
};

static Elf64_Ehdr *head(struct image *im)
{
	return (void *)im->bytes;
}

static Elf64_Phdr *segment(struct image *im, size_t i)
{
	return (Elf64_Phdr *)(void *)(im->bytes + OFF_PHDR) + i;
}

static Elf64_Shdr *section(struct image *im, size_t i)
{
	return (Elf64_Shdr *)(void *)(im->bytes + OFF_SHDR) + i;
}

static void add_note(struct image *im, const char *provider, const char *name,
		     const uint64_t desc[3])
{
	char *at = im->bytes + OFF_NOTES + im->notes;
	size_t a = strlen(provider) + 1, b = strlen(name) + 1;
	Elf64_Nhdr note = { .n_namesz = 8, .n_descsz = (uint32_t)(24 + a + b + 6), .n_type = 3 };

	memcpy(at, &note, sizeof(note));
	memcpy(at + 12, "stapsdt", 8);
	memcpy(at + 20, desc, 24);
	memcpy(at + 44, provider, a);
	memcpy(at + 44 + a, name, b);
	memcpy(at + 44 + a + b, "8@%r1", 6);
	im->notes += (20ul + note.n_descsz + 3) / 4 * 4;
	section(im, S_NOTES)->sh_size = im->notes;
}

static void build(struct image *im)
{
	static const char names[] = "\0.shstrtab\0.stapsdt.base\0.note.stapsdt";
	Elf64_Ehdr *h = head(im);

	memset(im, 0, sizeof(*im));
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_phoff = OFF_PHDR;
	h->e_phnum = 2;
	h->e_phentsize = sizeof(Elf64_Phdr);
	h->e_shoff = OFF_SHDR;
	h->e_shnum = S_COUNT;
	h->e_shentsize = sizeof(Elf64_Shdr);
	h->e_shstrndx = S_NAMES;
	*segment(im, 0) = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = PF_R | PF_X,
					.p_offset = OFF_TEXT,
					.p_vaddr = TEXT_ADDR,
					.p_filesz = OFF_DATA - OFF_TEXT };
	*segment(im, 1) = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = PF_R | PF_W,
					.p_offset = OFF_DATA,
					.p_vaddr = DATA_ADDR,
					.p_filesz = IMAGE - OFF_DATA };
	memcpy(im->bytes + OFF_NAMES, names, sizeof(names));
	*section(im, S_NAMES) = (Elf64_Shdr){ .sh_name = 1,
					      .sh_type = SHT_STRTAB,
					      .sh_offset = OFF_NAMES,
					      .sh_size = sizeof(names) };
	*section(im, S_BASE) = (Elf64_Shdr){
		.sh_name = 11, .sh_type = SHT_PROGBITS, .sh_addr = BASE_ADDR, .sh_size = 1
	};
	*section(im, S_NOTES) =
		(Elf64_Shdr){ .sh_name = 25, .sh_type = SHT_NOTE, .sh_offset = OFF_NOTES };
	add_note(im, "libc", "setjmp", (uint64_t[]){ TEXT_ADDR, BASE_ADDR, 0 });
	add_note(im, "python", "gc__start",
		 (uint64_t[]){ TEXT_ADDR + 0x10, BASE_ADDR, DATA_ADDR + 4 });
	add_note(im, "python", "gc__start2", (uint64_t[]){ TEXT_ADDR + 0x20, BASE_ADDR, 0 });
	add_note(im, "python", "gc__start", (uint64_t[]){ TEXT_ADDR + 0x30, BASE_ADDR, 0 });
}

static int find(const struct image *im, struct usdt_site sites[], size_t cap)
{
	int fd = memfd_create("image", MFD_CLOEXEC), n;

	if (fd < 0 || write(fd, im->bytes, IMAGE) != IMAGE)
		abort();
	n = usdt_find(fd, "python", "gc__start", sites, cap);
	close(fd);
	return n;
}

TEST(usdt_finds_all_places_of_a_probe)
{
	struct usdt_site got[4];
	struct image im;

	build(&im);
	CHECK(find(&im, got, 4) == 2);
	CHECK(got[0].offset == OFF_TEXT + 0x10 && got[0].semaphore == OFF_DATA + 4);
	CHECK(got[1].offset == OFF_TEXT + 0x30 && got[1].semaphore == 0);
	CHECK(find(&im, got, 2) == 2);
	CHECK(find(&im, got, 1) == -E2BIG);
	return 0;
}

TEST(usdt_follows_a_file_that_was_moved)
{
	struct usdt_site got[4];
	struct image im;

	build(&im);
	section(&im, S_BASE)->sh_addr += 0x100000;
	segment(&im, 0)->p_vaddr += 0x100000;
	segment(&im, 1)->p_vaddr += 0x100000;
	CHECK(find(&im, got, 4) == 2);
	CHECK(got[0].offset == OFF_TEXT + 0x10 && got[0].semaphore == OFF_DATA + 4);

	section(&im, S_BASE)->sh_type = SHT_NULL; /* without it, addresses are as they are */
	CHECK(find(&im, got, 4) == 0);
	segment(&im, 0)->p_vaddr = TEXT_ADDR;
	segment(&im, 1)->p_vaddr = DATA_ADDR;
	CHECK(find(&im, got, 4) == 2);
	return 0;
}

TEST(usdt_leaves_out_places_that_are_not_in_the_file)
{
	struct usdt_site got[4];
	struct image im;

	build(&im);
	add_note(&im, "python", "gc__start", (uint64_t[]){ DATA_ADDR, BASE_ADDR, 0 });
	add_note(&im, "python", "gc__start", (uint64_t[]){ UINT64_MAX, BASE_ADDR, 0 });
	add_note(&im, "python", "gc__start",
		 (uint64_t[]){ TEXT_ADDR + 1, BASE_ADDR, DATA_ADDR + IMAGE - OFF_DATA - 1 });
	add_note(&im, "python", "gc__start", (uint64_t[]){ TEXT_ADDR + 2, BASE_ADDR, 1 });
	add_note(&im, "python", "gc__start", (uint64_t[]){ TEXT_ADDR + 0x30, BASE_ADDR, 0 });
	CHECK(find(&im, got, 4) == 2);
	return 0;
}

TEST(usdt_survives_files_that_contradict_themselves)
{
	struct usdt_site got[4];
	struct image im;

	build(&im);
	head(&im)->e_shstrndx = S_COUNT;
	CHECK(find(&im, got, 4) == -EBADMSG);
	head(&im)->e_shstrndx = SHN_XINDEX;
	section(&im, S_NULL)->sh_link = S_NAMES;
	CHECK(find(&im, got, 4) == 2);
	head(&im)->e_shstrndx = S_NOTES;
	CHECK(find(&im, got, 4) == -EBADMSG);

	build(&im);
	section(&im, S_NAMES)->sh_size = 30; /* cuts the name of the notes */
	CHECK(find(&im, got, 4) == 0);
	section(&im, S_NAMES)->sh_size = UINT64_MAX;
	CHECK(find(&im, got, 4) == -EBADMSG);

	build(&im);
	section(&im, S_NOTES)->sh_size = IMAGE;
	CHECK(find(&im, got, 4) == -EBADMSG);
	section(&im, S_NOTES)->sh_size = UINT64_MAX;
	CHECK(find(&im, got, 4) == -E2BIG);
	for (uint64_t len = im.notes; len; len--) {
		section(&im, S_NOTES)->sh_size = len;
		CHECK(find(&im, got, 4) >= 0);
	}

	build(&im);
	head(&im)->e_shoff = 0;
	CHECK(find(&im, got, 4) == 0);
	memset(im.bytes, 0, 4);
	CHECK(find(&im, got, 4) == -ENOEXEC);
	return 0;
}

/* What readelf prints about one probe of a file: sums of addresses, and how many. */
struct listed {
	int count;
	uint64_t location, semaphore;
};

/* The number behind a word; 0 without it. */
static uint64_t hex_after(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at ? strtoull(at + strlen(word), NULL, 16) : 0;
}

static void read_listing(FILE *in, const char *name, struct listed *ret)
{
	char line[512], want[64];
	bool ours = false;

	snprintf(want, sizeof(want), "    Name: %s\n", name);
	while (fgets(line, sizeof(line), in)) {
		if (starts_with(line, "    Name: "))
			ours = streq(line, want);
		if (!ours || !strstr(line, "Location: "))
			continue;
		ret->count++;
		ret->location += hex_after(line, "Location: ");
		ret->semaphore += hex_after(line, "Semaphore: ");
	}
}

static struct listed list_with_readelf(const char *path, const char *name)
{
	struct listed ret = { 0, 0, 0 };
	int from_child[2];
	pid_t pid;
	FILE *in;

	if (pipe(from_child))
		abort();
	pid = fork();
	if (!pid) {
		dup2(from_child[1], 1);
		close(from_child[0]);
		close(from_child[1]);
		execlp("readelf", "readelf", "-n", path, NULL);
		_exit(127);
	}
	close(from_child[1]);
	in = fdopen(from_child[0], "r");
	read_listing(in, name, &ret);
	fclose(in);
	waitpid(pid, NULL, 0);
	return ret;
}

/* The address of a file offset. */
static uint64_t addr_of(int fd, uint64_t offset)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h))
		return 0;
	for (unsigned int i = 0; i < h.e_phnum; i++) {
		if (pread(fd, &p, sizeof(p), (off_t)(h.e_phoff + i * sizeof(p))) != sizeof(p))
			return 0;
		if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
			return offset - p.p_offset + p.p_vaddr;
	}
	return 0;
}

TEST(usdt_sees_what_readelf_sees_in_python)
{
	static const char *const paths[] = { "/usr/bin/python3", "/usr/local/bin/python3" };
	static const char *const probes[] = { "gc__start", "gc__done", "line" };

	for (size_t i = 0; i < ARRAY_LEN(paths) * ARRAY_LEN(probes); i++) {
		const char *path = paths[i / ARRAY_LEN(probes)];
		const char *probe = probes[i % ARRAY_LEN(probes)];
		struct listed want = { 0, 0, 0 };
		uint64_t location = 0, semaphore = 0;
		struct usdt_site got[16];
		int fd = open(path, O_RDONLY), n;

		if (fd >= 0)
			want = list_with_readelf(path, probe);
		if (!want.count) {
			close(fd);
			continue; /* no such Python, one without probes, or no readelf */
		}
		n = usdt_find(fd, "python", probe, got, ARRAY_LEN(got));
		CHECK(n == want.count);
		for (int k = 0; k < n; k++) {
			char nop = 0;

			location += addr_of(fd, got[k].offset);
			semaphore += got[k].semaphore ? addr_of(fd, got[k].semaphore) : 0;
			CHECK(pread(fd, &nop, 1, (off_t)got[k].offset) == 1);
#ifdef __x86_64__
			CHECK(nop == '\x90');
#endif
		}
		CHECK_U64(location, want.location);
		CHECK_U64(semaphore, want.semaphore);
		close(fd);
	}
	return 0;
}
