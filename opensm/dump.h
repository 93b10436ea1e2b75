/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dumps beside OpenSM's own, in its dump_files_dir: heddle-fabric.topo, the subnet as the
 * engine saw it, heddle-lfts.dump, the tables as it made them, and heddle-sls.dump, their service
 * levels; together they are what `heddle check` takes. OpenSM's opensm-lfts.dump stays OpenSM's.
 */
#ifndef OPENSM_DUMP_H
#define OPENSM_DUMP_H

#include "log.h"
#include "routing.h"

#include <stdbool.h>

struct osm_opensm;

/* True when OpenSM writes its own dumps after a sweep: its log has the flag ROUTING, 0x40. */
bool dump_is_wanted(struct osm_opensm *osm);

/* Writes the files; what cannot be written is said in the log. */
void dump_write(const struct routing *routing, const char *directory, const struct opensm_log *log);

#endif
