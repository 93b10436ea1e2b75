/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cables and switches that a person means to pull: finds what a text names, and whom that cuts off. */
#ifndef HEDDLE_FABRIC_PULL_H
#define HEDDLE_FABRIC_PULL_H

#include <heddle/fabric/changes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Finds the switch or cable that `text` names. NODE is what hd_fabric_resolve() takes: a LID, a GUID with 0x,
 * or a description, which may stand in single quotes.
 *
 *	NODE                       a switch
 *	NODE[PORT]                 the cable at a port of a switch or host
 *	NODE[PORT] - NODE[PORT]    the same, by both ends; blanks around the dash may be left out
 *
 * *out is a loss, as hd_fabric_without() takes it. Errors: those of hd_fabric_resolve(); -EINVAL the text is none of
 * these, there is no such port, or the ends are those of two cables; -ENXIO there is no cable at the port: then *out
 * has the index of the port all the same. Cost: O(nodes).
 */
int hd_pull_resolve(const struct hd_fabric *fabric, const char *text, struct hd_fabric_change *out,
		    struct hd_error *err);

/* Whom a pull cuts off. */
struct hd_pull_cut {
	/* Hosts that are not joined any more with most of those with which they were joined. A host without its
	 * cable, or at a switch that is pulled, is one of them. */
	uint32_t hosts;
	/* ordered pairs of hosts that cables joined before, and do not join after */
	uint64_t pairs;
	uint32_t alone; /* of the hosts, those to which no cable is left */
	uint32_t parts; /* into which the other hosts fall: no cables join two of these */
};

/*
 * Counts who is cut off. By cables alone, whatever tables say. cut[host_count], NULL: not wanted: whether a host is.
 * Errors: -ENOMEM. Cost: O(ports).
 */
int hd_pull_cut(const struct hd_fabric *fabric, const struct hd_fabric_change *pulled,
		uint32_t count, bool *cut, struct hd_pull_cut *out, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
