/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a simulation consists of: flat arrays, with indices in place of pointers.
 *
 * Ports of all switches, routers and hosts have numbers of their own, port by port. A port is both
 * ends of its cable's two directions: the output that sends, and the input with the buffer of what
 * comes. A lane's number here is the virtual lane, except that the lane of management has the
 * number settings.lanes.
 *
 * All that happens at one time happens in two steps: first packets come, ports become free and
 * credits return; then the outputs that could send now choose, by ascending number. So a result
 * never depends on which of two events at the same time comes first.
 */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "agenda.h"

#include <heddle/ar_manager/plan.h>
#include <heddle/base/arena.h>
#include <heddle/ir_router/interconnect.h>
#include <heddle/ir_router/relay.h>
#include <heddle/sim/simulation.h>

enum sim_event {
	SIM_ARRIVE, /* packet: its header is decoded, or at a host its last byte has come */
	SIM_FREE, /* port: it has sent a packet */
	SIM_CREDIT, /* lane: bytes have come back for which it waits */
	SIM_READY, /* queue: its first packet has waited for its bytes, or the one before has left */
	SIM_LIFETIME, /* queue: its first packet may have waited too long */
	SIM_WAKE, /* of the workload */
	SIM_SELF, /* message from a host to itself */
	SIM_SEARCH, /* for deadlocks */
	SIM_CENTRAL, /* copies: the last one has left the central buffer */
	SIM_GIVE_UP /* copies: they have held their outputs for long enough */
};

#define SIM_EVENT_BITS 28u /* of an event's index */

enum sim_kind { SIM_SWITCH, SIM_ROUTER, SIM_HOST };

struct sim_node {
	uint32_t first_port; /* its port 0 */
	uint32_t ports; /* with port 0 */
	uint8_t kind;
	uint32_t subnet, index; /* switch of its subnet; router of the interconnect; endpoint */
	const uint8_t *row; /* switch: its forwarding table */
	uint32_t row_length;
	uint32_t groups; /* its first turn in sim->turns: one for each group */
	uint32_t entries; /* its first entry in sim->paused */
	uint32_t path_turn; /* the last port that path bits have chosen */
	uint32_t central_bytes; /* in use */
	uint32_t first_together, last_together; /* copies that leave together, in turn; HD_NONE */
};

struct sim_port {
	uint64_t busy_until; /* the output sends */
	uint64_t full_time; /* ps that a packet of the MTU needs */
	uint64_t rate; /* bits/s */
	uint32_t picoseconds; /* of a byte; 0: not a whole number */
	uint32_t peer; /* HD_NONE: no cable */
	uint32_t node;
	uint32_t serving; /* queue whose packet was sent last; HD_NONE: none */
	uint32_t queue; /* the first one of the input's */
	uint32_t waiting; /* bytes at this switch that will leave here */
	uint16_t wanted; /* lanes with packets, one bit each */
	uint8_t number; /* on its node */
	uint8_t last_lane;
	bool scheduled; /* SIM_FREE will come at busy_until */
	uint8_t kind; /* of its node */
	uint8_t peer_kind;
	bool blocked; /* it is free and has packets, but no credits for them */
	/* for copies that leave together, one bit each: see sim->reserved */
	uint16_t reserved_lanes;
};

/* A lane of an output. */
struct sim_lane {
	int64_t credits; /* bytes that may be sent */
	uint32_t first, last; /* bytes on their way back, by time */
	uint32_t capacity; /* bytes of the buffer at the other end */
	uint8_t turn; /* the input that was served last */
	bool starved; /* to be woken by the next bytes that are sent back */
	uint64_t timer; /* when SIM_CREDIT will come; HD_SIM_NEVER */
};

struct sim_return {
	uint64_t time;
	uint32_t bytes, next;
};

enum sim_queue_state {
	SIM_QUEUE_IDLE, /* empty, or its last packet is still leaving */
	SIM_QUEUE_UNREADY, /* SIM_READY will come */
	SIM_QUEUE_ASKING /* the first packet has asked its output */
};

struct sim_queue {
	uint64_t busy_until; /* the last byte of the packet that left last */
	uint64_t since; /* when the first packet became so */
	uint32_t head, tail; /* packets */
	uint32_t serving; /* the output that sends from it until then; HD_NONE: none does */
	uint32_t port; /* the input */
	uint8_t lane, state;
};

enum {
	SIM_DROPPABLE = 1,
	SIM_MULTICAST = 2,
	SIM_ROUTING_SHIFT = 2 /* enum hd_sim_routing is above */
};

struct sim_packet {
	uint64_t injected; /* its first byte left the source */
	uint64_t arrived; /* its first byte comes to `at` */
	uint64_t tail; /* its last byte comes there */
	uint64_t ready; /* it may leave `at` from then on; HD_SIM_NEVER: it is on the cable */
	uint32_t next; /* in its queue */
	uint32_t message; /* HD_NONE: the packet is not in use */
	uint32_t bytes; /* with header */
	uint32_t at; /* port where it is, or to which it is on its way */
	uint32_t out; /* port by which it leaves; HD_NONE: `copies` says */
	uint32_t copies; /* at a switch, multicast: the ports by which it leaves; else HD_NONE */
	uint16_t dlid;
	uint16_t slid;
	uint8_t lane_in, lane_out; /* of the buffer where it is, and of the next */
	uint8_t sl, flags;
};

struct sim_message {
	struct hd_sim_message what;
	uint64_t created, injected;
	uint32_t next; /* in its queue */
	uint32_t packets, injected_packets;
	uint32_t accounted; /* unicast: packets that have arrived or were dropped */
	uint32_t dropped;
	uint16_t dlid, slid;
	uint8_t lane, sl;
	bool is_sent;
	uint32_t members, complete; /* multicast */
	uint32_t counts; /* multicast: packets that each member got, in sim->counts */
	uint32_t live; /* multicast: copies in the network */
};

struct sim_host {
	uint64_t backlog; /* payload bytes */
	uint32_t port; /* HD_NONE: a router's */
	uint32_t subnet, index; /* in its fabric */
	uint32_t leaf; /* switch of its fabric */
	uint32_t sending; /* message whose last packet is leaving, or HD_NONE */
	uint16_t lid;
};

struct sim_line {
	uint32_t head, tail; /* messages of a lane of a host */
};

/* What only figures need, by port. */
struct sim_count {
	uint64_t blocked_since; /* if the port is blocked */
	uint64_t chosen; /* packets for which adaptive routing took this port */
};

/* Where a port comes from. */
struct sim_origin {
	uint32_t subnet, port; /* index of its fabric */
};

struct sim_arbiter {
	uint64_t high_bytes; /* of the high table since the last low packet */
	int32_t weight
	    [3]; /* left of the present entries, in units of 64 bytes; of both tables as one, too */
	uint8_t entry[3];
};

/* A multicast group. */
struct sim_group {
	uint32_t mlid, member_count;
	uint32_t *members; /* endpoints, ascending */
	uint32_t free; /* first free block of counts */
};

struct sim_subnet {
	const struct hd_sim_subnet *given;
	uint32_t first_port, first_node, first_endpoint;
	uint32_t *port; /* by port of the fabric: port here, or HD_NONE */
	struct hd_sim_link *links; /* by port of the fabric */
	bool *usable; /* by router port of its map */
	uint16_t *map_lid; /* the same: its LID */
	struct sim_group *groups; /* multicast, by MLID */
	uint32_t group_count;
};

/* A Bounded entry: the port that it keeps. */
struct sim_paused {
	uint64_t last; /* packet */
	uint8_t port; /* 0: none yet */
};

/* The ports by which a multicast packet has to leave. */
struct sim_copies {
	struct hd_port_set pending;
	uint64_t end; /* of the last copy that has left */
	uint32_t out; /* by that port; HD_NONE: none has left */
	uint32_t next; /* of the copies that leave together */
	uint32_t queue; /* of the packet */
	/* that leave together: */
	bool holds; /* the lane of all their outputs is reserved for them */
	uint8_t lane;
	uint8_t patience; /* they insist for the time of 2^patience packets */
	uint32_t tries; /* times that credits have come, but not for all outputs */
	uint64_t give_up; /* when they stop to insist; 0: they do not insist */
	/* in the central buffer: */
	uint32_t shares; /* copies that have not left */
	uint32_t node, bytes;
};

struct hd_sim {
	struct hd_sim_settings settings;
	struct hd_sim_workload workload;
	struct hd_sim_network network;
	struct hd_sim_subnet *given; /* [subnet_count] */
	struct hd_arena arena;
	struct agenda agenda;
	uint64_t now;
	int rc; /* the run is over: -ENOMEM, or what start() returned */
	bool started, stop, deadlocked;
	bool is_large; /* see simulation.c */
	bool plain_lanes; /* a packet never changes its lane */
	uint32_t lanes; /* of a port: with that of management */
	uint32_t words; /* of a mask of inputs */
	uint32_t full_bytes; /* of a packet of the MTU */

	uint32_t node_count, port_count, endpoint_count, queue_count, subnet_count;
	struct sim_subnet *subnets;
	struct sim_node *nodes;
	struct sim_port *ports;
	struct sim_lane *lane; /* [port_count * lanes] */
	uint32_t *known, known_last; /* [the same] of reach.c, and its last number */
	uint32_t *reserved; /* [the same] queue whose packet leaves in copies, all together */
	uint64_t *asking; /* [port_count * lanes * words] inputs with packets */
	struct sim_queue *queues;
	uint64_t *lifetimes; /* [queue_count] when SIM_LIFETIME will come; NULL: no lifetimes */
	struct sim_count *counted; /* [port_count] */
	/* [port_count * lanes] packets that took the lane; NULL: not counted */
	uint64_t *lane_chosen;
	struct hd_sim_link **link; /* [port_count] */
	struct sim_arbiter *arbiters; /* [port_count], NULL without tables */
	struct sim_host *hosts; /* [endpoint_count] */
	struct sim_origin *origins; /* [port_count] */
	uint32_t *router_port; /* [port_count] of the interconnect; NULL without one */
	struct sim_line *lines; /* [endpoint_count * lanes] */
	uint32_t *turns; /* by group: the port chosen last */
	struct sim_paused *paused;
	struct conga *conga; /* NULL: another selection */
	uint64_t *touched, *touched_summary; /* outputs that could send now */
	uint32_t touched_words, touched_summaries;
	bool any_touched;

	/* pools: room, highest in use + 1, first free */
	struct sim_packet *packets;
	uint32_t packet_room, packet_count, packet_free;
	struct sim_message *messages;
	uint32_t message_room, message_count, message_free;
	struct sim_return *returns;
	uint32_t return_room, return_count, return_free;
	struct sim_wake {
		uint64_t token;
		uint32_t next;
	} * wakes;
	uint32_t wake_room, wake_count, wake_free;
	struct sim_copies *copies;
	uint32_t copies_room, copies_count, copies_free;
	uint32_t *counts; /* of members of multicast messages */
	uint32_t counts_room, counts_count;
	bool searching; /* SIM_SEARCH will come */

	/* figures */
	uint64_t event_count, hops, in_flight, made, arrived, dropped;
	uint64_t dropped_head, dropped_switch, dropped_route;
	struct hd_sim_class *classes;
	uint64_t *flow_bytes, *flow_bins;
	uint32_t bin_count, bin_room;
	const struct hd_sim_link **links;
	struct hd_sim_buffer *cycle;
	uint32_t cycle_length;
};

static inline struct sim_lane *sim_lane(const struct hd_sim *sim, uint32_t port, uint32_t lane)
{
	return &sim->lane[port * sim->lanes + lane];
}

/* The words of the inputs that ask for a lane of an output. */
static inline uint64_t *sim_asking(const struct hd_sim *sim, uint32_t port, uint32_t lane)
{
	return &sim->asking[(size_t)(port * sim->lanes + lane) * sim->words];
}

/* ps that a port needs for a packet. */
static inline uint64_t sim_time(const struct hd_sim *sim, const struct sim_port *port,
				uint32_t bytes)
{
	if (bytes == sim->full_bytes)
		return port->full_time;
	if (port->picoseconds)
		return (uint64_t)bytes * port->picoseconds;
	return (bytes * UINT64_C(8000000000000) + port->rate / 2) / port->rate;
}

/* Adds an event; without memory the run is over. */
static inline void sim_push(struct hd_sim *sim, uint64_t time, enum sim_event event, uint32_t index)
{
	int rc = agenda_push(&sim->agenda, time, (uint32_t)event << SIM_EVENT_BITS | index);

	if (rc)
		sim->rc = rc;
}

/* An output could send now: it will choose when all events of this time are done. */
static inline void sim_touch(struct hd_sim *sim, uint32_t port)
{
	sim->touched[port / 64] |= UINT64_C(1) << port % 64;
	sim->touched_summary[port / 4096] |= UINT64_C(1) << port / 64 % 64;
	sim->any_touched = true;
}

/* Whether what happens now counts in the figures. */
static inline bool sim_counts(const struct hd_sim *sim)
{
	return sim->now >= sim->settings.warm_up;
}

static inline bool sim_has_lifetimes(const struct hd_sim *sim)
{
	return sim->settings.head_lifetime != HD_SIM_NEVER ||
	       sim->settings.switch_lifetime != HD_SIM_NEVER;
}

/* ---- pools ---- */

/*
 * Packets, messages and the like: flat pools that double when they are full. Pointers into a pool
 * are valid until the next of its kind is made; indices stay. HD_NONE: no memory, and the run is
 * over.
 */

uint32_t pools_packet(struct hd_sim *sim);
uint32_t pools_message(struct hd_sim *sim);
uint32_t pools_return(struct hd_sim *sim);
uint32_t pools_wake(struct hd_sim *sim);
uint32_t pools_copies(struct hd_sim *sim);

#define POOL_FREE(name, items)                                                                     \
	static inline void pools_free_##name(struct hd_sim *sim, uint32_t item)                    \
	{                                                                                          \
		sim->items[item].next = sim->name##_free;                                          \
		sim->name##_free = item;                                                           \
	}

POOL_FREE(packet, packets) /* the caller has set packets[item].message to HD_NONE */
POOL_FREE(message, messages)
POOL_FREE(return, returns)
POOL_FREE(wake, wakes)
POOL_FREE(copies, copies)

/* ---- wiring ---- */

/* Nodes, ports, lanes and queues of a simulation, from the fabrics. */

/* Checks the network and makes all arrays of the simulation. Errors: those of hd_sim_new(). */
int wiring_make(struct hd_sim *sim, struct hd_error *err);

#endif
