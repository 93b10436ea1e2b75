/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What switches and routers do with packets, from their inputs to their outputs. */
#ifndef SIM_SWITCHES_H
#define SIM_SWITCHES_H

#include "core_state.h"

/* ---- the outputs that a packet may take ---- */

/* The outputs among which a switch chooses. */
struct choice_ports {
	struct hd_port_set ports; /* by number, with cables alone; empty: the tables lead nowhere */
	struct hd_port_set detours; /* of DFP: for when those are loaded */
	uint32_t turn; /* where the choice goes on, in sim->turns; HD_NONE: the node's path_turn */
	struct sim_paused *paused; /* of a Bounded entry */
};

static inline bool choice_is_cabled(const struct hd_sim *sim, const struct sim_node *node,
				    uint32_t number)
{
	return number && number < node->ports &&
	       sim->ports[node->first_port + number].peer != HD_NONE;
}

/* All outputs that the tables of a switch allow a packet, which is at an input of it. */
void choice_allowed(const struct hd_sim *sim, const struct sim_packet *packet,
		    struct choice_ports *out);

/* The lane on which a packet goes on by an output of a switch: DFP raises it. */
uint8_t choice_lane(const struct hd_sim *sim, const struct sim_packet *packet, uint32_t out);

/* ---- Conga ---- */

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

struct conga;

/* Makes sim->conga if the settings ask for Conga. Errors: -ENOMEM, -EINVAL too large a network. */
int conga_prepare(struct hd_sim *sim, struct hd_error *err);
void conga_release(struct hd_sim *sim);

/* The number of the port for a packet at a switch; 0: Conga has none for it. */
uint32_t conga_choose(struct hd_sim *sim, const struct sim_packet *packet,
		      const struct choice_ports *allowed);

/* A packet leaves a port. */
void conga_depart(struct hd_sim *sim, uint32_t port, uint32_t packet);

/* ---- the output that it takes ---- */

/*
 * Which of the outputs that it may take a packet takes: see enum hd_sim_selection. With FIFO it chooses when it
 * is first in its queue, with VOQ when it comes.
 */

/* Sets out and lane_out of a packet that has come to a switch. False: the tables lead nowhere. */
bool selection_take(struct hd_sim *sim, struct sim_packet *packet);

/* ---- arbitration ---- */

/* VL arbitration. Source: InfiniBand Architecture Specification, volume 1, section 7.6.9. */

/* What a lane of an output would send. */
struct arbiter_offer {
	uint32_t lane, input, queue; /* input and queue: not at hosts */
	uint32_t bytes;
};

/* Sets the arbiter to the beginning of both tables. */
void arbiter_reset(const struct hd_sim *sim, struct sim_arbiter *arbiter);

/*
 * The lane that sends next, of those in `able` (bits, not 0), which offer offers[lane]. The lane of
 * management comes first. HD_NONE never comes: if no table names a lane, lanes take turns.
 */
uint32_t arbiter_choose(struct hd_sim *sim, uint32_t port, uint32_t able,
			const struct arbiter_offer *offers);

/* ---- outputs ---- */

/* Outputs: the credits that they have, the inputs that ask for them, and packets that leave by them. */

/* An output has a packet to send: it chooses when it is free. */
void outputs_wake(struct hd_sim *sim, uint32_t port);

/* SIM_FREE will come when the output is free. */
void outputs_watch(struct hd_sim *sim, uint32_t port);

/* Bytes of a lane of an output that may be sent now. */
int64_t outputs_credits(struct hd_sim *sim, struct sim_lane *lane);

/* Wakes the output when `bytes` can be sent on that lane. True: that will be so soon, whatever others
 * do, because the bytes are on their way back. False: other packets still hold them. */
bool outputs_await(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t bytes);

/* `bytes` of the buffer of an input's lane are free from `when` on. Nothing for a central buffer. */
void outputs_return(struct hd_sim *sim, uint32_t input, uint32_t lane, uint64_t when,
		    uint32_t bytes);

/* A copy leaves the central buffer at that time. */
void outputs_release_copy(struct hd_sim *sim, uint32_t copies, uint64_t when);

/* An input asks for a lane of an output. */
void outputs_mark(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input);

/* It does so no longer, unless another of its queues does. */
void outputs_forget(struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t input);

/* The first packet of a queue, which has one output, asks for it, or takes that back. */
void outputs_ask(struct hd_sim *sim, uint32_t queue);
void outputs_withdraw(struct hd_sim *sim, uint32_t queue);

/* A free output has something to send, but may not: or no longer so. */
void outputs_note_blocked(struct hd_sim *sim, uint32_t port, bool blocked);

/* The input whose packet an output sends next on a lane, and its queue. One asks for the lane. */
uint32_t outputs_next(const struct hd_sim *sim, uint32_t port, uint32_t lane, uint32_t *queue);

/* When a packet may leave by an output, at the earliest: an output that is faster than the input may
 * not start so soon that it runs dry. */
uint64_t outputs_ready_time(const struct hd_sim *sim, const struct sim_packet *packet,
			    uint32_t out);

/* A packet leaves by a port on its lane_out; no buffer is touched. Returns when its last byte
 * leaves. */
uint64_t outputs_depart(struct hd_sim *sim, uint32_t port, uint32_t packet);

/* ---- multicast packets ---- */

/*
 * Multicast packets in switches. For the three kinds of copies see enum hd_sim_replication.
 *
 * Copies that leave together reserve their lane of all outputs at once; a reserved lane sends nothing
 * else. They do so when each output has credits or its credits are on their way back: so they leave
 * soon, whatever other switches do. Multicast goes before unicast; among multicast packets of a lane
 * that can reserve, the one that came first goes first.
 *
 * An output that waits idle for credits that another switch keeps can do harm: packets in
 * neighbouring switches could wait for each other. But without that, others could take the credits
 * of each output again and again. So when credits have come several times, but never for all
 * outputs, a packet insists: it reserves its lane for a limited time, in which packets of other lanes
 * leave by the outputs. If that was in vain, others go on, and the next time is twice as long.
 *
 * Copies in the central buffer wait in queues of the switch's port 0, one for each output and lane;
 * the buffer holds the packet once. A packet for which the central buffer has no room leaves from its
 * input's buffer.
 */

/* The first packet of the queue, a multicast packet, asks its outputs, or takes that back. */

/* A copy leaves by an output. */
void copies_send(struct hd_sim *sim, uint32_t port, const struct arbiter_offer *offer);

/* Outputs of a node have credits again, or are reserved no longer: copies that wait to leave together
 * reserve theirs, if they can. */
void copies_reserve(struct hd_sim *sim, uint32_t node);

/* The queue has reserved its lane of all outputs of its first packet: the copies leave together, if
 * all outputs are free. False: credits are missing, so other lanes may use the outputs meanwhile. */
bool copies_send_together(struct hd_sim *sim, uint32_t queue);

/* Events. */
void copies_central(struct hd_sim *sim, uint32_t copies);
void copies_give_up(struct hd_sim *sim, uint32_t copies);

/* ---- what is sent next ---- */

/* What an output sends next: a packet of a queue, of a host, or copies that leave together. */

/* An output that could send chooses and sends. */
void egress_choose(struct hd_sim *sim, uint32_t port);

/* Events. */
void egress_credit(struct hd_sim *sim, uint32_t lane_index);
void egress_free(struct hd_sim *sim, uint32_t port);

/* ---- inputs ---- */

/* Inputs of switches and routers: where a packet goes on, and the queues in which it waits. */

/* A packet has come to a switch or router, and its header is decoded. */
void ingress_arrive(struct hd_sim *sim, uint32_t packet);

/* A queue has a new first packet, and the one before has left. */
void ingress_advance(struct hd_sim *sim, uint32_t queue);

/* Events. */
void ingress_ready(struct hd_sim *sim, uint32_t queue);
void ingress_lifetime(struct hd_sim *sim, uint32_t queue);

/* ---- deadlocks ---- */

/* Deadlocks: cycles of buffers in which nothing can move any more. */

/* Looks for a deadlock; true: sim->cycle has it. Without memory the run is over. */
bool stall_search(struct hd_sim *sim);

/* A packet has entered the network: SIM_SEARCH will come, if the settings ask for it. */
void stall_watch(struct hd_sim *sim);

/* SIM_SEARCH: looks, and asks for the next time. */
void stall_check(struct hd_sim *sim);

#endif
