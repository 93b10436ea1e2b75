/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layers with tables in place. A row of a further LID that leads to its host from everywhere stays as it is, whatever the
 * fabric was when it was made, or returns to its baseline if that does. Its paths stay on their lanes. In other rows what
 * still leads to the host stays, and the rest is settled again.
 *
 * Base LIDs are routed by the rules of spf, as if they were alone. Those of their paths that have changed get what room
 * the rows leave that stay. If that is not enough, base LIDs come first, and rows that are in their way change. Rows
 * return to their baseline after all these, if there is room.
 */
#include "layers.h"

#include <errno.h>

enum state {
	ROW_STAYS, /* the tree in place leads to the host from everywhere */
	ROW_RETURNS, /* that of the baseline does, and is another one */
	ROW_BROKEN, /* to be settled by what is left of it */
	ROW_NEW /* the switches have nothing for this LID */
};

struct again {
	struct layers *layers;
	uint8_t *state; /* [lid_count] enum state, of further LIDs */
	uint8_t *tree, *lane; /* [switch_count] of a row in place */
	uint8_t *lane_before; /* [switch_count] of a row before paths were put on lanes */
	uint32_t *known; /* [switch_count] */
};

/* ---- what stays ---- */

/* Whether the tree leads to the destination from everywhere. Entries of switches that no path has are taken out. */
static bool leads(const struct again *again, uint8_t *tree)
{
	const struct layers *layers = again->layers;
	const struct dag *dag = &layers->workers[0].dag;
	const uint32_t switches = layers->fabric->switch_count;

	memset(again->known, 0, switches * sizeof(*again->known));
	again->known[dag->destination] = 1;
	tree[dag->destination] = LINK_NUMBER_NONE;
	for (uint32_t sw = 0; sw < switches; sw++)
		if (dag->distance[sw] == DAG_UNREACHED)
			tree[sw] = LINK_NUMBER_NONE;
	for (uint32_t i = 1; i < dag->reached; i++) {
		uint32_t sw = dag->order[i], hops = 0;
		for (; !again->known[sw] && hops < switches; hops++) {
			const uint32_t link = layer_choice_link(layers->fabric, tree, sw);
			if (link == HD_NONE)
				return false;
			sw = layers->fabric->isl_to[link];
		}
		if (!again->known[sw])
			return false;
		for (sw = dag->order[i]; !again->known[sw];) {
			again->known[sw] = 1;
			sw = layers->fabric->isl_to[layer_choice_link(layers->fabric, tree, sw)];
		}
	}
	return true;
}

static bool has_entries(const struct again *again, const uint8_t *tree)
{
	for (uint32_t sw = 0; sw < again->layers->fabric->switch_count; sw++)
		if (tree[sw] != LINK_NUMBER_NONE)
			return true;
	return false;
}

/* Reads what is in place for a LID. */
static enum state read_in_place(struct again *again, uint32_t host, uint32_t offset)
{
	const struct layers *layers = again->layers;
	const struct hd_route_request *request = layers->job->request;
	const uint32_t lid = layers_lid(layers, host, offset);

	layers_read(layers, request->previous, lid, again->tree, again->lane);
	if (leads(again, again->tree))
		return ROW_STAYS;
	return has_entries(again, again->tree) ? ROW_BROKEN : ROW_NEW;
}

static void take_in_place(const struct again *again, uint32_t row)
{
	const uint32_t switches = again->layers->fabric->switch_count;

	memcpy(again->layers->tree[row], again->tree, switches);
	memcpy(again->layers->lane[row], again->lane, switches);
}

/* Takes the baseline if it leads to the host and is not what is in place anyway. */
static bool take_baseline(struct again *again, uint32_t host, uint32_t offset)
{
	struct layers *layers = again->layers;
	const struct hd_routes *baseline = layers->job->request->baseline;
	const uint32_t row = layers->first[host] + offset;

	if (!baseline)
		return false;
	layers_read(layers, baseline, layers_lid(layers, host, offset), layers->tree[row],
		    layers->lane[row]);
	const bool good = leads(again, layers->tree[row]) &&
			  memcmp(layers->tree[row], again->tree, layers->fabric->switch_count);
	if (!good)
		memset(layers->tree[row], LINK_NUMBER_NONE, layers->fabric->switch_count);
	return good;
}

static int look(struct layers *layers, uint32_t host, uint32_t offset, void *context,
		struct hd_error *err)
{
	struct again *again = context;
	uint8_t *state = &again->state[layers_lid(layers, host, offset)];

	(void)err;
	layers_aim(layers, &layers->workers[0], host);
	*state = (uint8_t)read_in_place(again, host, offset);
	if (take_baseline(again, host, offset))
		*state = ROW_RETURNS;
	else if (*state == ROW_STAYS)
		take_in_place(again, layers->first[host] + offset);
	return 0;
}

/* ---- lanes of what stays ---- */

/* Whether the base LID's paths and lanes are those in place. */
static bool base_is_as_before(struct again *again, uint32_t host)
{
	struct layers *layers = again->layers;
	const uint32_t row = layers->first[host], switches = layers->fabric->switch_count;

	if (row == layers->first[host + 1])
		return true;
	layers_aim(layers, &layers->workers[0], host);
	read_in_place(again, host, 0);
	if (memcmp(layers->tree[row], again->tree, switches))
		return false;
	for (uint32_t sw = 0; sw < switches; sw++)
		if (hd_has_hosts(layers->fabric, sw) && layers->tree[row][sw] != LINK_NUMBER_NONE &&
		    layers->lane[row][sw] != again->lane[sw])
			return false;
	return true;
}

/* Puts base LIDs on lanes: those that are as before, or the others. */
static bool put_bases(struct again *again, bool as_before)
{
	struct layers *layers = again->layers;
	bool good = true;

	for (uint32_t host = 0; good && host < layers->fabric->host_count; host++) {
		const uint32_t row = layers->first[host];
		if (row < layers->first[host + 1] && base_is_as_before(again, host) == as_before)
			good =
			    layer_settle_put(&layers->settle, layers->tree[row], layers->lane[row],
					     layers->fabric->host_switch[host], !as_before);
	}
	return good;
}

/* Puts all paths of a row on lanes, or none. */
static bool try_row(struct again *again, uint32_t host, uint32_t row)
{
	struct layers *layers = again->layers;
	const uint32_t switches = layers->fabric->switch_count;

	if (!layers->guarded)
		return true;
	memcpy(again->lane_before, layers->lane[row], switches);
	layer_lanes_begin_batch(&layers->lanes);
	const bool good = layer_settle_put(&layers->settle, layers->tree[row], layers->lane[row],
					   layers->fabric->host_switch[host], true);
	layer_lanes_end_batch(&layers->lanes, good);
	if (!good)
		memcpy(layers->lane[row], again->lane_before, switches);
	return good;
}

static int put_staying(struct layers *layers, uint32_t host, uint32_t offset, void *context,
		       struct hd_error *err)
{
	struct again *again = context;
	uint8_t *state = &again->state[layers_lid(layers, host, offset)];

	(void)err;
	if (*state == ROW_STAYS && !try_row(again, host, layers->first[host] + offset)) {
		*state = ROW_BROKEN;
		layers->crowded++;
	}
	return 0;
}

/* Whether all paths of the row in place are one hop longer than the shortest at most. */
static bool is_short(const struct again *again)
{
	const struct layers *layers = again->layers;
	const struct dag *dag = &layers->workers[0].dag;

	for (uint32_t i = 1; i < dag->reached; i++) {
		uint32_t hops = 0;
		for (uint32_t sw = dag->order[i]; sw != dag->destination; hops++)
			sw = layers->fabric
				 ->isl_to[layer_choice_link(layers->fabric, again->tree, sw)];
		if (hops > dag->distance[dag->order[i]] + 1)
			return false;
	}
	return true;
}

/* Without room for its baseline a row stays as it is, unless paths have become too long. Then it returns as far as there
 * is room. */
static int put_returning(struct layers *layers, uint32_t host, uint32_t offset, void *context,
			 struct hd_error *err)
{
	struct again *again = context;
	const uint32_t row = layers->first[host] + offset;
	uint8_t *state = &again->state[layers_lid(layers, host, offset)];

	(void)err;
	if (*state != ROW_RETURNS || try_row(again, host, row))
		return 0;
	layers->crowded++;
	layers_aim(layers, &layers->workers[0], host);
	*state = ROW_BROKEN;
	if (read_in_place(again, host, offset) != ROW_STAYS || !is_short(again))
		return 0;
	take_in_place(again, row);
	if (try_row(again, host, row))
		*state = ROW_STAYS;
	return 0;
}

/* Base LIDs come first, and take the lanes that they have if they are alone. */
static int put_bases_first(struct again *again, struct hd_error *err)
{
	struct layers *layers = again->layers;

	layers_clear(layers);
	layers->crowded = 0;
	int rc = layers_each(layers, look, again, err);
	layers_put_base(layers);
	return rc ? rc : layers_each(layers, put_staying, again, err);
}

static int put_all(struct again *again, struct hd_error *err)
{
	struct layers *layers = again->layers;
	bool good = put_bases(again, true);
	int rc = good ? layers_each(layers, put_staying, again, err) : 0;

	if (!rc && !(good && put_bases(again, false)))
		rc = put_bases_first(again, err);
	return rc ? rc : layers_each(layers, put_returning, again, err);
}

/* ---- what changes ---- */

static void settle_new(struct layers *layers, uint32_t host, uint32_t offset)
{
	const struct layer_trees trees = layers_host(layers, host);
	struct layers_worker *worker = &layers->workers[0];

	layers_aim(layers, worker, host);
	layer_choice_aim(&worker->choice, &trees);
	layer_plan_tree(&worker->planner, &worker->dag, &trees, offset);
	layer_loads_count_tree(&layers->loads, trees.tree[offset], trees.sw, 1);
	layers_settle(layers, host, offset, trees.tree[offset], NULL, false);
}

static int settle_row(struct layers *layers, uint32_t host, uint32_t offset, void *context,
		      struct hd_error *err)
{
	struct again *again = context;
	const uint32_t row = layers->first[host] + offset;

	(void)err;
	switch ((enum state)again->state[layers_lid(layers, host, offset)]) {
	case ROW_STAYS:
	case ROW_RETURNS:
		break;
	case ROW_NEW:
		settle_new(layers, host, offset);
		break;
	case ROW_BROKEN:
		layers_aim(layers, &layers->workers[0], host);
		if (has_entries(again, layers->tree[row])) {
			layers_settle(layers, host, offset, layers->tree[row], layers->lane[row],
				      true);
			break;
		}
		read_in_place(again, host, offset);
		layers_settle(layers, host, offset, again->tree, again->lane, true);
	}
	return 0;
}

/* ---- all of it ---- */

static int allocate(struct again *again)
{
	struct hd_arena *arena = &again->layers->arena;
	const struct hd_fabric *fabric = again->layers->fabric;

	again->state = hd_arena_alloc(arena, fabric->lid_count, sizeof(*again->state));
	again->tree = hd_arena_alloc(arena, fabric->switch_count, 1);
	again->lane = hd_arena_alloc(arena, fabric->switch_count, 1);
	again->lane_before = hd_arena_alloc(arena, fabric->switch_count, 1);
	again->known = hd_arena_alloc(arena, fabric->switch_count, sizeof(*again->known));
	return hd_arena_check(arena);
}

int layers_again(struct layers *layers, struct hd_error *err)
{
	struct again again = {.layers = layers};

	if (allocate(&again))
		return hd_error_no_memory(err);
	int rc = layers_each(layers, look, &again, err);
	if (!rc)
		rc = put_all(&again, err);
	for (uint32_t host = 0; !rc && host < layers->fabric->host_count; host++) {
		const struct layer_trees trees = layers_host(layers, host);
		layer_loads_count(&layers->loads, &trees, 1);
	}
	if (!rc)
		rc = layers_each(layers, settle_row, &again, err);
	return rc;
}
