/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applications that arrive one after the other, and the most of their flows that share a link (figure 4 of the paper in
 * doc/papers/routing-keys.md). No packet is sent. A part of the hosts, in random order, belongs to applications; each
 * host sends to the next one of its application. Flows go by the tables, or each application gets a key for the loads
 * of the moment when it arrives, and stays.
 */
#include "traffic.h"
#include "traffic_draw.h"
#include "traffic_keys.h"

#include <errno.h>
#include <heddle/fabric/walk.h>
#include <inttypes.h>
#include <stdlib.h>

#define APPLICATION_MOST 4096u

struct arrivals {
	uint32_t applications, flows, largest, sharing;
};

/* What making them needs. */
struct arriving {
	const struct hd_traffic_part *part;
	struct arrivals *arrivals;
	struct keys_settings keys;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct hd_key_tree *tree;
	struct hd_key_loads *loads;
	uint32_t *hosts; /* in random order */
	uint32_t *switches; /* of a path */
};

static uint32_t link_between(const struct hd_fabric *fabric, uint32_t from, uint32_t to)
{
	uint32_t link = fabric->isl_base[from];

	while (fabric->isl_to[link] != to)
		link++;
	return link;
}

/* Follows the tables, as a packet would. */
static int add_by_tables(struct arriving *arriving, const struct hd_key_flow *flow,
			 struct hd_error *err)
{
	const struct hd_fabric *fabric = arriving->fabric;
	uint32_t lid = fabric->lid[fabric->host_port[flow->destination]], count;

	if (hd_routes_walk(fabric, arriving->routes, fabric->host_switch[flow->source], lid,
			   arriving->switches, &count) != HD_WALK_ARRIVED)
		return hd_error_set(err, -EHOSTUNREACH, "the tables do not lead to LID %" PRIu32,
				    lid);
	for (uint32_t i = 0; i + 1 < count; i++)
		arriving->loads->flows[link_between(fabric, arriving->switches[i],
						    arriving->switches[i + 1])]++;
	return 0;
}

static int arrivals_prepare(struct arriving *arriving, struct hd_error *err)
{
	const struct hd_traffic_part *part = arriving->part;
	struct hd_arena *arena = &part->traffic->arena;
	int rc = hd_key_tree_new(arriving->fabric, &arriving->tree, err);

	if (rc)
		return rc;
	arriving->loads = hd_key_loads_new(arriving->tree);
	arriving->hosts = hd_arena_alloc(arena, part->member_count, sizeof(*arriving->hosts));
	arriving->switches =
	    hd_arena_alloc(arena, arriving->fabric->switch_count + 1u, sizeof(*arriving->switches));
	if (!arriving->loads || hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < part->member_count; i++)
		arriving->hosts[i] = part->members[i];
	return 0;
}

static int arrivals_arrive(struct arriving *arriving, const struct hd_options *options,
			   struct hd_error *err)
{
	const struct hd_traffic_part *part = arriving->part;
	uint32_t least = (uint32_t)hd_options_get(options, "smallest")->number;
	uint32_t most = (uint32_t)hd_options_get(options, "largest")->number;
	uint64_t random = traffic_stream(part, TRAFFIC_STREAM_SENDERS);
	uint32_t senders =
	    (uint32_t)(part->member_count * traffic_share(options, "load") / 1000000);
	int rc = 0;

	if (most < least)
		return hd_error_set(err, -ERANGE, "option 'largest' is below 'smallest'");
	draw_order(&random, arriving->hosts, part->member_count);
	for (uint32_t begin = 0; !rc && begin + least <= senders;) {
		uint32_t size = least + (uint32_t)hd_random_below(&random, most - least + 1);
		size = size > senders - begin ? senders - begin : size;
		const uint32_t *hosts = arriving->hosts + begin;
		struct hd_key_flow *flows = calloc(size, sizeof(*flows));
		rc = flows ? 0 : hd_error_no_memory(err);
		for (uint32_t i = 0; !rc && i < size; i++)
			flows[i] = (struct hd_key_flow){hosts[i], hosts[(i + 1) % size]};
		if (!rc && arriving->keys.mode) {
			struct hd_key_request request = {.tree = arriving->tree,
							 .flows = flows,
							 .flow_count = size,
							 .algorithm = arriving->keys.algorithm,
							 .best_effort = true,
							 .threads = 1};
			struct hd_key_shift *shift = NULL;
			struct hd_key *key = NULL;
			rc = hd_key_make(&request, &key, err);

			if (!rc && arriving->keys.mode == KEYS_NRK)
				rc = hd_key_shift_choose(arriving->tree, key, arriving->loads,
							 arriving->keys.objective, &shift, err);
			if (!rc) {
				arriving->arrivals->sharing += key->contention > 1;
				hd_key_loads_add(arriving->loads, arriving->tree, key, shift, 1);
			}
			hd_key_shift_free(shift);
			hd_key_free(key);
		}
		for (uint32_t i = 0; !rc && !arriving->keys.mode && i < size; i++)
			rc = add_by_tables(arriving, &flows[i], err);
		arriving->arrivals->applications++;
		arriving->arrivals->flows += size;
		free(flows);

		begin += size;
	}
	for (uint32_t link = 0; link < arriving->loads->link_count; link++)
		if (arriving->loads->flows[link] > arriving->arrivals->largest)
			arriving->arrivals->largest = arriving->loads->flows[link];
	return rc;
}

static int arrivals_create(struct hd_traffic_part *part, const struct hd_options *options,
			   struct hd_error *err)
{
	const struct hd_traffic_scene *scene = part->traffic->scene;
	struct arriving arriving = {.part = part};

	if (scene->network->subnet_count != 1)
		return hd_error_set(err, -EINVAL, "keys are for one subnet");
	arriving.arrivals = hd_arena_alloc(&part->traffic->arena, 1, sizeof(*arriving.arrivals));
	if (!arriving.arrivals)
		return hd_error_no_memory(err);
	part->state = arriving.arrivals;
	arriving.fabric = scene->network->subnets[0].fabric;
	arriving.routes = scene->network->subnets[0].routes;
	arriving.keys.mode = (enum keys_mode)hd_options_get(options, "keys")->number;
	arriving.keys.objective =
	    (enum hd_key_objective)hd_options_get(options, "key_shift")->number;
	hd_colour_algorithm_parse(hd_options_get(options, "key_colours")->text,
				  &arriving.keys.algorithm);
	int rc = arrivals_prepare(&arriving, err);
	if (!rc)
		rc = arrivals_arrive(&arriving, options, err);
	hd_key_loads_free(arriving.loads);
	hd_key_tree_free(arriving.tree);
	return rc;
}

/* No messages. */
static int arrivals_list(const struct hd_traffic_part *part, hd_traffic_visit visit, void *context,
			 struct hd_error *err)
{
	(void)part, (void)visit, (void)context, (void)err;
	return 0;
}

static int arrivals_start(struct hd_traffic_part *part, struct hd_error *err)
{
	(void)err;
	traffic_finish(part);
	return 0;
}

static double arrivals_progress(const struct hd_traffic_part *part)
{
	return part->finished;
}

static void arrivals_figures(const struct hd_traffic_part *part, struct hd_traffic_report *report)
{
	const struct arrivals *arrivals = part->state;
	const struct traffic_value values[] = {
	    {"contention", "most flows on a link between switches", HD_TRAFFIC_COUNT,
	     arrivals->largest, NULL, 0},
	    {"applications", "that arrived", HD_TRAFFIC_COUNT, arrivals->applications, NULL, 0},
	    {"flows", "of all applications", HD_TRAFFIC_COUNT, arrivals->flows, NULL, 0},
	    {"sharing", "keys whose own flows share a link", HD_TRAFFIC_COUNT, arrivals->sharing,
	     NULL, 0},
	};

	for (unsigned i = 0; i < TRAFFIC_COUNT(values); i++)
		traffic_report(report, &values[i]);
}

static const struct hd_option options[] = {
    TRAFFIC_CHECKED("load", "share of the hosts that belong to applications", "60%",
		    hd_sim_check_share),
    TRAFFIC_INT("smallest", "hosts of an application, at least", "2", 2, APPLICATION_MOST),
    TRAFFIC_INT("largest", "hosts of an application, at most", "18", 2, APPLICATION_MOST),
    TRAFFIC_CHOICE("keys",
		   "none: flows go by the tables; ark: by a key for each application; nrk: by one "
		   "that is shifted for the loads when the application arrives",
		   "none", "none|ark|nrk"),
    TRAFFIC_CHOICE("key_shift", "what a shift minimises: see heddle key", "links", "links|paper"),
    TRAFFIC_CHOICE("key_colours", "how the flows of a key are coloured", "auto",
		   "auto|paths|euler|paper"),
    TRAFFIC_COMMON_OPTIONS("sl", "none"),
};

const struct hd_traffic_kind traffic_arrivals = {
    .name = "arrivals",
    .summary =
	"no packets: the flows of applications that arrive one after the other, on the links",
    .options = options,
    .option_count = TRAFFIC_COUNT(options),
    .finite = true,
    .create = arrivals_create,
    .list = arrivals_list,
    .start = arrivals_start,
    .progress = arrivals_progress,
    .figures = arrivals_figures,
};
