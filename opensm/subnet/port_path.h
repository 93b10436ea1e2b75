/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths that differ between the OpenSMs of one machine, which share opensm.conf and heddle.conf: Debian's
 * service starts one for each port. */
#ifndef OPENSM_PORT_PATH_H
#define OPENSM_PORT_PATH_H

#include <stddef.h>
#include <stdint.h>

struct osm_opensm;

/* The GUID of the port that `guid` of opensm.conf or -g names, 0 if none is named. */
uint64_t port_path_guid(const struct osm_opensm *osm);

/* Copies the path. %g in it becomes 0x and the GUID, or the word default for 0. A path that is too
 * long is cut off. */
void port_path_expand(uint64_t guid, const char *text, char *path, size_t size);

#endif
