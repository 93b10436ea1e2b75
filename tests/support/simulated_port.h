/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port for SMP queues with simulated nodes and simulated time: nothing waits, and every run is
 * the same. The node with index n has the LID n + 1; directed routes of one hop lead to it by
 * port n + 1. Nodes have linear forwarding tables; `answer` can give them any other attribute.
 */
#ifndef SIMULATED_PORT_H
#define SIMULATED_PORT_H

#include <heddle/mad/smp.h>
#include <stdbool.h>
#include <stdint.h>

#define SIMULATED_LIDS 1024u
#define SIMULATED_FOREVER UINT32_MAX

/* Faults may be changed at any time. */
struct simulated_node {
	uint8_t lft[SIMULATED_LIDS];
	uint32_t silent; /* so many further SMPs are lost; SIMULATED_FOREVER */
	uint32_t busy; /* so many further SMPs are answered with the status busy */
	uint16_t refuse; /* this status for all; 0: none */
	uint32_t delay_ms;
	uint32_t lose; /* of 1000 SMPs are lost; of half of them only the answer */
	uint32_t seen, done; /* SMPs that came, and that were done */
};

/* An SMP that was sent, in the order of sending. */
struct simulated_sending {
	uint64_t when;
	uint32_t node, id;
	struct hd_smp smp;
};

struct simulated_event {
	uint64_t due;
	struct hd_smp_event event;
};

struct simulated_port {
	struct hd_smp_port port; /* for hd_smp_queue_new() */
	uint64_t now; /* ms */
	struct simulated_node *nodes; /* [node_count] */
	uint32_t node_count;
	struct simulated_sending *sent; /* [sent_count] */
	uint32_t sent_count, sent_capacity;
	struct simulated_event *events; /* [event_count], by no order */
	uint32_t event_count, event_capacity;
	uint64_t random;
	bool reports; /* reports time-outs, as the kernel does */
	bool twice; /* delivers each answer two times */
	uint32_t full_after; /* takes so many SMPs more, then -EAGAIN until 20 ms later; 0: all */
	uint64_t full_until;
	int broken; /* receive() returns it */
	/* Attributes other than forwarding tables; NULL: status 0x0C. Returns the status. */
	uint16_t (*answer)(void *context, uint32_t node, const struct hd_smp *smp, uint8_t *data);
	void *context;
};

/* A port with nodes without faults, answering after 1 ms. False: no memory. */
bool simulated_port_start(struct simulated_port *port, uint32_t nodes, uint64_t seed);
void simulated_port_end(struct simulated_port *port);

/* Address of a node. */
struct hd_smp_address simulated_address(uint32_t node);

#endif
