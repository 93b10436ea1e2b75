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

/* ---- the same in pieces, for a thread that must not hold OpenSM's lock for long ---- */

/* A member, or how one joined. */
struct multicast_entry {
	uint64_t node, guid; /* of the node and of the port */
	uint8_t port; /* its number; 0 of a switch */
	bool is_join; /* false: a member */
	uint8_t join_state;
};

/* Where the reading of a box goes on. {0}: at the beginning. */
struct multicast_cursor {
	uint32_t group; /* of the box */
	bool joins; /* the members of the group have been read */
	uint64_t key; /* of the last entry in OpenSM's map */
};

/* Copies up to `room` entries, and moves the cursor. Returns how many; 0 at the end. With OpenSM's lock
 * held at least shared. The box may have changed since the last call. */
uint32_t multicast_members_copy(const struct osm_mgrp_box *box, struct multicast_cursor *cursor,
				struct multicast_entry *entries, uint32_t room);

/* The members of a box from all its entries. Without OpenSM's lock. Errors: -ENOMEM. */
int multicast_members_resolve(const struct hd_fabric *fabric, const struct multicast_entry *entries,
			      uint32_t count, struct multicast_members *out, struct hd_error *err);

#endif
