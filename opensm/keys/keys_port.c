/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_port.h"

#include <heddle/mad/umad_port.h>

void keys_port_close(struct keys_port *port)
{
	hd_smp_queue_free(port->queue);
	hd_umad_port_close(port->umad);
	*port = (struct keys_port){0};
}

const struct hd_smp_port *keys_port_smp(const struct keys_port *port)
{
	return hd_umad_port_smp(port->umad);
}

static bool same_limits(const struct hd_smp_limits *a, const struct hd_smp_limits *b)
{
	return a->timeout_ms == b->timeout_ms && a->retries == b->retries;
}

static int open_port(struct keys_port *port, uint64_t guid, const struct hd_smp_limits *limits,
		     struct hd_error *err)
{
	const struct hd_umad_choice choice = {.port_guid = guid};

	if (port->umad && port->guid == guid && same_limits(&port->limits, limits))
		return 0;
	keys_port_close(port);
	port->guid = guid;
	port->limits = *limits;
	return hd_umad_port_open(&choice, &port->umad, err);
}

int keys_port_aim(struct keys_port *port, uint64_t guid, const struct hd_smp_limits *limits,
		  const struct hd_smp_address *addresses, uint32_t count, struct hd_error *err)
{
	int rc = open_port(port, guid, limits, err);

	if (rc)
		return rc;
	if (!port->queue || count > port->room) {
		hd_smp_queue_free(port->queue);
		port->queue = hd_smp_queue_new(keys_port_smp(port), limits, count);
		port->room = count;
	}
	if (!port->queue)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < count; i++) {
		hd_smp_queue_aim(port->queue, i, &addresses[i]);
		hd_smp_queue_forgive(port->queue, i);
	}
	return 0;
}
