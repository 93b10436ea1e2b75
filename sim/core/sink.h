/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where packets end: at hosts, or dropped. */
#ifndef SINK_H
#define SINK_H

#include "core_state.h"

/* The last byte of a packet has come to a host. */
void sink_arrive(struct hd_sim *sim, uint32_t packet);

/* A packet that is in no queue any more is dropped; *reason counts it. Its bytes go back to the
 * sender when its last byte has come. */
void sink_drop(struct hd_sim *sim, uint32_t packet, uint64_t *reason);

/* The last byte of a message has left its source. */
void sink_sent(struct hd_sim *sim, uint32_t message);

/* A message from a host to itself. */
void sink_self(struct hd_sim *sim, uint32_t message);

#endif
