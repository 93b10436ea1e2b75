/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What engines with an option `root` share. */
#ifndef ENGINES_ROOT_OPTION_H
#define ENGINES_ROOT_OPTION_H

#include <stdbool.h>
#include <stdint.h>

/* False when `text` is not a number in hexadecimal, with or without 0x. */
bool root_option_guid(const char *text, uint64_t *guid);

#endif
