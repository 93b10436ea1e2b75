/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric that answers SMPs, for tests of what a repair asks. Cables and switches can be dead: an SMP
 * goes along its directed route, and is lost at the first dead cable. Time is simulated. Include after
 * <cmocka.h>. */
#ifndef REPAIR_ASK_TESTING_H
#define REPAIR_ASK_TESTING_H

#include "repair_ask.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS 4096
#define DOWN 1
#define ACTIVE 4
#define UNSUPPORTED 0x0C

/* A fabric that answers. */
struct world {
	const struct hd_fabric *fabric;
	uint32_t own; /* port */
	bool *dead; /* [port_count] */
	bool *tables; /* [switch_count] says that it has the table of port states */
	bool refuses; /* but has not */
	bool lies; /* its table says that all ports are down */
	uint32_t table_count, port_count; /* SMPs that asked for tables, and for ports */
	uint64_t now, delay; /* ms; delay: of each answer */
	struct {
		uint64_t due;
		struct hd_smp_event event;
	} events[EVENTS];
	uint32_t count, lost;
	struct hd_smp_port port;
};

/* The node to which a route leads; HD_NONE: the SMP is lost. */
static inline uint32_t follow(const struct world *world, const struct hd_smp_address *address)
{
	const struct hd_fabric *fabric = world->fabric;
	uint32_t node = fabric->port_node[world->own];

	for (unsigned hop = 1; hop <= address->hop_count; hop++) {
		if (address->path[hop] > hd_node_ports(fabric, node))
			return HD_NONE;
		uint32_t port = hd_port_index(fabric, node, address->path[hop]);
		if (fabric->peer[port] == HD_NONE || world->dead[port])
			return HD_NONE;
		node = fabric->port_node[fabric->peer[port]];
	}
	return node;
}

static inline void put_guid(uint8_t *at, uint64_t guid)
{
	for (unsigned i = 0; i < 8; i++)
		at[i] = (uint8_t)(guid >> (56 - 8 * i));
}

/* States by the InfiniBand specification: two ports in a byte, the even one in the high four bits. */
static inline void put_table(const struct world *world, uint32_t node, uint32_t block,
			     struct hd_smp_event *event)
{
	for (uint32_t number = block * 128; number < block * 128 + 128; number++) {
		if (!number || number > hd_node_ports(world->fabric, node))
			continue;
		uint32_t port = hd_port_index(world->fabric, node, number);
		unsigned value =
		    world->lies || world->dead[port] || world->fabric->peer[port] == HD_NONE
			? DOWN
			: ACTIVE;
		event->data[number % 128 / 2] |= (uint8_t)(number % 2 ? value : value << 4);
	}
}

static inline void answer_table(struct world *world, uint32_t node, uint32_t block,
				struct hd_smp_event *event)
{
	assert_true(world->tables[node]);
	world->table_count++;
	if (world->refuses)
		event->status = UNSUPPORTED;
	else
		put_table(world, node, block, event);
}

static inline int send_smp(void *context, const struct hd_smp_address *address,
			   const struct hd_smp *smp, uint32_t id, uint32_t timeout_ms)
{
	struct world *world = context;
	uint32_t node = follow(world, address);
	struct hd_smp_event *event = &world->events[world->count].event;

	if (node == HD_NONE) {
		world->lost++;
		(void)timeout_ms;
		return 0;
	}
	assert_true(world->count < EVENTS);
	memset(event, 0, sizeof(*event));
	event->id = id;
	event->attribute = smp->attribute;
	if (smp->attribute == HD_SMP_NODE_INFO) {
		put_guid(event->data + 12, world->fabric->node_guid[node]);
	} else if (smp->attribute == HD_SMP_PORT_STATES) {
		answer_table(world, node, smp->modifier, event);
	} else {
		assert_int_equal(smp->attribute, HD_SMP_PORT_INFO);
		world->port_count++;
		event->data[32] =
		    world->dead[hd_port_index(world->fabric, node, smp->modifier)] ? DOWN : ACTIVE;
	}
	world->events[world->count++].due = world->now + 1 + world->delay;
	return 0;
}

static inline int receive(void *context, struct hd_smp_event *event)
{
	struct world *world = context;

	for (uint32_t i = 0; i < world->count; i++) {
		if (world->events[i].due > world->now)
			continue;
		*event = world->events[i].event;
		world->events[i] = world->events[--world->count];
		return 1;
	}
	return 0;
}

static inline void wait_for_event(void *context, int milliseconds)
{
	((struct world *)context)->now += milliseconds ? 1 : 0;
}

static inline int descriptor(void *context)
{
	(void)context;
	return -1;
}

static inline uint64_t now(void *context)
{
	return ((struct world *)context)->now;
}

static inline int work(void *context, struct hd_smp_queue *queue)
{
	struct world *world = context;

	assert_true(world->now < 100000); /* it ends */
	return hd_smp_queue_work(queue);
}

/* ---- losses ---- */

static inline void cut(struct world *world, uint32_t port)
{
	if (world->fabric->peer[port] == HD_NONE)
		return;
	world->dead[port] = world->dead[world->fabric->peer[port]] = true;
}

static inline void kill_switch(struct world *world, uint32_t sw)
{
	for (uint32_t port = world->fabric->port_base[sw]; port < world->fabric->port_base[sw + 1];
	     port++)
		cut(world, port);
}

static inline void start(struct world *world, struct hd_fabric *fabric)
{
	*world = (struct world){.fabric = fabric, .own = fabric->host_port[0]};
	world->dead = calloc(fabric->port_count, sizeof(bool));
	world->tables = calloc(fabric->switch_count, sizeof(bool));
	world->port = (struct hd_smp_port){.send = send_smp,
					   .receive = receive,
					   .wait = wait_for_event,
					   .descriptor = descriptor,
					   .now = now,
					   .context = world};
}

#endif
