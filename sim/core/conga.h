/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conga: leaf switches choose a path for each flowlet, by how congested the paths to the leaf of the
 * destination are. Each output estimates its rate. A packet gathers the largest metric on its way.
 * The leaf of the destination keeps it, by source leaf and path, and sends it back in packets to
 * that leaf. Metrics have 3 bits. Source: M. Alizadeh et al., "CONGA: distributed congestion-aware
 * load balancing for datacenters", SIGCOMM 2014.
 *
 * That has two levels, where a path is an uplink of the leaf. Here, with three levels, a path is an
 * uplink of the leaf and one of the switch to which that leads: the leaf chooses both, and the
 * packet says so. On a fourth level ports take turns.
 */
#ifndef CONGA_H
#define CONGA_H

#include "choice.h"

struct conga;

/* Makes sim->conga if the settings ask for Conga. Errors: -ENOMEM, -EINVAL too large a network. */
int conga_prepare(struct hd_sim *sim, struct hd_error *err);
void conga_release(struct hd_sim *sim);

/* The number of the port for a packet at a switch; 0: Conga has none for it. */
uint32_t conga_choose(struct hd_sim *sim, const struct sim_packet *packet,
		      const struct choice_ports *allowed);

/* A packet leaves a port. */
void conga_depart(struct hd_sim *sim, uint32_t port, uint32_t packet);

#endif
