/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of ibdmchk's service levels of paths. */
#ifndef FABRIC_READ_PSL_H
#define FABRIC_READ_PSL_H

#include "table_reader.h"

extern const struct table_dialect read_psl;

#endif
