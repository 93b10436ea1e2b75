/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Indices into arrays: 32 bits, with one value for "no index". */
#ifndef HEDDLE_BASE_INDEX_H
#define HEDDLE_BASE_INDEX_H

#include <stdint.h>

#define HD_NONE UINT32_MAX /* no such node, port, link, entry */

#endif
