/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program without a C library around the firmware module: it must link. */
#include "router_session.h"

#include <string.h>

static uint64_t memory[1u << 15];

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	for (volatile size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	for (volatile size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = (uint8_t)byte;
	return to;
}

static bool no_send(void *context, uint8_t subnet, const struct hd_router_port *port,
		    enum hd_router_attribute attribute, uint32_t modifier, uint32_t id)
{
	(void)context, (void)subnet, (void)port, (void)attribute, (void)modifier, (void)id;
	return false;
}

static bool no_receive(void *context, struct hd_router_answer *answer)
{
	(void)context, (void)answer;
	return false;
}

static uint64_t no_time(void *context)
{
	(void)context;
	return 0;
}

void start(void);

void start(void)
{
	static uint8_t packet[HD_ROUTER_PACKET], bytes[512];
	const struct hd_router_limits limits = {
	    .subnets = 2, .ports = 6, .hosts = 512, .mapped = 512, .prefixes = 8};
	const struct hd_router_settings settings = HD_ROUTER_SETTINGS_DEFAULT;
	const struct hd_router_callbacks callbacks = {no_send, no_receive, no_time, NULL};
	struct hd_router *router =
	    hd_router_init(memory, sizeof(memory), &limits, &settings, &callbacks);
	struct hd_router_session session;
	struct hd_router_message message;
	struct hd_router_egress egress;
	uint8_t subnet;
	uint32_t first = 0;

	hd_router_session_begin(&session, HD_ROUTER_ROLE_ROUTER, 1, 0, 1);
	if (router && !hd_router_attach(router, 1, &subnet) &&
	    !hd_router_session_receive(&session, bytes, sizeof(bytes), &message))
		hd_router_update(router, subnet, &message);
	if (router && hd_router_work(router)) {
		hd_router_session_stamp(&session, &message);
		hd_router_write_foreign(router, 0, &first, &message, bytes, sizeof(bytes));
		hd_router_write_prefixes(router, 0, 0, &message, bytes, sizeof(bytes));
		hd_router_relay(router, 0, packet, &egress);
	}
	for (;;)
		;
}
