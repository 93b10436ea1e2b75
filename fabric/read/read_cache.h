/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of ibnetdiscover --cache, the only one that is not text. */
#ifndef FABRIC_READ_CACHE_H
#define FABRIC_READ_CACHE_H

#include "topology_reader.h"

/* matches() takes the beginning of the file in place of a line. */
extern const struct topology_dialect read_cache;

#endif
