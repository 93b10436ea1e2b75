/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adapters that are set aside: they are cabled to a switch like hosts, but say nothing about the
 * shape of the fabric and carry no load that counts. The engines route hosts as if these adapters
 * were not there. Then each gets paths from every switch, which are free of credit loops together
 * with all others.
 *
 * Aggregation nodes are set aside: channel adapters inside a switch that reduce data in the network
 * (SHARP). Every HDR switch has one. hd_fabric_is_aggregation() says by which facts they are
 * recognised. An administrator may list others, such as management adapters on spines
 * (aggregation_guid_file).
 */
#ifndef HEDDLE_FABRIC_ASIDE_H
#define HEDDLE_FABRIC_ASIDE_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_VENDOR_MELLANOX 0x2c9u
#define HD_DEVICE_AGGREGATION 0xcf09u /* Quantum Aggregation Node */

/*
 * Whether a node is an aggregation node by its facts. It is a channel adapter, and
 * - its vendor is Mellanox, or not known, and its device is 0xcf09; or
 * - its system image GUID is known and is that of a switch to which one of its ports is cabled:
 *   both are one box.
 * Names do not matter. Cost: O(ports of the node).
 */
bool hd_fabric_is_aggregation(const struct hd_fabric *fabric, uint32_t node);

/*
 * The same fabric with other adapters set aside: those of the ports with aside[port]
 * ([fabric->port_count]; NULL: none, all adapters are hosts). Ports and LIDs, nodes and links keep
 * their indices, so tables for one are tables for the other. *out uses the memory of `fabric`,
 * which must outlive it, and is freed with hd_fabric_free(). Errors: -ENOMEM. Cost: O(ports of the
 * switches).
 */
int hd_fabric_regroup(const struct hd_fabric *fabric, const bool *aside, struct hd_fabric **out,
		      struct hd_error *err);

/* Sets other adapters aside in the fabric itself. Lists of hosts that were taken from it are no
 * longer valid. Errors and cost: as above; on an error nothing changes. */
int hd_fabric_set_aside(struct hd_fabric *fabric, const bool *aside, struct hd_error *err);

/*
 * The adapters that are set aside, with those that aggregation_guid_file of the policy lists: an
 * array for hd_fabric_regroup(), freed with free(). A GUID is that of an adapter or of one of its
 * ports. Remarks name those that are switches or not in the fabric. NULL: no memory. Cost:
 * O(GUIDs * log ports + ports).
 */
bool *hd_fabric_listed_aside(const struct hd_fabric *fabric, const struct hd_policy *policy,
			     const struct hd_log *log);

#ifdef __cplusplus
}
#endif

#endif
