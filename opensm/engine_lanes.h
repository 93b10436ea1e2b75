/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our engines' say in OpenSM's SLtoVLMapping and VLArbitration tables, and what the log says of it.
 */
#ifndef OPENSM_ENGINE_LANES_H
#define OPENSM_ENGINE_LANES_H

#include "virtual_lanes.h"

struct engine_binding;

/* Adds to a refusal for want of lanes why there are no more. */
void engine_lanes_explain(const struct engine_binding *binding, const struct virtual_lanes *lanes,
			  unsigned for_unicast, struct hd_error *err);

/*
 * Makes the tables for the published routing and lets OpenSM ask for them, with OpenSM's lock held
 * exclusively, before OpenSM sets up QoS. Multicast that cannot have a lane is said in the log.
 */
void engine_lanes_prepare(struct engine_binding *binding);

/* Says in the log which lifetime deadlock=drop relies on. */
void engine_lanes_say_lifetime(const struct engine_binding *binding);

#endif
