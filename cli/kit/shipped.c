/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shipped.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void shipped_path(const char *name, char *path, size_t size)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	*path = '\0';
	if (length <= 0)
		return;
	program[length] = '\0';
	*strrchr(program, '/') = '\0';
	snprintf(path, size, "%s/" HEDDLE_DATA_FROM_PROGRAM "/heddle/%s", program, name);
}
