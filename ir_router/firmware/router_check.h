/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a message says only what its sender may say. */
#ifndef ROUTER_CHECK_H
#define ROUTER_CHECK_H

#include "router_codec.h"

/*
 * Checks all values of a message that was decoded: prefixes, GIDs, LIDs, hop counts, the order of
 * entries. `prefix` is that of the session. Cost: O(entries).
 */
enum hd_router_reason router_check_content(uint64_t prefix,
					   const struct hd_router_message *message);

#endif
