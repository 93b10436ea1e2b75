/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of opensm-lfts.dump, dump_lfts.sh and ibroute. */
#ifndef FABRIC_READ_LFT_H
#define FABRIC_READ_LFT_H

#include "table_reader.h"

extern const struct table_dialect read_lft;

#endif
