/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that overflow, hide errors, keep static state or start a shell do not compile here.
 * The Makefile includes this file before every source file; nobody includes it by name.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

/* Their headers come first: the macros below would break the declarations. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Function-like, so that a struct member of the same name is left alone. */
#define BANNED(func, instead) func##_is_banned_use_##instead

#undef strcpy
#define strcpy(...) BANNED(strcpy, str_copy)
#undef strcat
#define strcat(...) BANNED(strcat, snprintf)
#undef strncpy
#define strncpy(...) BANNED(strncpy, str_copy)
#undef strtok
#define strtok(...) BANNED(strtok, strtok_r)
#undef sprintf
#define sprintf(...) BANNED(sprintf, snprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf, vsnprintf)
#undef gmtime
#define gmtime(...) BANNED(gmtime, gmtime_r)
#undef localtime
#define localtime(...) BANNED(localtime, localtime_r)
#undef atoi
#define atoi(...) BANNED(atoi, parse_u64)
#undef alloca
#define alloca(...) BANNED(alloca, xcalloc)
#undef system
#define system(...) BANNED(system, posix_spawn)
#undef popen
#define popen(...) BANNED(popen, posix_spawn)

#endif
