/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's subnet as an hd_fabric. Call these functions with OpenSM's lock held. The fabric has no
 * pointers into OpenSM, which may free its nodes after the lock is released.
 */
#ifndef OPENSM_SNAPSHOT_H
#define OPENSM_SNAPSHOT_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct osm_opensm;
struct osm_switch;

/*
 * Copies nodes, links and LIDs. Leaves out switches without SwitchInfo; links that are down,
 * unhealthy, or known at one end only; LIDs that OpenSM's own table assigns to another port.
 * Remarks say what was left out. Errors: as hd_builder_build(); -EINVAL the subnet has no switch.
 * Cost: O((nodes + ports) log nodes).
 */
int snapshot_take(struct osm_opensm *osm, const struct hd_log *log, struct hd_fabric **out,
		  struct hd_error *err);

/*
 * Finds OpenSM's switch for each switch of the fabric. Returns an array of fabric->switch_count, to
 * be freed with free(); an entry is NULL if OpenSM no longer has the switch. Valid only while the
 * lock is held. Returns NULL if memory is short.
 */
struct osm_switch **snapshot_osm_switches(const struct hd_fabric *fabric, struct osm_opensm *osm);

#endif
