/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All of the C library that the firmware module may use. */
#ifndef FIRMWARE_STRING_H
#define FIRMWARE_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);

#endif
