// SPDX-License-Identifier: Apache-2.0
/* Interrupts, descriptors, ports and Python's lock, from /proc and /sys. */
#include "capture/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "capture/elf_file.h"
#include "capture/maps.h"
#include "wire/event.h"

#define NS_PER_S 1000000000ull
#define PATH_CAP 4096

bool names_irq(int irq, char *dst, size_t cap)
{
	char path[64], text[256];

	text_safe(dst, cap, "");
	snprintf(path, sizeof(path), "/sys/kernel/irq/%d/actions", irq);
	if (irq < 0 || file_read(path, text, sizeof(text), NULL))
		return false;
	text[strcspn(text, "\n")] = '\0';
	text_safe(dst, cap, text);
	return text[0] != '\0';
}

bool names_disk(uint64_t dev, char *dst, size_t cap)
{
	char path[64], text[1024], *name;

	text_safe(dst, cap, "");
	snprintf(path, sizeof(path), "/sys/dev/block/%llu:%llu/uevent",
		 (unsigned long long)dev >> 20, (unsigned long long)dev & 0xfffff);
	if (file_read(path, text, sizeof(text), NULL))
		return false;
	name = strstr(text, "DEVNAME=");
	if (!name)
		return false;
	name += strlen("DEVNAME=");
	name[strcspn(name, "\n")] = '\0';
	text_safe(dst, cap, name);
	return name[0] != '\0';
}

void names_pci(const char *address, char *dst, size_t cap)
{
	char path[96], text[32], safe[32];
	unsigned long class;

	text_safe(safe, sizeof(safe), address);
	text_safe(dst, cap, safe);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", safe);
	if (strchr(safe, '/') || file_read(path, text, sizeof(text), NULL))
		return;
	class = strtoul(text, NULL, 16) >> 16;
	if (class == 0x03 || class == 0x01)
		snprintf(dst, cap, "%s %s", safe, class == 0x03 ? DEVICE_GPU : DEVICE_DISK);
}

/* ---- control groups */

/* Where the unified hierarchy is mounted; false: nowhere. */
static bool cgroup_mount(char *dst, size_t cap)
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char line[PATH_CAP], *type, *path, *save;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (!strtok_r(line, " ", &save))
			continue;
		path = strtok_r(NULL, " ", &save);
		type = strtok_r(NULL, " ", &save);
		found = path && type && streq(type, "cgroup2");
		if (found)
			str_copy(dst, cap, path);
	}
	if (f)
		(void)fclose(f);
	return found;
}

#define HANDLE_KERNFS 0xfe /* the kernel's FILEID_KERNFS: the id, and nothing else */

bool names_cgroup(uint64_t id, char *dst, size_t cap)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} h = { .handle = { .handle_bytes = sizeof(id), .handle_type = HANDLE_KERNFS } };
	char mount[256], link[64], path[PATH_CAP];
	int top, fd = -1;
	ssize_t n = -1;

	text_safe(dst, cap, "");
	if (!cgroup_mount(mount, sizeof(mount)))
		return false;
	memcpy(h.room + sizeof(struct file_handle), &id, sizeof(id));
	top = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top >= 0)
		fd = open_by_handle_at(top, &h.handle, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		close(fd);
	}
	if (top >= 0)
		close(top);
	if (n < (ssize_t)strlen(mount))
		return false;
	path[n] = '\0';
	text_safe(dst, cap, path[strlen(mount)] ? path + strlen(mount) : "/");
	return true;
}

/* The number behind a word in a text of the kernel's own making. */
static bool number_after(const char *text, const char *word, uint64_t *ret)
{
	const char *at = strstr(text, word);
	char *end;

	if (!at)
		return false;
	at += strlen(word);
	*ret = strtoull(at, &end, 10);
	return end != at;
}

/* ---- descriptors */

/* Not by stat: that asks the file system, and its number need not be the inode's. */
static bool fd_inode(int pid, int fd, uint64_t *ret)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	return !file_read(path, text, sizeof(text), NULL) && number_after(text, "\nino:", ret);
}

bool names_fd(int pid, int fd, uint64_t ino, char *dst, size_t cap)
{
	char link[64], path[PATH_CAP];
	uint64_t before, after;
	ssize_t n;

	text_safe(dst, cap, "");
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	if (fd < 0 || !fd_inode(pid, fd, &before) || before != ino)
		return false;
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || !fd_inode(pid, fd, &after) || after != ino)
		return false;
	path[n] = '\0';
	text_safe(dst, cap, path);
	return true;
}

/* ---- ports */

#define NETS 8
#define NET_FRESH_NS NS_PER_S
#define NET_COST 1000 /* behind the listeners the kernel looks through its whole table: some ms */
#define NET_BYTES_MAX (1u << 20)
#define TCP_LISTEN 10 /* as include/net/tcp_states.h numbers them */

/* A network namespace: one bit for each port that somebody listens on. */
struct net {
	uint64_t inode; /* 0: free */
	uint64_t read_ns, until_ns;
	uint64_t listens[65536 / 64];
};

struct names {
	struct net net[NETS];
	struct hash *gil;
};

struct names *names_new(void)
{
	return xcalloc(1, sizeof(struct names));
}

void names_free(struct names *n)
{
	if (!n)
		return;
	hash_free(n->gil);
	free(n);
}

/* Hexadecimal digits, at most max; how many there were. */
static size_t take_hex(const char **at, size_t max, uint64_t *ret)
{
	size_t n = strspn(*at, "0123456789abcdefABCDEF");

	if (!n || n > max)
		return 0;
	*ret = strtoull(*at, NULL, 16);
	*at += n;
	return n;
}

/* ADDRESS:PORT and a blank; the address has 8 or 32 digits. */
static bool take_end(const char **at, uint64_t *ret_port)
{
	uint64_t addr;

	if (!take_hex(at, 32, &addr) || *(*at)++ != ':')
		return false;
	return take_hex(at, 4, ret_port) && *(*at)++ == ' ';
}

/* "  12: 0100007F:1F90 00000000:0000 0A ..." */
int names_tcp_line(const char *line, uint16_t *ret_port)
{
	const char *at = strchr(line, ':');
	uint64_t own, other, state;

	if (!at)
		return -1;
	at += 1 + strspn(at + 1, " ");
	if (!take_end(&at, &own) || !take_end(&at, &other) || !take_hex(&at, 2, &state))
		return -1;
	*ret_port = (uint16_t)own;
	return (int)state;
}

/* False: enough. Sockets that listen come first; behind them are those that do not, without end. */
static bool take_socket(struct net *net, const char *line)
{
	uint16_t port;
	int state = names_tcp_line(line, &port);

	if (state == TCP_LISTEN)
		net->listens[port / 64] |= 1ull << port % 64;
	return state == TCP_LISTEN || state < 0;
}

static void read_listeners(struct net *net, int pid, const char *table)
{
	char path[64], buf[8192];
	size_t used = 0, total = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, table);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while (total < NET_BYTES_MAX && (got = read(fd, buf + used, sizeof(buf) - 1 - used)) > 0) {
		char *line = buf, *end;

		total += (size_t)got;
		buf[used + (size_t)got] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			if (!take_socket(net, line))
				goto out;
		}
		used = strlen(line);
		memmove(buf, line, used);
		if (used == sizeof(buf) - 1)
			break; /* no such line */
	}
out:
	close(fd);
}

static bool net_inode(int pid, uint64_t *ret)
{
	char path[64], text[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	n = readlink(path, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return number_after(text, "net:[", ret) && *ret;
}

bool names_listens(struct names *n, int pid, uint16_t port)
{
	uint64_t inode, now = clock_boot_ns();
	struct net *net = &n->net[0];

	if (!net_inode(pid, &inode))
		return false;
	for (size_t i = 0; i < NETS && net->inode != inode; i++) {
		if (n->net[i].inode == inode || n->net[i].read_ns < net->read_ns)
			net = &n->net[i];
	}
	if (net->inode != inode || now >= net->until_ns) {
		memset(net, 0, sizeof(*net));
		net->inode = inode;
		net->read_ns = now;
		read_listeners(net, pid, "tcp");
		read_listeners(net, pid, "tcp6");
		now = clock_boot_ns();
		net->until_ns = now + max_u64(NET_FRESH_NS, NET_COST * (now - net->read_ns));
	}
	return net->listens[port / 64] >> port % 64 & 1;
}

char *names_tcp(uint64_t obj2, char *dst, size_t cap)
{
	uint32_t addr = (uint32_t)(obj2 >> 32);
	unsigned int port = (unsigned int)(obj2 >> 16 & 0xffff);
	unsigned char a[4];

	memcpy(a, &addr, sizeof(a)); /* network order: as it lies in memory */
	if (addr)
		snprintf(dst, cap, "%u.%u.%u.%u:%u", a[0], a[1], a[2], a[3], port);
	else
		snprintf(dst, cap, ":%u", port);
	return dst;
}

/* ---- Python's lock */

#define GIL_PROCS_MAX 4096
#define GIL_FRESH_NS (60 * NS_PER_S) /* a process may become another program */
#define NO_GIL_FRESH_NS (2 * NS_PER_S) /* at first: it may load Python later */
#define FILES_MAX 4
#define RUNTIME "_PyRuntime"
#define RUNTIME_MIN 512 /* bytes: 656 in 3.9; leaves out types, of which there are hundreds */
#define RUNTIME_MAX (64ull << 20)
#define NAMES_READ_MAX 4096

struct gil_key {
	uint64_t pid, start_ns;
};

struct gil {
	uint64_t from, to; /* equal: none */
	uint64_t until_ns; /* when to look again */
	uint64_t next_ns; /* and how long after that, if there still is none */
};

/* Files that may hold the interpreter, each by its first mapping. */
struct files {
	char exe[PATH_CAP];
	struct map_line line[FILES_MAX];
	size_t n;
};

static int take_file(const struct map_line *line, void *arg)
{
	const char *slash = strrchr(line->path, '/');
	struct files *f = arg;

	if (!line->inode || !slash)
		return 0;
	if (!starts_with(slash, "/libpython") && !streq(line->path, f->exe))
		return 0;
	for (size_t i = 0; i < f->n; i++) {
		if (f->line[i].inode == line->inode && f->line[i].dev_major == line->dev_major &&
		    f->line[i].dev_minor == line->dev_minor)
			return 0;
	}
	f->line[f->n] = *line;
	f->line[f->n].path = ""; /* it is only lent */
	return ++f->n == FILES_MAX;
}

static bool is_runtime(struct elf *e, const struct extent *strings, const Elf64_Sym *sym)
{
	char name[sizeof(RUNTIME)];

	if (sym->st_name > strings->size || sizeof(name) > strings->size - sym->st_name ||
	    elf_read(e, strings->offset + sym->st_name, name, sizeof(name)))
		return false;
	return !memcmp(name, RUNTIME, sizeof(name));
}

/* The symbol among the file's exports; extensions need it, so it is there however stripped. */
static bool find_runtime(struct elf *e, Elf64_Sym *ret)
{
	const size_t step = ARRAY_LEN(e->buf.sym);
	struct symtab dynsym, symtab;
	uint64_t n;
	int names = 0;

	if (elf_symtabs(e, &dynsym, &symtab) || elf_symtab_check(e, &dynsym))
		return false;
	n = dynsym.syms.size / sizeof(Elf64_Sym);
	for (uint64_t at = 0; at < n; at += step) {
		size_t batch = (size_t)min_u64(step, n - at);

		if (elf_read(e, dynsym.syms.offset + at * sizeof(Elf64_Sym), e->buf.sym,
			     batch * sizeof(Elf64_Sym)))
			return false;
		for (size_t i = 0; i < batch; i++) {
			const Elf64_Sym *sym = &e->buf.sym[i];

			if (ELF64_ST_TYPE(sym->st_info) != STT_OBJECT ||
			    sym->st_shndx == SHN_UNDEF || sym->st_size < RUNTIME_MIN)
				continue;
			if (is_runtime(e, &dynsym.strings, sym)) {
				*ret = *sym;
				return true;
			}
			if (++names == NAMES_READ_MAX)
				return false;
		}
	}
	return false;
}

/* What was added to the file's addresses when it was mapped, its first mapping being `line`. */
static bool load_bias(const struct elf *e, const struct map_line *line, uint64_t *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct load *first = &e->loads[0];

	if (!e->n_loads)
		return false;
	for (size_t i = 1; i < e->n_loads; i++) {
		if (e->loads[i].addr < first->addr)
			first = &e->loads[i];
	}
	if (line->offset != first->offset / page * page)
		return false;
	*ret = line->start - first->addr / page * page;
	return true;
}

static bool runtime_in(int pid, const struct map_line *line, struct gil *ret)
{
	struct elf *e = xcalloc(1, sizeof(*e));
	int fd = maps_open(pid, line);
	Elf64_Sym sym;
	uint64_t bias;
	bool found = false;

	if (fd >= 0 && !elf_init(e, fd) && find_runtime(e, &sym) && load_bias(e, line, &bias) &&
	    sym.st_size <= RUNTIME_MAX) {
		ret->from = bias + sym.st_value;
		ret->to = ret->from + sym.st_size;
		found = ret->from < ret->to;
	}
	if (fd >= 0)
		close(fd);
	free(e);
	return found;
}

/* A process that is gone had what it had. */
static void find_gil(int pid, struct gil *ret)
{
	struct files *f = xcalloc(1, sizeof(*f));
	char link[32];
	bool found = false;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, f->exe, sizeof(f->exe) - 1);
	f->exe[n > 0 ? n : 0] = '\0';
	if (maps_each(pid, take_file, f) != -ESRCH) {
		for (size_t i = 0; i < f->n && !found; i++)
			found = runtime_in(pid, &f->line[i], ret);
		if (!found)
			ret->from = ret->to = 0;
	}
	free(f);
}

bool names_is_gil(struct names *n, int pid, uint64_t start_ns, uint64_t addr)
{
	struct gil_key key = { .pid = (uint64_t)pid, .start_ns = start_ns };
	uint64_t now = clock_boot_ns();
	struct gil *gil;

	if (n->gil && hash_count(n->gil) >= GIL_PROCS_MAX && !hash_get(n->gil, &key)) {
		hash_free(n->gil);
		n->gil = NULL;
	}
	if (!n->gil)
		n->gil = hash_new(sizeof(struct gil_key), sizeof(struct gil));
	gil = hash_put(n->gil, &key);
	if (now >= gil->until_ns) {
		find_gil(pid, gil);
		if (gil->from == gil->to) {
			gil->next_ns = min_u64(max_u64(2 * gil->next_ns, NO_GIL_FRESH_NS),
					       20 * GIL_FRESH_NS);
			gil->until_ns = now + gil->next_ns;
		} else {
			gil->next_ns = 0;
			gil->until_ns = now + GIL_FRESH_NS;
		}
	}
	return addr >= gil->from && addr < gil->to;
}
