/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dumps in OpenSM's dump_files_dir, which `heddle check` reads: heddle-fabric.topo, the subnet that
 * the engine routed; heddle-lfts.dump, its tables; heddle-sls.dump, their service levels. OpenSM
 * writes its own dumps, such as opensm-lfts.dump, into the same folder.
 */
#ifndef OPENSM_DUMP_H
#define OPENSM_DUMP_H

#include "log.h"
#include "routing.h"

#include <stdbool.h>

struct osm_opensm;

/* True if OpenSM writes its own dumps after a sweep: its log has the flag ROUTING, 0x40. */
bool dump_is_wanted(struct osm_opensm *osm);

/*
 * Replaces the three files, or none of them. The log names the one that cannot be written, unless
 * *fault says that the last time failed for the same reason. *fault is a negative errno or 0, and 0
 * at first.
 */
void dump_write(const struct routing *routing, const char *directory, const struct opensm_log *log,
		int *fault);

#endif
