/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of iblinkinfo. */
#ifndef FABRIC_READ_LINKINFO_H
#define FABRIC_READ_LINKINFO_H

#include "topology_reader.h"

extern const struct topology_dialect read_linkinfo;

#endif
