/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of ibdmchk's and OpenSM's maps from service levels to lanes. */
#ifndef FABRIC_READ_SLVL_H
#define FABRIC_READ_SLVL_H

#include "table_reader.h"

extern const struct table_dialect read_slvl;

/* After all files: notes and logs that maps of some ports are missing. Errors: -ENOMEM. Cost:
 * O(links * radix). */
int read_slvl_end(struct table_reader *tables);

#endif
