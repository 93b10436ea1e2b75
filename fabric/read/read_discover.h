/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of ibnetdiscover and ibsim. */
#ifndef FABRIC_READ_DISCOVER_H
#define FABRIC_READ_DISCOVER_H

#include "topology_reader.h"

extern const struct topology_dialect read_discover;

#endif
