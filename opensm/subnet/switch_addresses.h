/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the switches are, for SMPs of our own. */
#ifndef OPENSM_SWITCH_ADDRESSES_H
#define OPENSM_SWITCH_ADDRESSES_H

#include <heddle/fabric/graph.h>
#include <heddle/mad/smp.h>

struct osm_opensm;

/*
 * The directed routes by which OpenSM reaches the switches of the fabric: [switch_count], to be
 * freed with free(). A switch that OpenSM no longer has, or whose links are all down, gets an address to which nothing can be
 * sent. NULL: no memory. Call it with OpenSM's lock held.
 */
struct hd_smp_address *switch_addresses_find(const struct hd_fabric *fabric,
					     struct osm_opensm *osm);

#endif
