/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes, ports, lanes and queues of a simulation, from the fabrics. */
#ifndef WIRING_H
#define WIRING_H

#include "core_state.h"

/* Checks the network and makes all arrays of the simulation. Errors: those of hd_sim_new(). */
int wiring_make(struct hd_sim *sim, struct hd_error *err);

#endif
