/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that come with heddle: scenarios and examples. */
#ifndef CLI_SHIPPED_H
#define CLI_SHIPPED_H

#include <stddef.h>

/*
 * Writes the path of share/heddle/NAME into `path`, cut to `size`. The folder share is found from the place
 * of the executable, so that an installation can lie anywhere. "" if that place is not known.
 */
void shipped_path(const char *name, char *path, size_t size);

#endif
