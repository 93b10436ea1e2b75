/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of Heddle's own dump of service levels. */
#ifndef FABRIC_READ_LEVELS_H
#define FABRIC_READ_LEVELS_H

#include "table_reader.h"

extern const struct table_dialect read_levels;

#endif
