/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "miscabled.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARE 2u
#define TRIES 1000u

struct plug {
	uint32_t node, port; /* of the plan, and the number in the copy */
};

struct cable {
	struct plug end[2];
	uint8_t width, speed;
};

struct copy {
	const struct miscabled_request *request;
	uint64_t random;
	struct cable *cables;
	uint32_t count;
	uint32_t *order; /* [nodes] in which they are added */
	uint32_t *handle; /* [nodes] */
	uint8_t (*number)[256]; /* [nodes] of each port in the copy */
	bool (*in_use)[256]; /* [nodes] */
};

static void shuffle(uint32_t *list, uint32_t count, uint64_t *random)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t k = (uint32_t)hd_random_below(random, i), kept = list[i - 1];
		list[i - 1] = list[k];
		list[k] = kept;
	}
}

static uint32_t ports_of(const struct copy *copy, uint32_t node)
{
	const struct hd_fabric *plan = copy->request->plan;
	uint32_t ports = hd_node_ports(plan, node) + (hd_is_switch(plan, node) ? SPARE : 0);

	return ports < HD_PORTS_MAX ? ports : HD_PORTS_MAX;
}

static void number_ports(struct copy *copy, uint32_t node)
{
	uint32_t list[256], ports = ports_of(copy, node);

	for (uint32_t i = 0; i < ports; i++)
		list[i] = i + 1;
	if (copy->request->foreign && hd_is_switch(copy->request->plan, node))
		shuffle(list, ports, &copy->random);
	for (uint32_t i = 0; i < ports; i++)
		copy->number[node][i + 1] = (uint8_t)list[i];
}

static void list_cables(struct copy *copy)
{
	const struct hd_fabric *plan = copy->request->plan;

	for (uint32_t port = 0; port < plan->port_count; port++) {
		uint32_t peer = plan->peer[port];
		if (peer == HD_NONE || peer < port)
			continue;
		struct cable *cable = &copy->cables[copy->count++];
		cable->width = plan->width[port];
		cable->speed = plan->speed[port];
		for (unsigned i = 0; i < 2; i++) {
			uint32_t end = i ? peer : port, node = plan->port_node[end];
			cable->end[i] =
			    (struct plug){node, copy->number[node][hd_port_number(plan, end)]};
			copy->in_use[node][cable->end[i].port] = true;
		}
	}
}

/* ---- mistakes ---- */

static bool free_plug(struct copy *copy, struct plug *out)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t node =
		    (uint32_t)hd_random_below(&copy->random, copy->request->plan->switch_count);
		uint32_t port = 1 + (uint32_t)hd_random_below(&copy->random, ports_of(copy, node));
		if (copy->in_use[node][port])
			continue;
		*out = (struct plug){node, port};
		return true;
	}
	return false;
}

static bool pull_at(struct copy *copy, uint32_t at)
{
	for (unsigned i = 0; i < 2; i++)
		copy->in_use[copy->cables[at].end[i].node][copy->cables[at].end[i].port] = false;
	copy->cables[at] = copy->cables[--copy->count];
	return true;
}

static bool pull(struct copy *copy)
{
	return pull_at(copy, (uint32_t)hd_random_below(&copy->random, copy->count));
}

static void lose(struct copy *copy, uint32_t node)
{
	for (uint32_t at = copy->count; at-- > 0;)
		if (copy->cables[at].end[0].node == node || copy->cables[at].end[1].node == node)
			pull_at(copy, at);
	memset(copy->in_use[node], true,
	       sizeof(copy->in_use[node])); /* nothing is plugged in there */
}

static bool swap(struct copy *copy)
{
	struct cable *a = &copy->cables[hd_random_below(&copy->random, copy->count)];
	struct cable *b = &copy->cables[hd_random_below(&copy->random, copy->count)];
	unsigned end = (unsigned)hd_random_below(&copy->random, 2);
	struct plug kept = a->end[end];

	if (a == b || a->end[!end].node == b->end[1].node || b->end[0].node == a->end[end].node)
		return false;
	a->end[end] = b->end[1];
	b->end[1] = kept;
	return true;
}

static bool move(struct copy *copy)
{
	struct cable *cable = &copy->cables[hd_random_below(&copy->random, copy->count)];
	unsigned end = (unsigned)hd_random_below(&copy->random, 2);
	struct plug to;

	if (!free_plug(copy, &to) || to.node == cable->end[!end].node)
		return false;
	copy->in_use[cable->end[end].node][cable->end[end].port] = false;
	copy->in_use[to.node][to.port] = true;
	cable->end[end] = to;
	return true;
}

static bool plug(struct copy *copy)
{
	struct plug a, b;

	if (!free_plug(copy, &a) || !free_plug(copy, &b) || a.node == b.node)
		return false;
	copy->in_use[a.node][a.port] = copy->in_use[b.node][b.port] = true;
	copy->cables[copy->count++] = (struct cable){{a, b}, 4, HD_SPEED_EDR};
	return true;
}

static void make_mistakes(struct copy *copy)
{
	static bool (*const kinds[])(struct copy *) = {[MISCABLED_PULL] = pull,
						       [MISCABLED_SWAP] = swap,
						       [MISCABLED_MOVE] = move,
						       [MISCABLED_PLUG] = plug};

	for (unsigned i = 0; i < copy->request->pulled; i++)
		pull(copy);
	for (unsigned i = 0; i < copy->request->lost; i++)
		lose(copy,
		     (uint32_t)hd_random_below(&copy->random, copy->request->plan->switch_count));
	for (unsigned i = 0; i < copy->request->mistakes; i++) {
		unsigned kind = copy->request->only_swaps
				    ? MISCABLED_SWAP
				    : (unsigned)hd_random_below(&copy->random, 4);
		for (unsigned tries = 0; tries < TRIES && !kinds[kind](copy); tries++)
			;
	}
}

/* ---- the copy ---- */

static int add_nodes(struct copy *copy, struct hd_builder *builder, struct hd_error *err)
{
	const struct hd_fabric *plan = copy->request->plan;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < plan->node_count; i++) {
		uint32_t node = copy->order[i];
		char name[32];
		snprintf(name, sizeof(name), "live-%u", i);
		uint64_t guid = plan->node_guid[node],
			 other = UINT64_C(0x7000000000) + 256 * (uint64_t)i;
		struct hd_node_spec spec = {.type = plan->node_type[node],
					    .guid = copy->request->foreign ? other : guid,
					    .port_count = ports_of(copy, node),
					    .name = copy->request->foreign ? name
									   : plan->node_name[node]};
		rc = hd_builder_add_node(builder, &spec, &copy->handle[node], err);
	}
	return rc;
}

static int build(struct copy *copy, struct hd_fabric **out, struct hd_error *err)
{
	struct hd_builder *builder = hd_builder_new();
	int rc = builder ? add_nodes(copy, builder, err) : hd_error_no_memory(err);

	for (uint32_t i = 0; !rc && i < copy->count; i++) {
		const struct cable *cable = &copy->cables[i];
		rc = hd_builder_link(builder, copy->handle[cable->end[0].node], cable->end[0].port,
				     copy->handle[cable->end[1].node], cable->end[1].port,
				     cable->width, cable->speed, err);
	}
	if (!rc)
		rc = hd_builder_build(builder, out, err);
	hd_builder_free(builder);
	return rc;
}

static uint32_t *find_origins(const struct copy *copy, const struct hd_fabric *live)
{
	const struct hd_fabric *plan = copy->request->plan;
	uint32_t *origin = calloc(live->node_count, sizeof(*origin));

	for (uint32_t i = 0; origin && i < plan->node_count; i++) {
		uint64_t guid = copy->request->foreign ? UINT64_C(0x7000000000) + 256 * (uint64_t)i
						       : plan->node_guid[copy->order[i]];
		origin[hd_fabric_find_node(live, guid)] = copy->order[i];
	}
	return origin;
}

int miscabled_make(const struct miscabled_request *request, struct hd_fabric **out,
		   uint32_t **origin, struct hd_error *err)
{
	uint32_t nodes = request->plan->node_count;
	struct copy copy = {.request = request, .random = request->seed};
	int rc = 0;

	copy.cables = calloc(request->plan->port_count + request->mistakes, sizeof(*copy.cables));
	copy.order = calloc(nodes, sizeof(*copy.order));
	copy.handle = calloc(nodes, sizeof(*copy.handle));
	copy.number = calloc(nodes, sizeof(*copy.number));
	copy.in_use = calloc(nodes, sizeof(*copy.in_use));
	if (!copy.cables || !copy.order || !copy.handle || !copy.number || !copy.in_use)
		rc = hd_error_no_memory(err);
	for (uint32_t node = 0; !rc && node < nodes; node++) {
		copy.order[node] = node;
		number_ports(&copy, node);
	}
	if (!rc) {
		shuffle(copy.order, nodes, &copy.random);
		list_cables(&copy);
		make_mistakes(&copy);
		rc = build(&copy, out, err);
	}
	if (!rc && origin && !(*origin = find_origins(&copy, *out)))
		rc = hd_error_no_memory(err);
	free(copy.cables);
	free(copy.order);
	free(copy.handle);
	free(copy.number);
	free(copy.in_use);
	return rc;
}

/* ---- mending ---- */

struct mending {
	const struct hd_comparison *comparison;
	const struct hd_fabric *plan, *live;
	struct hd_builder *builder;
	bool *cabled; /* [live ports] */
};

static void pull_found(struct mending *mending, const struct hd_fabric_difference *difference)
{
	const struct hd_fabric *live = mending->live;

	for (uint32_t i = 0; i < difference->found_count; i++) {
		uint32_t port = difference->found[i];
		hd_builder_unlink(mending->builder, live->port_node[port],
				  hd_port_number(live, port));
		mending->cabled[port] = mending->cabled[live->peer[port]] = false;
	}
}

/* A free port of the live node at the place of a planned port; for a host that is not mapped that of any free host. */
static uint32_t free_port(const struct mending *mending, uint32_t planned)
{
	const struct hd_fabric *plan = mending->plan, *live = mending->live;
	uint32_t node = plan->port_node[planned], at = mending->comparison->live_of[node];
	uint32_t first = at == HD_NONE ? live->switch_count : at,
		 last = at == HD_NONE ? live->node_count : at + 1;

	if (at == HD_NONE && hd_is_switch(plan, node))
		return HD_NONE;
	for (uint32_t one = first; one < last; one++) {
		if (at == HD_NONE &&
		    (hd_node_ports(live, one) > 1 || live->node_type[one] != plan->node_type[node]))
			continue;
		for (uint32_t number = 1; number <= hd_node_ports(live, one); number++)
			if (!mending->cabled[hd_port_index(live, one, number)])
				return hd_port_index(live, one, number);
	}
	return HD_NONE;
}

static int plug_expected(struct mending *mending, const struct hd_fabric_difference *difference,
			 struct hd_error *err)
{
	const struct hd_fabric *plan = mending->plan, *live = mending->live;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < difference->expected_count; i++) {
		uint32_t a = free_port(mending, difference->expected[i]);
		uint32_t b = free_port(mending, plan->peer[difference->expected[i]]);
		if (a == HD_NONE || b == HD_NONE)
			return hd_error_set(
			    err, -ENOENT, "no free port for a cable of '%s'",
			    plan->node_name[plan->port_node[difference->expected[i]]]);
		mending->cabled[a] = mending->cabled[b] = true;
		rc = hd_builder_link(mending->builder, live->port_node[a], hd_port_number(live, a),
				     live->port_node[b], hd_port_number(live, b), 4, HD_SPEED_EDR,
				     err);
	}
	return rc;
}

static bool is_of_cables(const struct hd_fabric_difference *difference)
{
	return difference->kind >= HD_DIFFERENCE_CABLE_MISSING &&
	       difference->kind <= HD_DIFFERENCE_CABLES_EXCHANGED;
}

int miscabled_mend(const struct hd_comparison *comparison, const struct hd_fabric *plan,
		   const struct hd_fabric *live, struct hd_fabric **out, struct hd_error *err)
{
	struct mending mending = {.comparison = comparison, .plan = plan, .live = live};
	int rc = 0;

	mending.builder = hd_builder_from(live);
	mending.cabled = calloc(live->port_count, sizeof(bool));
	if (!mending.builder || !mending.cabled)
		rc = hd_error_no_memory(err);
	for (uint32_t port = 0; !rc && port < live->port_count; port++)
		mending.cabled[port] = live->peer[port] != HD_NONE;
	for (uint32_t i = 0; !rc && i < comparison->count; i++)
		if (is_of_cables(&comparison->differences[i]))
			pull_found(&mending, &comparison->differences[i]);
	for (uint32_t i = 0; !rc && i < comparison->count; i++)
		if (is_of_cables(&comparison->differences[i]))
			rc = plug_expected(&mending, &comparison->differences[i], err);
	if (!rc)
		rc = hd_builder_build(mending.builder, out, err);
	hd_builder_free(mending.builder);
	free(mending.cabled);
	return rc;
}

/* ---- shapes ---- */

/* Cables from a node to each mapped node, as the node's number in the plan, and last to all others. */
static void count_cables(const struct hd_fabric *fabric, uint32_t node, const uint32_t *place,
			 uint32_t rest, uint32_t *cables)
{
	memset(cables, 0, (rest + 1u) * sizeof(*cables));
	for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1]; port++)
		if (fabric->peer[port] != HD_NONE) {
			uint32_t peer = fabric->port_node[fabric->peer[port]];
			cables[place[peer] == HD_NONE ? rest : place[peer]]++;
		}
}

bool miscabled_same_shape(const struct hd_fabric *plan, const struct hd_fabric *live,
			  const uint32_t *live_of)
{
	uint32_t nodes = plan->node_count, mapped = 0, switches = 0;
	uint32_t *of_plan = calloc(nodes + 1u, sizeof(uint32_t)),
		 *of_live = calloc(nodes + 1u, sizeof(uint32_t));
	uint32_t *itself = calloc(nodes, sizeof(uint32_t)),
		 *place = calloc(live->node_count, sizeof(uint32_t));
	bool same = of_plan && of_live && itself && place;

	for (uint32_t node = 0; same && node < live->node_count; node++)
		place[node] = HD_NONE;
	for (uint32_t node = 0; same && node < nodes; node++) {
		itself[node] = live_of[node] == HD_NONE ? HD_NONE : node;
		if (live_of[node] == HD_NONE)
			continue;
		same = place[live_of[node]] == HD_NONE; /* no two have one image */
		place[live_of[node]] = node;
		mapped++;
		switches += live_of[node] < live->switch_count;
	}
	for (uint32_t node = 0; same && node < nodes; node++) {
		if (live_of[node] == HD_NONE)
			continue;
		count_cables(plan, node, itself, nodes, of_plan);
		count_cables(live, live_of[node], place, nodes, of_live);
		same = !memcmp(of_plan, of_live, (nodes + 1u) * sizeof(*of_plan));
	}
	free(of_plan);
	free(of_live);
	free(itself);
	free(place);
	return same && mapped && switches == live->switch_count;
}
