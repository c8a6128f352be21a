/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for what a thread waits for, looked up while it is still there. All are told by the process
 * itself or by /proc: made safe to print, and bounded. None of this touches a file system that a
 * tenant may have made to hang.
 */
#ifndef CAPTURE_NAMES_H
#define CAPTURE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was looked up lately. One thread. */
struct names;

struct names *names_new(void);
void names_free(struct names *n);

/* Who is served by an interrupt: "nvme0q3", "virtio1-req.0". False, and dst "": not known. */
bool names_irq(int irq, char *dst, size_t cap);

/*
 * What a descriptor is open on: a path, "pipe:[123]". False, and dst "", when it is closed or no
 * longer that inode (as the kernel counts them: file_inode(file)->i_ino).
 */
bool names_fd(int pid, int fd, uint64_t ino, char *dst, size_t cap);

/*
 * Does anybody in the process's network namespace listen on that TCP port? The answer is a second
 * old at most, or as old as keeps the cost of asking below a thousandth of the time.
 */
bool names_listens(struct names *n, int pid, uint16_t port);

/*
 * Is the futex at addr part of the lock of the process's main Python interpreter: inside its
 * `_PyRuntime`? A process is known by its id and start time. Python 3.7 and newer; interpreters with
 * a lock of their own are not known.
 */
bool names_is_gil(struct names *n, int pid, uint64_t start_ns, uint64_t addr);

/* The other end of a connection, from stop.obj2: "10.0.0.2:9000"; ":9000" if it is not IPv4. */
char *names_tcp(uint64_t obj2, char *dst, size_t cap);

/* A disk or a part of one by its device number as the kernel has it: "nvme0n1p2". */
bool names_disk(uint64_t dev, char *dst, size_t cap);

/* The path of a control group of the unified hierarchy, by its id: "/docker/4f2a...". False: gone. */
bool names_cgroup(uint64_t id, char *dst, size_t cap);

/* The state and the own port in a line of /proc/net/tcp; -1: no such line. */
int names_tcp_line(const char *line, uint16_t *ret_port);

#endif
