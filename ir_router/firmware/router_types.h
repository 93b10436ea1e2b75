/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words that all parts of the firmware module share. The module is freestanding C17: it needs
 * memcpy() and memset() from string.h, allocates nothing, prints nothing, and never calls itself.
 * It may be taken out of this folder as it is. All numbers are in host byte order, except in
 * packets and messages.
 */
#ifndef ROUTER_TYPES_H
#define ROUTER_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HD_ROUTER_LID_MAX 0xBFFFu /* the highest unicast LID */
#define HD_ROUTER_LINK_LOCAL 0xFE80000000000000u /* the prefix of GIDs that no router forwards */

struct hd_router_gid {
	uint64_t prefix, guid;
};

/* Why something was refused. The numbers are part of the protocol; new ones come last. */
enum hd_router_reason {
	HD_ROUTER_OK,
	/* the form of a message */
	HD_ROUTER_NO_MAGIC,
	HD_ROUTER_VERSION,
	HD_ROUTER_OVERSIZED,
	HD_ROUTER_TRUNCATED,
	HD_ROUTER_CHECKSUM,
	HD_ROUTER_UNKNOWN_TYPE,
	HD_ROUTER_BAD_FORM,
	/* its place in the session */
	HD_ROUTER_NOT_GREETED,
	HD_ROUTER_OTHER_SESSION,
	HD_ROUTER_REPLAYED,
	HD_ROUTER_GAP,
	HD_ROUTER_WRONG_ROLE,
	HD_ROUTER_OLD_EPOCH,
	HD_ROUTER_WRONG_EPOCH,
	/* what it says */
	HD_ROUTER_FOREIGN_GID,
	HD_ROUTER_OWN_GID,
	HD_ROUTER_WRONG_PREFIX,
	HD_ROUTER_PREFIX_TAKEN,
	HD_ROUTER_BAD_VALUE,
	HD_ROUTER_NOT_SORTED,
	HD_ROUTER_INCOMPLETE,
	HD_ROUTER_TOO_MANY,
	HD_ROUTER_UNKNOWN_PORT,
	HD_ROUTER_REASONS
};

/* A sentence about a reason, for logs. Never NULL. */
const char *hd_router_reason_text(enum hd_router_reason reason);

/* Whether a subnet may have this prefix: neither 0 nor link-local. */
static inline bool hd_router_prefix_is_global(uint64_t prefix)
{
	return prefix && prefix >> 54 != HD_ROUTER_LINK_LOCAL >> 54 && prefix >> 56 != 0xFF;
}

/* Whether this is a LID of a port. */
static inline bool hd_router_lid_is_unicast(uint16_t lid)
{
	return lid && lid <= HD_ROUTER_LID_MAX;
}

#endif
