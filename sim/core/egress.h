/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an output sends next: a packet of a queue, of a host, or copies that leave together. */
#ifndef EGRESS_H
#define EGRESS_H

#include "core_state.h"

/* An output that could send chooses and sends. */
void egress_choose(struct hd_sim *sim, uint32_t port);

/* Events. */
void egress_credit(struct hd_sim *sim, uint32_t lane_index);
void egress_free(struct hd_sim *sim, uint32_t port);

#endif
