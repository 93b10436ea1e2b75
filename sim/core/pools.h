/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets, messages and the like: flat pools that double when they are full. Pointers into a pool
 * are valid until the next of its kind is made; indices stay. HD_NONE: no memory, and the run is
 * over.
 */
#ifndef POOLS_H
#define POOLS_H

#include "core_state.h"

uint32_t pools_packet(struct hd_sim *sim);
/* The caller has set packets[packet].message to HD_NONE. */
void pools_free_packet(struct hd_sim *sim, uint32_t packet);
uint32_t pools_message(struct hd_sim *sim);
void pools_free_message(struct hd_sim *sim, uint32_t message);
uint32_t pools_return(struct hd_sim *sim);
void pools_free_return(struct hd_sim *sim, uint32_t item);
uint32_t pools_wake(struct hd_sim *sim);
void pools_free_wake(struct hd_sim *sim, uint32_t wake);
uint32_t pools_copies(struct hd_sim *sim);
void pools_free_copies(struct hd_sim *sim, uint32_t copies);
void pools_release(struct hd_sim *sim);

#endif
