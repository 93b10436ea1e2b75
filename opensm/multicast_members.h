/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The members of the groups of an MLID, as ports of a fabric. */
#ifndef OPENSM_MULTICAST_MEMBERS_H
#define OPENSM_MULTICAST_MEMBERS_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

struct osm_mgrp_box;

struct multicast_members {
	uint32_t *ports; /* port indices; to be freed with free() */
	uint32_t count;
	uint32_t unknown_count; /* members that the fabric does not have */
	uint64_t unknown; /* port GUID of one of them */
	/*
	 * The only sender; HD_NONE if it is unknown. It is the only member that joined to send and
	 * not to receive. If there is no such member, it is the only full member beside
	 * non-members.
	 */
	uint32_t source;
};

/* Finds all members, however they joined, as for OpenSM's own trees. Errors: -ENOMEM. */
int multicast_members_find(const struct hd_fabric *fabric, const struct osm_mgrp_box *box,
			   struct multicast_members *out, struct hd_error *err);

#endif
