/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shipped.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* The path of the executable, without symbolic links. A chroot may have no /proc: then as exec() got it. */
static bool find_program(char program[PATH_MAX])
{
	const char *started = (const char *)getauxval(AT_EXECFN);

	return realpath("/proc/self/exe", program) || (started && realpath(started, program));
}

void shipped_path(const char *name, char *path, size_t size)
{
	char program[PATH_MAX];

	*path = '\0';
	if (!find_program(program))
		return;
	*strrchr(program, '/') = '\0';
	snprintf(path, size, "%s/" HEDDLE_DATA_FROM_PROGRAM "/heddle/%s", program, name);
}
