/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writers. Each flushes the stream, which stays the caller's. Errors of all: the errno of the
 * stream, -ENOMEM.
 */
#ifndef HEDDLE_FABRIC_WRITE_H
#define HEDDLE_FABRIC_WRITE_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ibnetdiscover's format with GUIDs, and with LIDs, widths and speeds in comments. ibsim loads it
 * and gives its nodes the same GUIDs. hd_fabric_read() makes the same fabric of it, except for
 * LIDs and GUIDs of adapter ports without a cable, which the format cannot express. (In ibsim, port
 * GUIDs of adapters are always node GUID + port number.) Names are cut after 64 bytes, as in node
 * descriptions. In names, a quotation mark becomes an apostrophe, and a control character becomes
 * '?'. Cost: O(ports).
 */
int hd_fabric_write_netlist(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

/*
 * A graph for Graphviz: switches by level (hops to the nearest switch with hosts), parallel links
 * as one labelled edge, and the number of hosts of each switch. Cost: O(links log radix).
 */
int hd_fabric_write_dot(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

/*
 * topology.conf for Slurm's topology/tree. A leaf is a line with its nodes: the first word of the
 * description of each channel adapter. A machine with several adapters is at the leaf of the first.
 * Above the leaves a block of a level stands for the leaves that switches up to this level connect.
 * It has the name of the only switch of that level, else a name such as level2-1. Components of the
 * fabric that are not connected stay apart. Characters of a switch's name that have a meaning in
 * Slurm become '_'; names that two switches share get the GUID behind them. Errors: also -EINVAL a
 * node has no name that Slurm can use, -ENODATA no node. Cost: O(levels * (links + blocks^2) + hosts
 * log hosts).
 */
int hd_fabric_write_slurm(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

/*
 * Weights for slurm.conf: a line NodeName=... Weight=... for each leaf, with the nodes of
 * hd_fabric_write_slurm(). The weights are 1, 2, 3 ..., leaf by leaf, and the leaves of a block one
 * after the other. Slurm without a topology plugin takes nodes of low weight first, so it fills leaf
 * after leaf. Errors and cost: as there.
 */
int hd_fabric_write_slurm_weights(const struct hd_fabric *fabric, FILE *stream,
				  struct hd_error *err);

/*
 * topology.conf for Slurm's topology/block. A block is a leaf with its nodes, and has its name. The
 * leaves of a block of hd_fabric_write_slurm() follow one another. BlockSizes begins with the number
 * of nodes of the smallest leaf, and doubles for as long as blocks that Slurm joins, 2^k that follow
 * one another from a multiple of 2^k on, lie in a block of the tree or have all of it. Errors and
 * cost: as there.
 */
int hd_fabric_write_slurm_blocks(const struct hd_fabric *fabric, FILE *stream,
				 struct hd_error *err);

/*
 * topology.yaml of Slurm 25.05 or later, with two topologies: `tree`, the default one, is that of
 * hd_fabric_write_slurm(), and `block` that of hd_fabric_write_slurm_blocks(). Errors and cost: as
 * there.
 */
int hd_fabric_write_slurm_yaml(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

/*
 * GraphML: all nodes with name, GUID, type, level (switches: hops to the nearest switch with hosts),
 * ports and LID; each cable with its ports, width, speed and data rate. Facts that are not known are
 * left out. In names, bytes that are not printable ASCII become '?'. Cost: O(ports).
 */
int hd_fabric_write_graphml(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

/* Writes a node's description, changed as in netlists, as a part of a quoted string for Graphviz.
 * Errors stay in the stream. */
void hd_dot_write_name(const char *name, FILE *stream);

/*
 * opensm-lfts.dump, byte for byte as OpenSM 3.3.23 writes it on x86. Each row has the destination
 * as a comment. Switches are in ascending order of their byte-swapped GUIDs. Cost: O(switches *
 * LIDs).
 */
int hd_routes_write_dump(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 FILE *stream, struct hd_error *err);

/*
 * Forwarding tables in blocks of 64 LIDs, about two bytes an entry: 1/25 of hd_routes_write_dump(). hd_routes_read() reads
 * both. Switches are in canonical order, entries of 0xFF have no port, and blocks without any other are left out.
 *
 *   Blocks of switch Lid 1 guid 0x0000000000200000 ('leaf1'):
 *   block 0x0000 ff000104ff
 *   3 entries dumped
 *
 * Cost: O(switches * LIDs).
 */
int hd_routes_write_blocks(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   FILE *stream, struct hd_error *err);

/*
 * The service levels that belong to a dump of tables, as hd_routes_read() reads them: the virtual
 * lanes of SL 0 to 15; if lanes depend on ports, for each switch and each port that leads to another one the lanes from
 * each port, or from all ("*"); then for each switch with hosts, in canonical order, the SLs by which its
 * hosts send, as runs of LIDs; at the end the number of switches. A run goes from one host's LID to
 * another's. LIDs in a run that no host owns have no SL. Without service levels (routes->sl NULL)
 * the dump lists no switches, and everything is on SL 0.
 *
 *   SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
 *   Virtual lanes at switch guid 0x0000000000200000 ('leaf1'):
 *   * 3 : 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1
 *   1 runs dumped
 *   Service levels at switch guid 0x0000000000200000 ('leaf1'):
 *   0x0004-0x0011 0
 *   0x0012 1
 *   2 runs dumped
 *   1 switches dumped
 *
 * Cost: O(switches * LIDs).
 */
int hd_routes_write_levels(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   FILE *stream, struct hd_error *err);

/*
 * The SLs of all paths between hosts for ibdmchk's option -c (--psl): a line `0xGUID LID SL` for
 * each adapter node and each LID of a host. On the first link, from host to switch, ibdmchk uses
 * the SL as the VL. Errors: also -ENOTSUP a node has ports at switches with different SLs for a
 * LID, which the format cannot express. Cost: O(hosts * LIDs), as many lines.
 */
int hd_routes_write_psl(const struct hd_fabric *fabric, const struct hd_routes *routes,
			FILE *stream, struct hd_error *err);

/*
 * The VLs of SLs for ibdmchk's option -d (--slvl): a line `0xGUID IN OUT 0x01 0x23 ... 0xef` for
 * each switch and each pair of its cabled ports. Cost: O(switches * radix^2), as many lines.
 */
int hd_routes_write_slvl(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 FILE *stream, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
