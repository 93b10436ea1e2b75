/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What switches can do, by what OpenSM has read of them. */
#ifndef OPENSM_SWITCH_ABILITIES_H
#define OPENSM_SWITCH_ABILITIES_H

#include <heddle/fabric/graph.h>

struct osm_opensm;

/* has[switch_count]: whether the switch answers SwitchPortStateTable, by the PortInfo of its port 0. All are false if
 * memory is short. Call it with OpenSM's lock held. Cost: O(switches log switches). */
void switch_abilities_port_states(const struct hd_fabric *fabric, struct osm_opensm *osm,
				  bool *has);

#endif
