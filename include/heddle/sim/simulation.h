/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packet-level simulator of a lossless InfiniBand fabric. It forwards with the tables that go to
 * the switches: struct hd_routes, the plan of adaptive routing, the relay of routers, the
 * multicast tables.
 *
 *	hd_sim_new(&network, &settings, &workload, &sim, &err);
 *	hd_sim_run(sim, until, &end, &err);         again and again, for as long as the caller likes
 *	hd_sim_figures(sim, &figures);
 *	hd_sim_free(sim);
 *
 * The model. A packet's first byte needs the latency of the cable, its last byte comes size / rate
 * later. A switch may send a packet on after its switch latency, without waiting for its last byte,
 * but never sooner than the output would run dry. It needs the output port, which sends one packet
 * at a time, and credits for the whole packet: the free bytes of that lane in the buffer at the
 * other end of the cable. The bytes come back when the packet's last byte has left that buffer, a
 * cable's latency later. An output port takes its next lane by VL arbitration, and of that
 * lane the next input port in turn that has a packet for it.
 *
 * The same network, settings, workload and seed give the same figures, bit by bit, on any machine.
 * A simulation is for one thread; several may run at the same time.
 */
#ifndef HEDDLE_SIM_SIMULATION_H
#define HEDDLE_SIM_SIMULATION_H

#include <heddle/fabric/graph.h>
#include <heddle/fabric/mfts.h>
#include <heddle/fabric/routes.h>
#include <heddle/sim/settings.h>

struct hd_sim; /* a simulation; opaque */
struct hd_ar_plan; /* heddle/ar_manager/plan.h */
struct hd_interconnect; /* heddle/ir_router/interconnect.h */
struct hd_relay; /* heddle/ir_router/relay.h */

/*
 * A subnet. All belongs to the caller and must outlive the simulation. The simulator reads the
 * tables when it chooses a packet's port, so a caller may change entries between two calls of hd_sim_run() or
 * in a callback: as a subnet manager that programs switches.
 */
struct hd_sim_subnet {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_ar_plan *plan; /* NULL: no adaptive routing */
	const struct hd_mfts *mfts; /* NULL: no multicast */
};

/*
 * Endpoints of the simulation are the hosts of the fabrics: host h of subnet s is
 * hd_sim_endpoint(sim, s, h). With one subnet the two numbers are equal. Router ports are among
 * the hosts of a fabric, but are no source and no destination of messages.
 */
struct hd_sim_network {
	const struct hd_sim_subnet *subnets; /* with several: in the order of the interconnect */
	uint32_t subnet_count;
	/* NULL with one subnet. The maps of the subnets give the router port for each destination. */
	const struct hd_interconnect *interconnect;
	const struct hd_relay *relay; /* what routers do; NULL with one subnet */
};

/* Which ports a packet may take at a switch. */
enum hd_sim_routing {
	HD_SIM_DETERMINISTIC, /* the port of the forwarding table */
	HD_SIM_ADAPTIVE, /* the group of the plan, where the entry has one */
	HD_SIM_PATH_BITS /* at each switch any entry of the destination's 2^LMC LIDs (doc/papers/irregular.md) */
};

/* Which packets of a message the head lifetime may drop. */
enum hd_sim_dropping {
	HD_SIM_DROP_NONE,
	HD_SIM_DROP_MIDDLE, /* all but the first and the last packet */
	HD_SIM_DROP_ALL
};

#define HD_SIM_SL_OF_ROUTES 0xFF /* the service level that the tables name for source and LID */

struct hd_sim_message {
	uint32_t source; /* endpoint */
	uint32_t destination; /* endpoint; HD_NONE: the multicast group `mlid` */
	uint32_t bytes; /* of payload, at least 1; cut into packets of the MTU */
	uint32_t flow; /* below settings.flow_count, or HD_NONE */
	uint16_t lid_offset; /* the packets go to the destination's base LID + this; below 2^LMC */
	uint16_t mlid;
	uint16_t traffic_class; /* below settings.class_count */
	uint8_t sl; /* service level, or HD_SIM_SL_OF_ROUTES */
	uint8_t lane; /* 0 .. 15: this lane all the way, whatever the SL; HD_SIM_LANE_OF_SL */
	uint8_t routing; /* enum hd_sim_routing */
	uint8_t dropping; /* enum hd_sim_dropping */
	uint64_t tag; /* of the workload: it comes back in all callbacks */
};

#define HD_SIM_LANE_OF_SL 0xFF

/* When what happened to a message, ps. */
struct hd_sim_times {
	uint64_t created; /* hd_sim_send() */
	uint64_t injected; /* its first byte left the source */
	uint64_t done; /* its last byte left the source (sent), or came (delivered) */
};

/*
 * What makes messages. All callbacks get `context`, may call hd_sim_send() and hd_sim_wake(), and
 * may be NULL, except start. They run in the order of time; of things at the same time, in the order
 * in which they were caused. No callback runs inside another one, or inside hd_sim_send().
 */
struct hd_sim_workload {
	/* Time 0: sends first messages, asks to be woken. Returns 0 or a negative errno. */
	int (*start)(void *context, struct hd_sim *sim, struct hd_error *err);
	/* A time that hd_sim_wake() asked for. */
	void (*wake)(void *context, struct hd_sim *sim, uint64_t token);
	/* The last byte of a message has left its source. */
	void (*sent)(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
		     const struct hd_sim_times *times);
	/* The last byte of a message has come to `endpoint`, and none of its packets was dropped; of a
	 * multicast message once for each member. */
	void (*delivered)(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
			  const struct hd_sim_times *times, uint32_t endpoint);
	/* A message will never be complete at `endpoint` (multicast: HD_NONE if that is not one):
	 * packets of it were dropped, and its last packet has come or was dropped. */
	void (*lost)(void *context, struct hd_sim *sim, const struct hd_sim_message *message,
		     const struct hd_sim_times *times, uint32_t endpoint);
	void *context;
};

/*
 * Prepares a simulation at time 0. `workload` is copied; its start() runs in the first
 * hd_sim_run(). Errors: those of hd_sim_settings_check(); -ERANGE tables that need more lanes; -EINVAL
 * tables that do not fit the fabric, an interconnect without relay or maps, a cable without a rate
 * where settings.bit_rate is 0 too, too large a network; -ENOMEM. Memory:
 * O(ports * lanes), with VOQ O(ports * radix * lanes), with Bounded entries O(switches * LIDs) more,
 * with Conga O(leaves^2 * paths) more.
 */
int hd_sim_new(const struct hd_sim_network *network, const struct hd_sim_settings *settings,
	       const struct hd_sim_workload *workload, struct hd_sim **out, struct hd_error *err);

/* NULL is allowed. */
void hd_sim_free(struct hd_sim *sim);

/*
 * Whether packets would arrive: follows the entries from the source to each destination of a
 * message, without a packet; adaptive ones through all ports of their groups. Errors: -EHOSTUNREACH with switch, LID and what
 * is wrong there (no entry, a port without a cable, a loop, no line in the map). O(hops), adaptive
 * O(links). To be called for all pairs that a workload will use, before the run, by one thread at a time.
 */
int hd_sim_check_message(struct hd_sim *sim, const struct hd_sim_message *message,
			 struct hd_error *err);

/* Gets a port, by index of its subnet's fabric, by which a message leaves a host, switch or router. */
typedef void (*hd_sim_visit)(void *context, uint32_t subnet, uint32_t port);

/* Follows the one path of a deterministic message, and visits the ports by which it leaves nodes. Errors:
 * those of hd_sim_check_message(), after the ports up to there; -EINVAL several paths. O(hops). */
int hd_sim_follow(const struct hd_sim *sim, const struct hd_sim_message *message,
		  hd_sim_visit visit, void *context, struct hd_error *err);

enum hd_sim_end {
	HD_SIM_UNTIL, /* the time was reached */
	HD_SIM_IDLE, /* no packet is on its way, and nobody wants to be woken */
	HD_SIM_STOPPED, /* hd_sim_stop() */
	HD_SIM_DEADLOCK /* hd_sim_deadlock() has the cycle */
};

/*
 * Runs all events up to and at `until` (ps; HD_SIM_NEVER: to the end). Errors: what start()
 * returned; -ENOMEM if pools cannot grow: the figures up to then are valid, and the run is over. A packet
 * whose entry leads nowhere is dropped and counted, not an error.
 */
int hd_sim_run(struct hd_sim *sim, uint64_t until, enum hd_sim_end *end, struct hd_error *err);

/* ---- for callbacks, and between two calls of hd_sim_run() ---- */

uint64_t hd_sim_now(const struct hd_sim *sim);

/* Ends hd_sim_run() after the present event. */
void hd_sim_stop(struct hd_sim *sim);

/*
 * Puts a message, which is copied, at the end of the source's queue of its lane. The first packet of
 * the next queue with credits leaves as soon as the host's port is free; queues take turns. A
 * message to the source itself is delivered at once. Errors: -EINVAL a class or flow that does not
 * exist, 0 bytes, a source or destination that is no host (a router port, a group without entries),
 * has no LID for that offset, no line in the map, or needs a lane that ports do not have; -ENOMEM,
 * also when the run ends with it.
 */
int hd_sim_send(struct hd_sim *sim, const struct hd_sim_message *message);

/* Calls wake(token) at that time, at the earliest now. Errors: -ENOMEM. */
int hd_sim_wake(struct hd_sim *sim, uint64_t when, uint64_t token);

/* Bytes that wait at a host: of messages that have not left it. */
uint64_t hd_sim_backlog(const struct hd_sim *sim, uint32_t endpoint);

/* Random bits, from the seed and the stream: streams are independent of each other and of what the
 * simulator itself draws. Inline use: hd_random_next(&state) with state = hd_sim_stream(...). */
uint64_t hd_sim_stream(const struct hd_sim *sim, uint64_t stream);

uint32_t hd_sim_endpoint_count(const struct hd_sim *sim);
uint32_t hd_sim_endpoint(const struct hd_sim *sim, uint32_t subnet, uint32_t host);

/* ---- figures ---- */

/* What a simulation has measured, from settings.warm_up to now. */

/*
 * Latencies in bins whose width is at most 1/64 of their value. Mean, least and greatest are exact.
 */
#define HD_SIM_HISTOGRAM_BINS 3712u
struct hd_sim_histogram {
	uint64_t count;
	uint64_t least, greatest; /* ps; without a value UINT64_MAX and 0 */
	double mean, square; /* ps; mean, and sum of squared differences to it (Welford) */
	uint64_t bins[HD_SIM_HISTOGRAM_BINS];
};

void hd_sim_histogram_add(struct hd_sim_histogram *histogram, uint64_t value);
/* The value that `share` (0 .. 1) of all values do not exceed, ps; 0 without values. */
uint64_t hd_sim_histogram_quantile(const struct hd_sim_histogram *histogram, double share);

struct hd_sim_class {
	uint64_t messages_sent, messages_delivered,
	    messages_lost; /* multicast: delivered and lost for each member */
	uint64_t packets_injected, packets_delivered, packets_dropped;
	uint64_t bytes_delivered; /* of payload */
	struct hd_sim_histogram packet; /* first byte out of the source to last byte in */
	struct hd_sim_histogram message; /* hd_sim_send() to last byte in */
};

/* A direction of a cable: from a port. */
struct hd_sim_link {
	uint64_t bytes; /* with headers */
	uint64_t packets;
	uint64_t busy; /* ps in which it sent */
	uint64_t blocked; /* ps in which it was free and had a packet, but no credits for it */
};

struct hd_sim_figures {
	uint64_t from, to; /* ps: what counts lies between */
	uint64_t events, hops; /* of the whole run; a hop: a packet has left a switch or a host */
	uint64_t in_flight; /* packets in the network now */
	uint64_t packets; /* that were made in the whole run: = in_flight + arrived + dropped */
	uint64_t arrived, dropped;
	uint64_t dropped_head, dropped_switch,
	    dropped_route; /* by head lifetime, by switch lifetime, for want of an entry */
	uint32_t class_count, flow_count, bin_count;
	const struct hd_sim_class *classes; /* [class_count] */
	const uint64_t *flow_bytes; /* [flow_count] payload delivered */
	/* [flow_count * bin_count] the same by bins of settings.bin, from time 0 */
	const uint64_t *flow_bins;
	/* [subnet] by port index of its fabric: the direction away from that port. Ports without a
	 * cable: 0. */
	const struct hd_sim_link *const *links;
};

/* All belongs to the simulation, and is valid until it goes on or is freed. O(1), and with
 * settings.bin O(flows * bins). */
void hd_sim_figures(struct hd_sim *sim, struct hd_sim_figures *out);

/* ---- deadlock ---- */

/* A buffer whose first packet waits for room in the next buffer of the cycle. */
struct hd_sim_buffer {
	uint32_t subnet, port; /* input port of a switch or router: an index of its fabric */
	uint8_t lane;
	uint32_t waits_for; /* the output port, an index of the same fabric */
};

/* The cycle of buffers, *count of them, none twice; the last waits for the first. Belongs to the
 * simulation. NULL, 0: no deadlock was found. */
const struct hd_sim_buffer *hd_sim_deadlock(const struct hd_sim *sim, uint32_t *count);

/* Checks all invariants: packets are conserved, no buffer holds more than its bytes, and credits and buffers
 * agree. For tests. Errors: -EFAULT with what is wrong. O(ports * lanes + packets). */
int hd_sim_check(const struct hd_sim *sim, struct hd_error *err);

#endif
