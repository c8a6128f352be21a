/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that have moved to libc.so.6 since: asked for by the version that all have. */
#ifndef HELPER_OLD_GLIBC_H
#define HELPER_OLD_GLIBC_H

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif

__asm__(".symver dlopen, dlopen@" OLDEST);
__asm__(".symver dlsym, dlsym@" OLDEST);
__asm__(".symver dlerror, dlerror@" OLDEST);
__asm__(".symver __libc_start_main, __libc_start_main@" OLDEST);

#endif
