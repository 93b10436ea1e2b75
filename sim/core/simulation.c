/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of a simulation: settings, pools, the loop of events, and what callers may ask.
 *
 * hd_sim_new() checks the settings and wires the network (wiring.c). hd_sim_run() calls the workload's start() once,
 * then takes event after event from the agenda until the caller's time, a stop, a deadlock, or until nothing more
 * comes. When all events of a time are done, the outputs that could send choose, by ascending number: so the order of
 * events at the same time does not matter. Events without cause any more are dropped and do not move the time.
 *
 * Pools double when they are full; without memory sim->rc is set, and the run ends with -ENOMEM after the event.
 */
#include "core_state.h"
#include "sim_hosts.h"
#include "sim_switches.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/sim/settings.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define POOL_MAX (1u << SIM_EVENT_BITS)

#define CACHE_LINE 64u

/* Twice the room. NULL: no memory; then all stays as it was. An item that fills a cache line does not
 * lie in two. */
static void *sim_grow(void *items, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 64;
	void *grown = wanted <= POOL_MAX ? aligned_alloc(CACHE_LINE, wanted * size) : NULL;

	if (!grown)
		return NULL;
	if (items)
		memcpy(grown, items, *room * size);
	free(items);
	*room = wanted;
	return grown;
}

/* What pools_NAME() is. */
#define POOL(name, type, items)                                                                    \
	uint32_t pools_##name(struct hd_sim *sim)                                                  \
	{                                                                                          \
		uint32_t item = sim->name##_free;                                                  \
                                                                                                   \
		if (item != HD_NONE) {                                                             \
			sim->name##_free = sim->items[item].next;                                  \
			return item;                                                               \
		}                                                                                  \
		if (sim->name##_count == sim->name##_room) {                                       \
			type *grown = sim_grow(sim->items, &sim->name##_room, sizeof(*grown));     \
			if (!grown) {                                                              \
				sim->rc = -ENOMEM;                                                 \
				return HD_NONE;                                                    \
			}                                                                          \
			sim->items = grown;                                                        \
		}                                                                                  \
		return sim->name##_count++;                                                        \
	}

POOL(message, struct sim_message, messages)
POOL(return, struct sim_return, returns)
POOL(wake, struct sim_wake, wakes)
POOL(copies, struct sim_copies, copies)
POOL(packet, struct sim_packet, packets)

/*
 * Asks the processor to load what the next events will need, while the present one is handled.
 *
 * A large network does not fit into the processor's cache, and an event touches about ten places in
 * memory that no event before it has touched for a long time. Each place is known only when another
 * one has been read: a packet's port, the port's queue. So events are looked at several times, and
 * each time what was loaded the time before leads one step further. Nothing changes in the simulation.
 */

/* How many events before its own turn an event is looked at. */
enum { FIRST_LOOK = 12, SECOND_LOOK = 9, THIRD_LOOK = 6, FOURTH_LOOK = 3 };

/* The empty instruction keeps the compiler from leaving out functions that do nothing else. */
static inline void sim_load(const void *place)
{
	__builtin_prefetch(place);
	__asm__ volatile("" : : "r"(place));
}

static uint32_t index_of(uint32_t what)
{
	return what & ((1u << SIM_EVENT_BITS) - 1);
}

/* The packet's port; the queue from which a port has sent. */
static void look_second(const struct hd_sim *sim, uint32_t what)
{
	uint32_t index = index_of(what);

	if (what >> SIM_EVENT_BITS == SIM_ARRIVE) {
		sim_load(&sim->ports[sim->packets[index].at]);
		sim_load(&sim->messages[sim->packets[index].message]);
	} else if (what >> SIM_EVENT_BITS == SIM_FREE) {
		const struct sim_port *port = &sim->ports[index];
		if (port->kind == SIM_HOST)
			sim_load(&sim->nodes[port->node]);
		else if (port->serving != HD_NONE)
			sim_load(&sim->queues[port->serving]);
		sim_load(sim_asking(sim, index, 0));
		sim_load(sim->link[index]);
	}
}

/* What a packet needs at its input; the next packet of the queue, or the host, of a port. */
static void look_third(const struct hd_sim *sim, uint32_t what)
{
	uint32_t index = index_of(what);

	if (what >> SIM_EVENT_BITS == SIM_ARRIVE) {
		const struct sim_packet *packet = &sim->packets[index];
		const struct sim_port *in = &sim->ports[packet->at];
		const struct sim_node *node = &sim->nodes[in->node];
		sim_load(sim_lane(sim, in->peer, packet->lane_in));
		if (in->kind != SIM_SWITCH)
			return;
		if (sim->settings.queueing == HD_SIM_FIFO)
			sim_load(&sim->queues[in->queue + packet->lane_in]);
		if (packet->dlid < node->row_length)
			sim_load(&node->row[packet->dlid]);
	} else if (what >> SIM_EVENT_BITS == SIM_FREE) {
		const struct sim_port *port = &sim->ports[index];
		if (port->kind == SIM_HOST)
			sim_load(&sim->hosts[sim->nodes[port->node].index]);
		else if (port->serving != HD_NONE && sim->queues[port->serving].head != HD_NONE)
			sim_load(&sim->packets[sim->queues[port->serving].head]);
	}
}

/* The packet that chooses its output next; HD_NONE: no packet does. */
static uint32_t packet_of(const struct hd_sim *sim, uint32_t what)
{
	uint32_t index = index_of(what), queue;

	if (what >> SIM_EVENT_BITS == SIM_ARRIVE)
		return index;
	if (what >> SIM_EVENT_BITS != SIM_FREE)
		return HD_NONE;
	queue = sim->ports[index].serving;
	return queue == HD_NONE ? HD_NONE : sim->queues[queue].head;
}

/* Before each event. O(1). */
static void ahead_load(const struct hd_sim *sim)
{
	const struct agenda_event *next = &sim->agenda.current[sim->agenda.position];
	uint32_t left = sim->agenda.count - sim->agenda.position;

	if (left > FIRST_LOOK) {
		/* What the event itself names. */
		uint32_t what = next[FIRST_LOOK].what;
		uint32_t index = index_of(what);
		switch (what >> SIM_EVENT_BITS) {
		case SIM_ARRIVE:
			sim_load(&sim->packets[index]);
			break;
		case SIM_FREE:
			sim_load(&sim->ports[index]);
			sim_load(sim_lane(sim, index, 0));
			sim_load(&sim->link[index]);
			break;
		case SIM_CREDIT:
			sim_load(&sim->lane[index]);
			sim_load(&sim->ports[index / sim->lanes]);
			break;
		case SIM_READY:
			sim_load(&sim->queues[index]);
			break;
		case SIM_WAKE:
			sim_load(&sim->wakes[index]);
			break;
		default:
			break;
		}
	}
	if (left > SECOND_LOOK)
		look_second(sim, next[SECOND_LOOK].what);
	if (left > THIRD_LOOK)
		look_third(sim, next[THIRD_LOOK].what);
	if (left > FOURTH_LOOK) {
		/* The output, by the forwarding table. */
		uint32_t what = next[FOURTH_LOOK].what;
		uint32_t index = packet_of(sim, what), out;
		const struct sim_packet *packet;
		const struct sim_node *node;
		if (index == HD_NONE)
			return;
		packet = &sim->packets[index];
		node = &sim->nodes[sim->ports[packet->at].node];
		if (node->kind != SIM_SWITCH || packet->dlid >= node->row_length ||
		    node->row[packet->dlid] >= node->ports)
			return;
		out = node->first_port + node->row[packet->dlid];
		sim_load(&sim->ports[out]);
		sim_load(sim_lane(sim, out, packet->lane_in));
		sim_load(sim_asking(sim, out, packet->lane_in));
		sim_load(sim->link[out]);
	}
}

/* With more ports than this, what a run touches does not fit into a processor's cache. */
#define PORTS_IN_CACHE 4096u
#define EVENTS_AHEAD 128u /* that are sorted at once then */

/* A lane can change only where tables differ, and where DFP raises it. Then, and where a multicast
 * packet and others of its input may ask for the same lane, the queue has to be searched. */
static bool has_plain_lanes(const struct hd_sim *sim)
{
	const struct hd_sim_subnet *subnet = sim->network.subnets;

	if (sim->network.subnet_count > 1 || (subnet->plan && subnet->plan->table_count > 1))
		return false;
	return !subnet->mfts;
}

static int copy_network(struct hd_sim *sim)
{
	uint32_t subnets = sim->network.subnet_count;

	sim->given = hd_arena_alloc(&sim->arena, subnets, sizeof(*sim->given));
	if (!sim->given)
		return -ENOMEM;
	for (uint32_t i = 0; i < subnets; i++)
		sim->given[i] = sim->network.subnets[i];
	sim->network.subnets = sim->given;
	sim->subnet_count = subnets;
	return 0;
}

static int begin_agenda(struct hd_sim *sim)
{
	uint64_t longest = 0, fastest = UINT64_MAX, cables = 0;

	for (uint32_t port = 0; port < sim->port_count; port++) {
		if (sim->ports[port].peer == HD_NONE)
			continue;
		cables++;
		if (sim->ports[port].full_time > longest)
			longest = sim->ports[port].full_time;
		if (sim->ports[port].full_time < fastest)
			fastest = sim->ports[port].full_time;
	}
	longest += sim->settings.link_latency + sim->settings.switch_latency;
	sim->is_large = sim->port_count > PORTS_IN_CACHE;
	return agenda_init(&sim->agenda, longest,
			   cables ? 2 * cables * longest / (fastest ? fastest : 1) : 1,
			   sim->is_large ? EVENTS_AHEAD : 1);
}

int hd_sim_new(const struct hd_sim_network *network, const struct hd_sim_settings *settings,
	       const struct hd_sim_workload *workload, struct hd_sim **out, struct hd_error *err)
{
	int rc = hd_sim_settings_check(settings, err);
	struct hd_sim *sim;

	if (rc)
		return rc;
	sim = calloc(1, sizeof(*sim));
	if (!sim)
		return hd_error_no_memory(err);
	sim->settings = *settings;
	sim->workload = *workload;
	sim->network = *network;
	sim->lanes = settings->lanes + 1;
	sim->full_bytes = settings->mtu + settings->header;
	sim->plain_lanes = network->subnet_count && has_plain_lanes(sim);
	rc = copy_network(sim) ? hd_error_no_memory(err) : wiring_make(sim, err);
	if (!rc && begin_agenda(sim))
		rc = hd_error_no_memory(err);
	if (rc)
		hd_sim_free(sim);
	else
		*out = sim;
	return rc;
}

void hd_sim_free(struct hd_sim *sim)
{
	if (!sim)
		return;
	agenda_release(&sim->agenda);
	conga_release(sim);
	free(sim->packets);
	free(sim->messages);
	free(sim->returns);
	free(sim->wakes);
	free(sim->copies);
	free(sim->counts);
	free(sim->flow_bins);
	free(sim->cycle);
	hd_arena_release(&sim->arena);
	free(sim);
}

static void simulation_wake(struct hd_sim *sim, uint32_t index)
{
	uint64_t token = sim->wakes[index].token;

	pools_free_wake(sim, index);
	if (sim->workload.wake)
		sim->workload.wake(sim->workload.context, sim, token);
}

static void sim_arrive(struct hd_sim *sim, uint32_t packet)
{
	if (sim->ports[sim->packets[packet].at].kind == SIM_HOST)
		sink_arrive(sim, packet);
	else
		ingress_arrive(sim, packet);
}

static void handle(struct hd_sim *sim, uint32_t what)
{
	uint32_t index = what & ((1u << SIM_EVENT_BITS) - 1);

	switch ((enum sim_event)(what >> SIM_EVENT_BITS)) {
	case SIM_ARRIVE:
		sim_arrive(sim, index);
		break;
	case SIM_FREE:
		egress_free(sim, index);
		break;
	case SIM_CREDIT:
		egress_credit(sim, index);
		break;
	case SIM_READY:
		ingress_ready(sim, index);
		break;
	case SIM_LIFETIME:
		ingress_lifetime(sim, index);
		break;
	case SIM_WAKE:
		simulation_wake(sim, index);
		break;
	case SIM_SELF:
		sink_self(sim, index);
		break;
	case SIM_SEARCH:
		stall_check(sim);
		break;
	case SIM_CENTRAL:
		copies_central(sim, index);
		break;
	case SIM_GIVE_UP:
		copies_give_up(sim, index);
		break;
	}
}

static int sim_start(struct hd_sim *sim, struct hd_error *err)
{
	if (sim->started)
		return 0;
	sim->started = true;
	sim->rc = sim->workload.start(sim->workload.context, sim, err);
	return sim->rc;
}

/* Why the run ends when nothing more is to come. */
static enum hd_sim_end at_rest(struct hd_sim *sim)
{
	if (!sim->in_flight)
		return HD_SIM_IDLE;
	stall_search(sim);
	sim->deadlocked = true;
	return HD_SIM_DEADLOCK;
}

/* An event for which there is no cause any more. It must not move the time: a run ends with the last
 * thing that happens. */
static bool is_stale(struct hd_sim *sim, const struct agenda_event *event)
{
	uint32_t index = event->what & ((1u << SIM_EVENT_BITS) - 1);

	switch (event->what >> SIM_EVENT_BITS) {
	case SIM_CREDIT:
		return sim->lane[index].timer != event->time;
	case SIM_LIFETIME:
		if (sim->queues[index].head != HD_NONE)
			return false;
		if (sim->lifetimes[index] == event->time)
			sim->lifetimes[index] = HD_SIM_NEVER;
		return true;
	case SIM_GIVE_UP:
		return sim->copies[index].give_up != event->time;
	case SIM_SEARCH:
		sim->searching = sim->in_flight != 0;
		return !sim->in_flight;
	default:
		return false;
	}
}

/* One event, or all choices of the present time. False: the run ends, and *end says why. */
static bool step(struct hd_sim *sim, uint64_t until, enum hd_sim_end *end)
{
	const struct agenda_event *event = agenda_peek(&sim->agenda);
	uint32_t what;

	if (sim->agenda.rc) {
		sim->rc = sim->agenda.rc;
		return false;
	}
	if (sim->any_touched && (!event || event->time > sim->now)) {
		/* All outputs that could send now, by ascending number. */
		sim->any_touched = false;
		for (uint32_t i = 0; i < sim->touched_summaries; i++)
			while (sim->touched_summary[i]) {
				uint32_t word =
				    i * 64 + (uint32_t)__builtin_ctzll(sim->touched_summary[i]);
				uint32_t port =
				    word * 64 + (uint32_t)__builtin_ctzll(sim->touched[word]);
				sim->touched[word] &= sim->touched[word] - 1;
				if (!sim->touched[word])
					sim->touched_summary[i] &= sim->touched_summary[i] - 1;
				egress_choose(sim, port);
			}
		return true;
	}
	if (!event || event->time > until) {
		*end = event ? HD_SIM_UNTIL : at_rest(sim);
		return false;
	}
	what = event->what;
	if (is_stale(sim, event)) {
		agenda_drop(&sim->agenda);
		return true;
	}
	sim->now = event->time;
	agenda_drop(&sim->agenda);
	sim->event_count++;
	if (sim->is_large)
		ahead_load(sim);
	handle(sim, what);
	return true;
}

int hd_sim_run(struct hd_sim *sim, uint64_t until, enum hd_sim_end *end, struct hd_error *err)
{
	enum hd_sim_end why = HD_SIM_UNTIL;
	int rc = sim->rc;

	if (!rc)
		rc = sim_start(sim, err);
	if (rc)
		return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
	sim->stop = false;
	while (!sim->deadlocked && !sim->stop && !sim->rc && step(sim, until, &why))
		;
	if (sim->rc)
		return hd_error_no_memory(err);
	if (sim->deadlocked)
		why = HD_SIM_DEADLOCK;
	else if (sim->stop)
		why = HD_SIM_STOPPED;
	else if (why == HD_SIM_UNTIL && until > sim->now)
		sim->now = until;
	*end = why;
	return 0;
}

uint64_t hd_sim_now(const struct hd_sim *sim)
{
	return sim->now;
}

void hd_sim_stop(struct hd_sim *sim)
{
	sim->stop = true;
}

int hd_sim_wake(struct hd_sim *sim, uint64_t when, uint64_t token)
{
	uint32_t index;

	if (when == HD_SIM_NEVER)
		return 0;
	index = pools_wake(sim);
	if (index == HD_NONE)
		return -ENOMEM;
	sim->wakes[index].token = token;
	sim_push(sim, when < sim->now ? sim->now : when, SIM_WAKE, index);
	return sim->rc;
}

uint32_t hd_sim_endpoint_count(const struct hd_sim *sim)
{
	return sim->endpoint_count;
}

uint32_t hd_sim_endpoint(const struct hd_sim *sim, uint32_t subnet, uint32_t host)
{
	return sim->subnets[subnet].first_endpoint + host;
}
