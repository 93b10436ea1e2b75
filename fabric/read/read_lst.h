/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialect of ibdiagnet's .lst files. */
#ifndef FABRIC_READ_LST_H
#define FABRIC_READ_LST_H

#include "topology_reader.h"

extern const struct topology_dialect read_lst;

#endif
