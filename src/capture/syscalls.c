// SPDX-License-Identifier: Apache-2.0
/* What a thread waits for, by the system call that it is in. One row per call. */
#include <sys/syscall.h>

#include "base/util.h"
#include "capture/kernel.h"
#include "wire/event.h"

#define FD(state) (SYSCALL_FD | (state))

static const struct {
	int nr;
	uint16_t state;
} calls[] = {
	/* The file behind the descriptor decides; of a plain file, this: */
	{ SYS_read, FD(STATE_READ) },
	{ SYS_readv, FD(STATE_READ) },
	{ SYS_pread64, FD(STATE_READ) },
	{ SYS_preadv, FD(STATE_READ) },
	{ SYS_preadv2, FD(STATE_READ) },
	{ SYS_sendfile, FD(STATE_READ) },
	{ SYS_readahead, FD(STATE_READ) },
	{ SYS_getdents64, FD(STATE_PATH) },
	{ SYS_write, FD(STATE_WRITE) },
	{ SYS_writev, FD(STATE_WRITE) },
	{ SYS_pwrite64, FD(STATE_WRITE) },
	{ SYS_pwritev, FD(STATE_WRITE) },
	{ SYS_pwritev2, FD(STATE_WRITE) },
	{ SYS_fallocate, FD(STATE_WRITE) },
	{ SYS_ftruncate, FD(STATE_WRITE) },
	{ SYS_fsync, FD(STATE_FSYNC) },
	{ SYS_fdatasync, FD(STATE_FSYNC) },
	{ SYS_syncfs, FD(STATE_FSYNC) },
	{ SYS_sync_file_range, FD(STATE_FSYNC) },
	{ SYS_close, FD(STATE_FSYNC) },
	{ SYS_ioctl, FD(STATE_SYSCALL) },
	{ SYS_flock, FD(STATE_SYSCALL) },
	{ SYS_fcntl, FD(STATE_SYSCALL) },
	{ SYS_accept, FD(STATE_SYSCALL) },
	{ SYS_accept4, FD(STATE_SYSCALL) },
	{ SYS_connect, FD(STATE_SYSCALL) },
	{ SYS_sendto, FD(STATE_SYSCALL) },
	{ SYS_sendmsg, FD(STATE_SYSCALL) },
	{ SYS_sendmmsg, FD(STATE_SYSCALL) },
	{ SYS_recvfrom, FD(STATE_SYSCALL) },
	{ SYS_recvmsg, FD(STATE_SYSCALL) },
	{ SYS_recvmmsg, FD(STATE_SYSCALL) },
	{ SYS_ppoll, SYSCALL_POLL },
	{ SYS_pselect6, SYSCALL_SELECT },
	{ SYS_epoll_pwait, STATE_POLL },
	{ SYS_epoll_pwait2, STATE_POLL },
	{ SYS_nanosleep, STATE_SLEEP },
	{ SYS_clock_nanosleep, STATE_SLEEP },
	{ SYS_rt_sigtimedwait, STATE_SLEEP },
	{ SYS_rt_sigsuspend, STATE_SLEEP },
	{ SYS_futex, STATE_FUTEX },
	{ 449, STATE_FUTEX }, /* futex_waitv */
	{ 455, STATE_FUTEX }, /* futex_wait */
	{ SYS_semtimedop, STATE_FUTEX },
	{ SYS_semop, STATE_FUTEX },
	{ SYS_wait4, STATE_CHILD },
	{ SYS_waitid, STATE_CHILD },
	{ SYS_io_uring_enter, STATE_URING },
	{ SYS_io_getevents, STATE_URING },
	{ SYS_sync, STATE_FSYNC },
	{ SYS_msync, STATE_FSYNC },
	{ SYS_mmap, STATE_MMAP },
	{ SYS_mprotect, STATE_MMAP },
	{ SYS_munmap, STATE_MMAP },
	{ SYS_brk, STATE_MMAP },
	{ SYS_mremap, STATE_MMAP },
	{ SYS_madvise, STATE_MMAP },
	{ SYS_openat, SYSCALL_OPENAT | STATE_PATH },
	{ 437, STATE_PATH }, /* openat2 */
	{ SYS_newfstatat, STATE_PATH },
	{ SYS_statx, STATE_PATH },
	{ SYS_execve, STATE_PATH },
	{ SYS_truncate, STATE_WRITE },
	{ SYS_unlinkat, STATE_WRITE },
	{ SYS_renameat2, STATE_WRITE },
	{ SYS_mkdirat, STATE_WRITE },
#ifdef __x86_64__ /* the older forms, which newer architectures do not have */
	{ SYS_poll, SYSCALL_POLL },
	{ SYS_select, SYSCALL_SELECT },
	{ SYS_epoll_wait, STATE_POLL },
	{ SYS_pause, STATE_SLEEP },
	{ SYS_open, SYSCALL_OPEN | STATE_PATH },
	{ SYS_stat, STATE_PATH },
	{ SYS_lstat, STATE_PATH },
	{ SYS_unlink, STATE_WRITE },
	{ SYS_rename, STATE_WRITE },
	{ SYS_mkdir, STATE_WRITE },
#endif
};

void syscall_states(uint16_t ret[SYSCALL_NUMBERS])
{
	for (size_t i = 0; i < SYSCALL_NUMBERS; i++)
		ret[i] = STATE_SYSCALL;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (calls[i].nr < SYSCALL_NUMBERS)
			ret[calls[i].nr] = calls[i].state;
}
