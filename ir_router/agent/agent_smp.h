/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SMPs of the firmware module: by LID, over one umad port for each subnet. */
#ifndef AGENT_SMP_H
#define AGENT_SMP_H

#include <heddle/mad.h>
#include <router.h>

/* Zero-initialise before use. */
struct agent_smp {
	struct hd_umad_port *ports[HD_ROUTER_SUBNETS_LIMIT]; /* NULL: no SMPs there */
	uint32_t timeout_ms;
};

/* Opens the port for a subnet. Errors: as hd_umad_port_open(). */
int agent_smp_open(struct agent_smp *smp, uint8_t subnet, const struct hd_umad_choice *choice,
		   struct hd_error *err);

void agent_smp_close(struct agent_smp *smp);

/* For poll(); -1: the subnet has no port, or the port no descriptor. */
int agent_smp_descriptor(const struct agent_smp *smp, uint8_t subnet);

/* The callbacks for a router. `smp` must outlive it. */
struct hd_router_callbacks agent_smp_callbacks(struct agent_smp *smp);

#endif
