/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a source writes into the header of its packets: LIDs, service level, lane. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "core_state.h"

/* Sets the addresses, service level and lane of a message. False: it has no such destination. */
bool address_message(const struct hd_sim *sim, struct sim_message *message);

/* The lane of a service level in a subnet; HD_NONE: ports do not have it. */
uint32_t address_lane(const struct hd_sim *sim, uint32_t subnet, uint32_t sl);

#endif
