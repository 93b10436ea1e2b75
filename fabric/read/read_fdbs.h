/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of .fdbs files. */
#ifndef FABRIC_READ_FDBS_H
#define FABRIC_READ_FDBS_H

#include "table_reader.h"

extern const struct table_dialect read_fdbs;

#endif
