/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The port by which the thread of the keys part talks to the switches. */
#ifndef OPENSM_KEYS_PORT_H
#define OPENSM_KEYS_PORT_H

#include <heddle/base/error.h>
#include <heddle/mad/queue.h>
#include <stdbool.h>

/* Zero-initialise before use. */
struct keys_port {
	struct hd_umad_port *umad; /* NULL: not open */
	struct hd_smp_queue *queue; /* NULL: no destinations yet */
	uint32_t room; /* destinations of the queue */
	uint64_t guid;
	struct hd_smp_limits limits;
};

/*
 * Opens the port with that GUID, unless it is open, and gives the queue these destinations. Errors:
 * of the port, with a reason; -ENOMEM.
 */
int keys_port_aim(struct keys_port *port, uint64_t guid, const struct hd_smp_limits *limits,
		  const struct hd_smp_address *addresses, uint32_t count, struct hd_error *err);

const struct hd_smp_port *keys_port_smp(const struct keys_port *port);

/* Closes it, so that the next keys_port_aim() opens it again. */
void keys_port_close(struct keys_port *port);

#endif
