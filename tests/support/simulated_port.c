/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "simulated_port.h"
#include <errno.h>
#include <heddle/base/random.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64u
#define UNSUPPORTED 0x0C
#define INVALID 0x1C

struct hd_smp_address simulated_address(uint32_t node)
{
	return (struct hd_smp_address){.lid = (uint16_t)(node + 1)};
}

static bool grow(void **list, uint32_t *capacity, uint32_t count, size_t size)
{
	void *larger;

	if (count < *capacity)
		return true;
	larger = realloc(*list, 2 * (size_t)(count + 16) * size);
	if (!larger)
		return false;
	*list = larger;
	*capacity = 2 * (count + 16);
	return true;
}

static void add_event(struct simulated_port *port, uint64_t due, const struct hd_smp_event *event)
{
	if (grow((void **)&port->events, &port->event_capacity, port->event_count,
		 sizeof(*port->events)))
		port->events[port->event_count++] =
		    (struct simulated_event){.due = due, .event = *event};
}

static uint16_t do_lft(struct simulated_node *node, const struct hd_smp *smp, uint8_t *data)
{
	if (smp->modifier >= SIMULATED_LIDS / BLOCK)
		return INVALID;
	if (smp->method == HD_SMP_SET)
		memcpy(node->lft + (size_t)smp->modifier * BLOCK, smp->data, BLOCK);
	memcpy(data, node->lft + (size_t)smp->modifier * BLOCK, BLOCK);
	return 0;
}

static uint16_t do_smp(struct simulated_port *port, uint32_t index, const struct hd_smp *smp,
		       uint8_t *data)
{
	struct simulated_node *node = &port->nodes[index];

	if (node->busy) {
		node->busy--;
		return HD_SMP_BUSY;
	}
	if (node->refuse)
		return node->refuse;
	node->done++;
	if (smp->attribute == HD_SMP_LFT)
		return do_lft(node, smp, data);
	return port->answer ? port->answer(port->context, index, smp, data) : UNSUPPORTED;
}

/* The way that an SMP goes: lost before or after the node did it, or answered. */
static void deliver(struct simulated_port *port, uint32_t index, const struct hd_smp *smp,
		    uint32_t id, uint32_t timeout_ms)
{
	struct hd_smp_event event = {.id = id, .attribute = smp->attribute};
	struct simulated_node *node = &port->nodes[index];
	uint64_t lot = hd_random_next(&port->random);
	bool lost = node->silent || lot % 1000 < node->lose;

	node->seen++;
	if (!lost || (!node->silent && lot >> 63))
		event.status = do_smp(port, index, smp, event.data);
	if (node->silent && node->silent != SIMULATED_FOREVER)
		node->silent--;
	if (lost && port->reports)
		add_event(port, port->now + timeout_ms,
			  &(struct hd_smp_event){.id = id, .rc = -ETIMEDOUT});
	if (lost)
		return;
	add_event(port, port->now + node->delay_ms, &event);
	if (port->twice)
		add_event(port, port->now + node->delay_ms, &event);
}

static int send_smp(void *context, const struct hd_smp_address *address, const struct hd_smp *smp,
		    uint32_t id, uint32_t timeout_ms)
{
	struct simulated_port *port = context;
	uint32_t node = (address->lid ? address->lid : address->path[1]) - 1u;

	if (port->now < port->full_until)
		return -EAGAIN;
	if (port->full_after && !--port->full_after) {
		port->full_until = port->now + 20;
		return -EAGAIN;
	}
	if (node >= port->node_count)
		return -EINVAL;
	if (!grow((void **)&port->sent, &port->sent_capacity, port->sent_count,
		  sizeof(*port->sent)))
		return -ENOMEM;
	port->sent[port->sent_count++] =
	    (struct simulated_sending){.when = port->now, .node = node, .id = id, .smp = *smp};
	deliver(port, node, smp, id, timeout_ms);
	return 0;
}

/* Index of the event that is due first, of those the one that was sent first. */
static uint32_t first_event(const struct simulated_port *port)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < port->event_count; i++)
		if (port->events[i].due < port->events[first].due)
			first = i;
	return first;
}

static int receive(void *context, struct hd_smp_event *event)
{
	struct simulated_port *port = context;
	uint32_t first = first_event(port);

	if (port->broken)
		return port->broken;
	if (!port->event_count || port->events[first].due > port->now)
		return 0;
	*event = port->events[first].event;
	port->event_count--;
	memmove(port->events + first, port->events + first + 1,
		(port->event_count - first) * sizeof(*port->events));
	return 1;
}

/* Time goes on to the next event, or for so long. */
static void wait_for(void *context, int milliseconds)
{
	struct simulated_port *port = context;
	uint64_t until = milliseconds < 0 ? UINT64_MAX : port->now + (uint64_t)milliseconds;

	if (port->event_count && port->events[first_event(port)].due < until)
		until = port->events[first_event(port)].due;
	if (until != UINT64_MAX && until > port->now)
		port->now = until;
}

static int descriptor(void *context)
{
	(void)context;
	return -1;
}

static uint64_t now_of(void *context)
{
	return ((const struct simulated_port *)context)->now;
}

bool simulated_port_start(struct simulated_port *port, uint32_t nodes, uint64_t seed)
{
	*port = (struct simulated_port){.port = {.send = send_smp,
						 .receive = receive,
						 .wait = wait_for,
						 .descriptor = descriptor,
						 .now = now_of,
						 .context = port},
					.now = 1000,
					.node_count = nodes,
					.random = seed};
	port->nodes = calloc(nodes, sizeof(*port->nodes));
	for (uint32_t i = 0; port->nodes && i < nodes; i++)
		port->nodes[i].delay_ms = 1;
	return port->nodes != NULL;
}

void simulated_port_end(struct simulated_port *port)
{
	free(port->nodes);
	free(port->sent);
	free(port->events);
}
