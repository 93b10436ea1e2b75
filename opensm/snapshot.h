/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's subnet as an hd_fabric. To be called with OpenSM's lock held; what comes out holds no
 * pointer into OpenSM, which may free its nodes as soon as the lock is given back.
 */
#ifndef OPENSM_SNAPSHOT_H
#define OPENSM_SNAPSHOT_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct osm_opensm;
struct osm_switch;

/*
 * Copies nodes, links and LIDs. Left out, with remarks: switches that did not answer
 * (no SwitchInfo), links that are down, known at one end only or unhealthy, LIDs that OpenSM's
 * own table gives to another port. Errors: as hd_builder_build(); -EINVAL when there is no
 * switch. Cost: O((nodes + ports) log nodes).
 */
int snapshot_take(struct osm_opensm *osm, const struct hd_log *log, struct hd_fabric **out,
		  struct hd_error *err);

/*
 * OpenSM's switch of each of the fabric's switches: an array of fabric->switch_count, NULL
 * where OpenSM has none any more. Only good while the lock is held. To be freed with free();
 * NULL: no memory.
 */
struct osm_switch **snapshot_osm_switches(const struct hd_fabric *fabric, struct osm_opensm *osm);

#endif
