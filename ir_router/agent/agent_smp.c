/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_smp.h"

#include <string.h>
#include <time.h>

int agent_smp_open(struct agent_smp *smp, uint8_t subnet, const struct hd_umad_choice *choice,
		   struct hd_error *err)
{
	return hd_umad_port_open(choice, &smp->ports[subnet], err);
}

void agent_smp_close(struct agent_smp *smp)
{
	for (uint32_t s = 0; s < HD_ROUTER_SUBNETS_LIMIT; s++)
		hd_umad_port_close(smp->ports[s]);
	memset(smp->ports, 0, sizeof(smp->ports));
}

int agent_smp_descriptor(const struct agent_smp *smp, uint8_t subnet)
{
	const struct hd_smp_port *port;

	if (!smp->ports[subnet])
		return -1;
	port = hd_umad_port_smp(smp->ports[subnet]);
	return port->descriptor(port->context);
}

static bool send_smp(void *context, uint8_t subnet, const struct hd_router_port *port,
		     enum hd_router_attribute attribute, uint32_t modifier, uint32_t id)
{
	const struct agent_smp *smp = context;
	const struct hd_smp_address address = {.lid = port->switch_lid};
	const struct hd_smp get = {
	    .method = HD_SMP_GET, .attribute = (uint16_t)attribute, .modifier = modifier};
	const struct hd_smp_port *over;

	if (!smp->ports[subnet])
		return false;
	over = hd_umad_port_smp(smp->ports[subnet]);
	return over->send(over->context, &address, &get, id, smp->timeout_ms) == 0;
}

/* Takes the next event that is an answer; a time-out of the port's own is none. */
static bool receive_at(const struct hd_smp_port *port, struct hd_router_answer *answer)
{
	struct hd_smp_event event;

	while (port->receive(port->context, &event) > 0) {
		if (event.rc)
			continue;
		answer->id = event.id;
		answer->failed = event.status != 0;
		memcpy(answer->data, event.data, sizeof(answer->data));
		return true;
	}
	return false;
}

static bool receive_smp(void *context, struct hd_router_answer *answer)
{
	const struct agent_smp *smp = context;

	for (uint32_t s = 0; s < HD_ROUTER_SUBNETS_LIMIT; s++)
		if (smp->ports[s] && receive_at(hd_umad_port_smp(smp->ports[s]), answer))
			return true;
	return false;
}

static uint64_t now_ms(void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct hd_router_callbacks agent_smp_callbacks(struct agent_smp *smp)
{
	return (struct hd_router_callbacks){send_smp, receive_smp, now_ms, smp};
}
