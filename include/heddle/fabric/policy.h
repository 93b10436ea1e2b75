/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an administrator tells Heddle about a fabric, beyond its cables. */
#ifndef HEDDLE_FABRIC_POLICY_H
#define HEDDLE_FABRIC_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* The files of a policy, each named after its option in opensm.conf or heddle.conf. */
enum hd_policy_file {
	HD_POLICY_ROOTS, /* root_guid_file */
	HD_POLICY_COMPUTE_NODES, /* cn_guid_file */
	HD_POLICY_IO_NODES, /* io_guid_file */
	HD_POLICY_ORDER, /* guid_routing_order_file */
	HD_POLICY_HOP_WEIGHTS, /* hop_weights_file */
	HD_POLICY_IGNORED_PORTS, /* port_prof_ignore_file */
	HD_POLICY_AGGREGATION, /* aggregation_guid_file, of heddle.conf */
	HD_POLICY_FILES /* how many there are */
};

/* One line of a hop weights or ignored ports file. */
struct hd_port_ref {
	uint64_t node_guid;
	uint32_t port; /* 1 .. HD_PORTS_MAX */
	uint32_t value; /* hop weight 1..255; 0 for ignored ports */
};

/*
 * The policy, with the names of OpenSM's options. All of it is optional. GUIDs are node or port
 * GUIDs; an engine leaves out those that are not in the fabric, with a remark. The arrays belong
 * to the caller.
 */
struct hd_policy {
	const uint64_t *root_guids; /* switches at the top (root_guid_file) */
	uint32_t root_count;
	const uint64_t *cn_guids; /* compute nodes (cn_guid_file): balanced first and apart */
	uint32_t cn_count;
	const uint64_t *io_guids; /* I/O nodes (io_guid_file), may use max_reverse_hops */
	uint32_t io_count;
	const uint64_t *order_guids; /* guid_routing_order_file: routed first, in this order */
	uint32_t order_count;
	const struct hd_port_ref *hop_weights; /* hop_weights_file: cost of leaving by that port */
	uint32_t hop_weight_count;
	const struct hd_port_ref *ignored_ports; /* port_prof_ignore_file: not counted in balance */
	uint32_t ignored_port_count;
	const uint64_t *aggregation_guids; /* adapters to be set aside, beside recognised ones */
	uint32_t aggregation_count;
	unsigned max_reverse_hops; /* allowed steps against the tree towards I/O nodes */
	bool connect_roots;
};

#endif
