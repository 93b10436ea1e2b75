/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conga: leaf switches choose a path for each flowlet by the congestion of the paths to the destination's leaf.
 *
 * selection_take() calls conga_choose() for packets of adaptive entries. At the source's leaf it looks up the flowlet;
 * if that is new or has paused for long enough, it takes the path with the least metric, by what the other leaf has
 * told and by the outputs here. The packet carries the path, so the switch above takes the second uplink from it.
 * conga_depart() raises the packet's metric at each output, and the last leaf keeps the metric (learn) and sends it
 * back with packets to the first. Draws come from a stream of their own, so runs stay the same. sim_switches.h has the
 * source.
 */
#include "random_streams.h"
#include "sim_switches.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/random.h>
#include <inttypes.h>
#include <stdlib.h>

#define METRIC_MOST 7u /* 3 bits */
#define DECAYS 10u /* in tau: the estimate loses a tenth each time */
#define DECAYS_KEPT 400u /* after so many it is nothing */
#define FLOWLETS 1024u /* of a leaf */
#define AGE_SHIFT 20u /* ages are in units of 2^20 ps, about a microsecond */
#define FEEDBACK_SEARCH 16u /* metrics that are looked at for one that has changed */
#define ENTRIES_MOST (UINT64_C(1) << 28)

/* The uplinks of a path, by number; the second is 0 where there is no choice. first 0: no path. */
struct path {
	uint8_t first, second;
};

/* What a leaf knows of a path to another leaf, and of the same path's way here from that leaf. */
struct entry {
	uint32_t to_age, from_age; /* when they came */
	uint8_t to, from;
	bool changed; /* `from` has not been sent back */
};

struct flowlet {
	uint64_t last; /* packet */
	uint32_t key;
	struct path path;
};

struct estimate {
	uint64_t bytes, period;
};

/* What a packet has besides its header. */
struct tag {
	uint32_t source; /* leaf */
	uint32_t at, told_at; /* index of its path; of a path whose metric goes back, or HD_NONE */
	struct path path;
	uint8_t metric, told_metric;
	bool used; /* the second uplink has been taken */
};

struct conga {
	uint32_t leaf_count, firsts, seconds; /* paths of a pair: firsts * seconds */
	uint32_t *leaf; /* [node_count] number of a leaf, or HD_NONE */
	uint8_t *rank; /* [port_count] among the ports to switches of its node, from 1 */
	struct entry *entries; /* [leaf * leaf * firsts * seconds] */
	uint32_t *cursor; /* [leaf * leaf] */
	struct flowlet *flowlets; /* [leaf * FLOWLETS] */
	struct estimate *estimates; /* [port_count] */
	struct tag *tags; /* by packet */
	uint32_t tag_room;
	uint64_t random; /* for choices among equal paths */
};

static bool is_to_switch(const struct sim_port *port)
{
	return port->peer != HD_NONE && port->peer_kind != SIM_HOST;
}

static bool is_leaf(const struct hd_sim *sim, const struct sim_node *node)
{
	for (uint32_t i = 1; i < node->ports; i++)
		if (sim->ports[node->first_port + i].peer != HD_NONE &&
		    sim->ports[node->first_port + i].peer_kind != SIM_SWITCH)
			return true;
	return false;
}

static void number_node(struct hd_sim *sim, uint32_t index)
{
	struct conga *conga = sim->conga;
	const struct sim_node *node = &sim->nodes[index];
	uint32_t rank = 0;

	conga->leaf[index] = HD_NONE;
	if (node->kind != SIM_SWITCH)
		return;
	for (uint32_t i = 1; i < node->ports; i++)
		if (is_to_switch(&sim->ports[node->first_port + i]))
			conga->rank[node->first_port + i] = (uint8_t)++rank;
	if (is_leaf(sim, node)) {
		conga->leaf[index] = conga->leaf_count++;
		conga->firsts = rank + 1 > conga->firsts ? rank + 1 : conga->firsts;
	}
	conga->seconds = rank + 1 > conga->seconds ? rank + 1 : conga->seconds;
}

int conga_prepare(struct hd_sim *sim, struct hd_error *err)
{
	struct hd_arena *arena = &sim->arena;
	struct conga *conga;
	uint64_t pairs, paths;

	if (sim->settings.selection != HD_SIM_CONGA)
		return 0;
	sim->conga = conga = hd_arena_alloc(arena, 1, sizeof(*conga));
	if (!conga)
		return hd_error_no_memory(err);
	conga->random = hd_sim_stream(sim, SIM_STREAM_CONGA);
	conga->leaf = hd_arena_alloc(arena, sim->node_count, sizeof(*conga->leaf));
	conga->rank = hd_arena_alloc(arena, sim->port_count, sizeof(*conga->rank));
	conga->estimates = hd_arena_alloc(arena, sim->port_count, sizeof(*conga->estimates));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t node = 0; node < sim->node_count; node++)
		number_node(sim, node);
	pairs = (uint64_t)conga->leaf_count * conga->leaf_count;
	paths = (uint64_t)conga->firsts * conga->seconds;
	if (pairs * paths > ENTRIES_MOST)
		return hd_error_set(
		    err, -EINVAL, "Conga: %" PRIu64 " paths between %u leaf switches are too many",
		    paths, conga->leaf_count);
	conga->entries = hd_arena_alloc(arena, pairs * paths, sizeof(*conga->entries));
	conga->cursor = hd_arena_alloc(arena, pairs, sizeof(*conga->cursor));
	conga->flowlets =
	    hd_arena_alloc(arena, (size_t)conga->leaf_count * FLOWLETS, sizeof(*conga->flowlets));
	return hd_arena_check(arena) ? hd_error_no_memory(err) : 0;
}

void conga_release(struct hd_sim *sim)
{
	if (sim->conga)
		free(sim->conga->tags);
}

/* The index of a path from a leaf, among those of a pair of leaves. */
static uint32_t index_of(const struct hd_sim *sim, uint32_t node, struct path path)
{
	const struct conga *conga = sim->conga;
	const struct sim_port *out = &sim->ports[sim->nodes[node].first_port + path.first];
	uint32_t first = conga->rank[sim->nodes[node].first_port + path.first], second = 0;

	if (path.second)
		second =
		    conga->rank[sim->nodes[sim->ports[out->peer].node].first_port + path.second];
	return first * conga->seconds + second;
}

static struct entry *entry_of(const struct hd_sim *sim, uint32_t here, uint32_t there, uint32_t at)
{
	const struct conga *conga = sim->conga;
	size_t pair = (size_t)here * conga->leaf_count + there;

	return &conga->entries[pair * conga->firsts * conga->seconds + at];
}

static uint32_t age_now(const struct hd_sim *sim)
{
	return (uint32_t)(sim->now >> AGE_SHIFT);
}

static bool is_old(const struct hd_sim *sim, uint32_t age)
{
	return age_now(sim) - age > sim->settings.conga_age >> AGE_SHIFT;
}

/* The leaf, or HD_NONE, and the node of the switch to which the owner of a LID is cabled. */
static uint32_t leaf_of_lid(const struct hd_sim *sim, const struct sim_packet *packet)
{
	const struct sim_node *here = &sim->nodes[sim->ports[packet->at].node];
	const struct sim_subnet *subnet = &sim->subnets[here->subnet];
	uint32_t sw;
	uint8_t port;

	if (!hd_fabric_lid_destination(subnet->given->fabric, packet->dlid, &sw, &port))
		return HD_NONE;
	return sim->conga->leaf[subnet->first_node + sw];
}

static struct tag *tag_of(struct hd_sim *sim, uint32_t packet)
{
	struct conga *conga = sim->conga;
	struct tag *grown;

	if (packet < conga->tag_room)
		return &conga->tags[packet];
	grown = hd_grow(conga->tags, conga->tag_room, packet + 1 - conga->tag_room,
			&conga->tag_room, sizeof(*grown));
	if (!grown) {
		sim->rc = -ENOMEM;
		return NULL;
	}
	conga->tags = grown;
	return &conga->tags[packet];
}

static uint8_t metric_of(struct hd_sim *sim, uint32_t port)
{
	struct estimate *estimate = &sim->conga->estimates[port];
	uint64_t period = sim->now / (sim->settings.conga_tau / DECAYS);
	uint64_t full = sim->ports[port].rate / 8 * (sim->settings.conga_tau / 1000) / 1000000000;
	uint64_t metric;

	if (period - estimate->period > DECAYS_KEPT)
		estimate->bytes = 0;
	for (; estimate->bytes && estimate->period < period; estimate->period++)
		estimate->bytes -= (estimate->bytes + DECAYS - 1) / DECAYS;
	estimate->period = period;
	metric = estimate->bytes * (METRIC_MOST + 1) / (full ? full : 1);
	return (uint8_t)(metric > METRIC_MOST ? METRIC_MOST : metric);
}

struct best {
	struct path path;
	uint32_t metric;
	uint64_t lot;
};

/*
 * The best metric; of equal ones the path of the flowlet before, else one by lot. Turns would make
 * leaves that begin together take the same second uplinks.
 */
static void consider(struct hd_sim *sim, uint32_t node, uint32_t here, uint32_t there,
		     struct path path, struct path before, struct best *best)
{
	const struct entry *entry = entry_of(sim, here, there, index_of(sim, node, path));
	uint32_t local = metric_of(sim, sim->nodes[node].first_port + path.first), metric;
	uint64_t lot = hd_random_next(&sim->conga->random);

	metric = is_old(sim, entry->to_age) ? 0 : entry->to;
	if (local > metric)
		metric = local;
	if (path.first == before.first && path.second == before.second)
		lot = 0;
	if (metric > best->metric || (metric == best->metric && lot >= best->lot))
		return;
	*best = (struct best){path, metric, lot};
}

static struct path best_path(struct hd_sim *sim, const struct sim_packet *packet,
			     const struct choice_ports *allowed, uint32_t there, struct path before)
{
	uint32_t node = sim->ports[packet->at].node, here = sim->conga->leaf[node];
	struct best best = {.metric = UINT32_MAX};

	HD_PORT_SET_FOREACH(first, &allowed->ports) {
		struct sim_packet ahead = *packet;
		struct choice_ports further;
		ahead.at = sim->ports[sim->nodes[node].first_port + first].peer;
		if (sim->ports[ahead.at].kind != SIM_SWITCH)
			return (struct path){0, 0};
		choice_allowed(sim, &ahead, &further);
		struct path path = {(uint8_t)first, 0};
		if (hd_port_set_count(&further.ports) < 2) {
			consider(sim, node, here, there, path, before, &best);
			continue;
		}
		HD_PORT_SET_FOREACH(second, &further.ports) {
			path.second = (uint8_t)second;
			consider(sim, node, here, there, path, before, &best);
		}
	}
	return best.path;
}

/* A metric for the other leaf: the next one that has changed, else the next one that is not old. */
static void conga_tell(struct hd_sim *sim, uint32_t here, uint32_t there, struct tag *tag)
{
	struct conga *conga = sim->conga;
	uint32_t paths = conga->firsts * conga->seconds;
	size_t pair = (size_t)here * conga->leaf_count + there;
	uint32_t at = conga->cursor[pair];

	for (uint32_t i = 0; i < FEEDBACK_SEARCH; i++, at = at + 1 < paths ? at + 1 : 0) {
		const struct entry *entry = entry_of(sim, here, there, at);
		if (entry->changed)
			tag->told_at = at;
		else if (tag->told_at == HD_NONE && entry->from && !is_old(sim, entry->from_age))
			tag->told_at = at;
		if (entry->changed)
			break;
	}
	conga->cursor[pair] = tag->told_at == HD_NONE ? at : (tag->told_at + 1) % paths;
	if (tag->told_at == HD_NONE)
		return;
	struct entry *told = entry_of(sim, here, there, tag->told_at);
	told->changed = false;
	tag->told_metric = told->from;
}

uint32_t conga_choose(struct hd_sim *sim, const struct sim_packet *packet,
		      const struct choice_ports *allowed)
{
	uint32_t there = leaf_of_lid(sim, packet), node = sim->ports[packet->at].node;
	struct tag *tag = tag_of(sim, (uint32_t)(packet - sim->packets));

	if (!tag)
		return 0;
	if (sim->ports[packet->at].peer_kind != SIM_SWITCH) {
		if (there == HD_NONE || there == sim->conga->leaf[node] ||
		    allowed->turn == HD_NONE || hd_port_set_is_empty(&allowed->ports))
			return 0;
		uint32_t here = sim->conga->leaf[sim->ports[packet->at].node];
		uint32_t key = (uint32_t)packet->slid << 16 | packet->dlid;
		uint64_t state = key;
		struct flowlet *flowlet =
		    &sim->conga->flowlets[here * FLOWLETS + hd_random_next(&state) % FLOWLETS];
		bool same = flowlet->key == key && flowlet->path.first &&
			    hd_port_set_has(&allowed->ports, flowlet->path.first);
		if (!same)
			flowlet->path = (struct path){0, 0};
		if (!same || sim->now - flowlet->last >= sim->settings.flowlet_gap)
			flowlet->path = best_path(sim, packet, allowed, there, flowlet->path);
		flowlet->key = key;
		flowlet->last = sim->now;
		*tag = (struct tag){.source = here, .path = flowlet->path, .told_at = HD_NONE};
		if (flowlet->path.first)
			tag->at = index_of(sim, sim->ports[packet->at].node, flowlet->path);
		conga_tell(sim, here, there, tag);
		return flowlet->path.first;
	}
	if (tag->source == HD_NONE || tag->used || !tag->path.second ||
	    !hd_port_set_has(&allowed->ports, tag->path.second))
		return 0;
	tag->used = true;
	return tag->path.second;
}

void conga_depart(struct hd_sim *sim, uint32_t port, uint32_t packet)
{
	const struct sim_port *out = &sim->ports[port];
	struct tag *tag = tag_of(sim, packet);
	uint8_t metric;

	if (!tag || sim->packets[packet].flags & SIM_MULTICAST)
		return;
	if (out->kind != SIM_SWITCH) {
		*tag = (struct tag){.source = HD_NONE, .told_at = HD_NONE};
		return;
	}
	if (out->peer_kind == SIM_SWITCH) {
		sim->conga->estimates[port].bytes += sim->packets[packet].bytes;
		metric = metric_of(sim, port);
		tag->metric = metric > tag->metric ? metric : tag->metric;
	} else if (tag->source != HD_NONE && tag->path.first) {
		/* The packet leaves for its host: the leaf keeps what it says. */
		uint32_t here = sim->conga->leaf[out->node];
		struct entry *entry = entry_of(sim, here, tag->source, tag->at);

		entry->changed |= entry->from != tag->metric;
		entry->from = tag->metric;
		entry->from_age = age_now(sim);
		if (tag->told_at == HD_NONE)
			return;
		entry = entry_of(sim, here, tag->source, tag->told_at);
		entry->to = tag->told_metric;
		entry->to_age = age_now(sim);
	}
}
