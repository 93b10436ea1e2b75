/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_types.h"

static const char *const texts[HD_ROUTER_REASONS] = {
    [HD_ROUTER_OK] = "accepted",
    [HD_ROUTER_NO_MAGIC] = "the bytes are not a message of this protocol",
    [HD_ROUTER_VERSION] = "the message has another version of the protocol",
    [HD_ROUTER_OVERSIZED] = "the message is longer than allowed",
    [HD_ROUTER_TRUNCATED] = "the message is shorter than its header says",
    [HD_ROUTER_CHECKSUM] = "the checksum is wrong",
    [HD_ROUTER_UNKNOWN_TYPE] = "the type of the message is unknown",
    [HD_ROUTER_BAD_FORM] = "the length or a reserved field does not fit the type",
    [HD_ROUTER_NOT_GREETED] = "the first message must be HELLO",
    [HD_ROUTER_OTHER_SESSION] = "the message belongs to another session",
    [HD_ROUTER_REPLAYED] = "the message was received before",
    [HD_ROUTER_GAP] = "a message before this one is missing",
    [HD_ROUTER_WRONG_ROLE] = "this side must not send such a message",
    [HD_ROUTER_OLD_EPOCH] = "the epoch is not newer than the last one",
    [HD_ROUTER_WRONG_EPOCH] = "the message belongs to another epoch than PORTS",
    [HD_ROUTER_FOREIGN_GID] = "a GID has another prefix than its list",
    [HD_ROUTER_OWN_GID] = "the list has GIDs of the receiver's own subnet",
    [HD_ROUTER_WRONG_PREFIX] = "the sender has no right to speak for this prefix",
    [HD_ROUTER_PREFIX_TAKEN] = "another subnet manager has this prefix already",
    [HD_ROUTER_BAD_VALUE] = "a LID, GUID, prefix or hop count is out of range",
    [HD_ROUTER_NOT_SORTED] = "the list is not in ascending order, or has an entry twice",
    [HD_ROUTER_INCOMPLETE] = "parts of the lists are missing",
    [HD_ROUTER_TOO_MANY] = "the list has more entries than this router has room for",
    [HD_ROUTER_UNKNOWN_PORT] = "the port does not belong to the sender",
};

const char *hd_router_reason_text(enum hd_router_reason reason)
{
	return (unsigned)reason < HD_ROUTER_REASONS ? texts[reason] : "unknown reason";
}
