/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Forwarding tables: how they are made, copied, and carried into the shape of another fabric;
 * their labels; and the order of multicast entries. */
#include "fabric_inner.h"

#include <assert.h>
#include <errno.h>
#include <heddle/fabric/mfts.h>
#include <heddle/fabric/regular_tree.h>
#include <stdlib.h>
#include <string.h>

/* ---- multicast entries ---- */

/* The order of multicast entries, and searches in it. */

int hd_mfts_compare(const void *left, const void *right)
{
	const struct hd_mft_entry *a = left, *b = right;

	if (a->mlid != b->mlid)
		return a->mlid < b->mlid ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

void hd_mfts_sort(struct hd_mfts *mfts)
{
	if (mfts->count)
		qsort(mfts->entries, mfts->count, sizeof(*mfts->entries), hd_mfts_compare);
}

const struct hd_mft_entry *hd_mfts_find(const struct hd_mfts *mfts, uint32_t mlid, uint32_t sw)
{
	const struct hd_mft_entry key = {.mlid = mlid, .sw = sw};

	return mfts->count ? bsearch(&key, mfts->entries, mfts->count, sizeof(key), hd_mfts_compare)
			   : NULL;
}

const struct hd_mft_entry *hd_mfts_group(const struct hd_mfts *mfts, uint32_t mlid, uint32_t *count)
{
	uint32_t first = 0;

	while (first < mfts->count && mfts->entries[first].mlid < mlid)
		first++;
	for (*count = 0;
	     first + *count < mfts->count && mfts->entries[first + *count].mlid == mlid;)
		(*count)++;
	return mfts->entries + first;
}

/* ---- labels of a tree ---- */

struct hd_tree_labels *hd_tree_labels_hold(struct hd_tree_labels *labels)
{
	if (labels)
		atomic_fetch_add(&labels->holders, 1);
	return labels;
}

void hd_tree_labels_release(struct hd_tree_labels *labels)
{
	if (!labels || atomic_fetch_sub(&labels->holders, 1) != 1)
		return;
	hd_arena_release(&labels->arena);
	free(labels);
}

/* ---- the shape of another fabric ---- */

bool routes_origin_init(struct routes_origin *origin, uint32_t rows, uint32_t columns)
{
	origin->row = malloc((rows + 1u) * sizeof(*origin->row));
	origin->column = calloc(columns + 1u, sizeof(*origin->column));
	if (origin->row)
		memset(origin->row, 0xFF, (rows + 1u) * sizeof(*origin->row));
	return origin->row && origin->column;
}

void routes_origin_release(struct routes_origin *origin)
{
	free(origin->row);
	free(origin->column);
}

/* Columns that follow each other, before and after. */
struct run {
	uint32_t from, to, count;
};

/* Lists the columns that have an origin, to be freed; NULL: no memory. */
static struct run *list_runs(const struct hd_routes *from, const struct routes_origin *origin,
			     const struct hd_routes *to, uint32_t *count)
{
	struct run *runs = malloc((to->lid_count + 1u) * sizeof(*runs));

	*count = 0;
	for (uint32_t lid = 1; runs && lid < to->lid_count; lid++) {
		uint32_t old = origin->column[lid];
		struct run *last = *count ? &runs[*count - 1] : NULL;
		if (!old || old >= from->lid_count)
			continue;
		if (last && last->from + last->count == old && last->to + last->count == lid)
			last->count++;
		else
			runs[(*count)++] = (struct run){old, lid, 1};
	}
	return runs;
}

static void carry_row(const uint8_t *source, const struct run *runs, uint32_t count,
		      uint8_t *target)
{
	for (uint32_t i = 0; i < count; i++)
		memcpy(target + runs[i].to, source + runs[i].from, runs[i].count);
}

/* Service levels on SL 0, for tables to which those of `from` are carried over. */
static bool start_levels(const struct hd_routes *from, struct hd_routes *to)
{
	if (!from->sl)
		return true;
	to->sl = calloc(to->switch_count, to->stride);
	memcpy(to->sl2vl, from->sl2vl, sizeof(to->sl2vl));
	return to->sl != NULL;
}

static bool carry_maps(const struct hd_routes *from, const struct routes_origin *origin,
		       struct hd_routes *to)
{
	if (!from->maps)
		return true;
	to->maps = hd_lane_maps_carry(from->maps, origin->row, to->switch_count);
	return to->maps != NULL;
}

static bool carry_ranks(const struct hd_routes *from, const struct routes_origin *origin,
			struct hd_routes *to)
{
	if (!from->rank)
		return true;
	to->rank = malloc((to->switch_count + 1) * sizeof(*to->rank));
	for (uint32_t sw = 0; to->rank && sw < to->switch_count; sw++)
		to->rank[sw] =
		    origin->row[sw] < from->switch_count ? from->rank[origin->row[sw]] : HD_NONE;
	return to->rank != NULL;
}

int routes_carry(const struct hd_routes *from, const struct routes_origin *origin,
		 struct hd_routes *to)
{
	uint32_t count;
	struct run *runs = list_runs(from, origin, to, &count);

	if (!runs || !start_levels(from, to) || !carry_ranks(from, origin, to) ||
	    !carry_maps(from, origin, to)) {
		free(runs);
		return -ENOMEM;
	}
	for (uint32_t sw = 0; sw < to->switch_count; sw++) {
		uint32_t old = origin->row[sw];
		if (old >= from->switch_count)
			continue;
		carry_row(hd_routes_row(from, old), runs, count, hd_routes_row(to, sw));
		if (from->sl)
			carry_row(from->sl + (size_t)old * from->stride, runs, count,
				  to->sl + (size_t)sw * to->stride);
	}
	free(runs);
	memcpy(to->chosen, from->chosen, sizeof(to->chosen));
	to->chosen_for = from->chosen_for;
	to->labels = hd_tree_labels_hold(from->labels);
	return 0;
}

/* ---- the tables ---- */

struct hd_routes *hd_routes_new_unset(const struct hd_fabric *fabric)
{
	struct hd_routes *routes = calloc(1, sizeof(*routes));

	if (!routes)
		return NULL;
	routes->switch_count = fabric->switch_count;
	routes->lid_count = fabric->lid_count;
	routes->stride = (fabric->lid_count + HD_LFT_BLOCK - 1) / HD_LFT_BLOCK * HD_LFT_BLOCK;
	size_t bytes = (size_t)routes->switch_count * routes->stride;
	routes->lft = aligned_alloc(HD_LFT_BLOCK, bytes ? bytes : HD_LFT_BLOCK);
	if (!routes->lft) {
		free(routes);
		return NULL;
	}
	return routes;
}

struct hd_routes *hd_routes_new(const struct hd_fabric *fabric)
{
	struct hd_routes *routes = hd_routes_new_unset(fabric);

	if (routes)
		memset(routes->lft, HD_NO_PORT, (size_t)routes->switch_count * routes->stride);
	return routes;
}

static void *copy_array(const void *array, size_t bytes)
{
	void *copy = aligned_alloc(HD_LFT_BLOCK, (bytes / HD_LFT_BLOCK + 1) * HD_LFT_BLOCK);

	return copy ? memcpy(copy, array, bytes) : NULL;
}

struct hd_routes *hd_routes_copy(const struct hd_routes *routes)
{
	const size_t bytes = (size_t)routes->switch_count * routes->stride;
	struct hd_routes *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *routes;
	copy->labels = hd_tree_labels_hold(routes->labels);
	copy->lft = copy_array(routes->lft, bytes);
	copy->sl = routes->sl ? copy_array(routes->sl, bytes) : NULL;
	copy->rank = routes->rank
			 ? copy_array(routes->rank, routes->switch_count * sizeof(*copy->rank))
			 : NULL;
	copy->maps = routes->maps ? hd_lane_maps_copy(routes->maps) : NULL;
	if (copy->lft && !copy->sl == !routes->sl && !copy->rank == !routes->rank &&
	    !copy->maps == !routes->maps)
		return copy;
	hd_routes_free(copy);
	return NULL;
}

void hd_routes_free(struct hd_routes *routes)
{
	if (!routes)
		return;
	free(routes->lft);
	free(routes->sl);
	free(routes->rank);
	hd_lane_maps_free(routes->maps);
	hd_tree_labels_release(routes->labels);
	free(routes);
}

int hd_routes_refuse_maps(const struct hd_routes *routes, const char *what, struct hd_error *err)
{
	if (!routes || !routes->maps)
		return 0;
	return hd_error_set(err, -ENOTSUP,
			    "there are no %s for routes that change their virtual lane on the way",
			    what);
}

/* The lanes of these service levels. */
static uint16_t lanes_of(const struct hd_routes *routes, uint32_t levels)
{
	uint32_t lanes = 0;

	if (routes->maps)
		return hd_lane_maps_lanes(routes->maps, (uint16_t)levels);
	for (; levels; levels &= levels - 1)
		lanes |= 1u << (routes->sl2vl[__builtin_ctz(levels)] & 15);
	return (uint16_t)lanes;
}

uint16_t hd_routes_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t levels = 0;

	if (!routes->sl)
		return lanes_of(routes, 1);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		bool sends = hd_has_adapters(fabric, sw);
		for (uint32_t lid = 1; sends && lid < fabric->lid_count; lid++) {
			uint32_t owner = fabric->lid_owner[lid];
			if (owner != HD_NONE && !hd_is_switch(fabric, fabric->port_node[owner]))
				levels |= 1u << hd_routes_sl(routes, sw, lid);
		}
	}
	return lanes_of(routes, levels);
}

static uint32_t levels_to(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  uint32_t port)
{
	uint32_t levels = 0, first = fabric->lid[port];

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (fabric->host_base[sw] == fabric->host_base[sw + 1])
			continue;
		for (uint32_t lid = first; lid < first + hd_port_lid_count(fabric, port); lid++)
			levels |= 1u << hd_routes_sl(routes, sw, lid);
	}
	return levels;
}

uint16_t hd_routes_router_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint32_t levels = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		if (fabric->node_type[fabric->port_node[port]] == HD_ROUTER)
			levels |= levels_to(fabric, routes, port);
	}
	return lanes_of(routes, levels);
}

/* For each LID of `fabric`: the LID under which `from` knew the same (port GUID, offset), or 0. */
static void match_lids(const struct hd_fabric *from, const struct hd_fabric *fabric,
		       uint16_t *match)
{
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		uint32_t owner = fabric->lid_owner[lid];
		if (owner == HD_NONE)
			continue;
		uint64_t guid = fabric->port_guid[owner];
		uint32_t old = hd_fabric_find_port(
		    from, guid ? guid : fabric->node_guid[fabric->port_node[owner]]);
		uint32_t offset = lid - fabric->lid[owner];
		if (old != HD_NONE && from->lid[old] && offset < 1u << from->lmc[old])
			match[lid] = (uint16_t)(from->lid[old] + offset);
	}
}

int hd_routes_rebase(const struct hd_fabric *from_fabric, const struct hd_routes *from,
		     const struct hd_fabric *fabric, struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	struct routes_origin origin;
	bool ready = routes_origin_init(&origin, fabric->switch_count, fabric->lid_count) && routes;

	if (ready) {
		match_lids(from_fabric, fabric, origin.column);
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			origin.row[sw] = hd_fabric_find_node(from_fabric, fabric->node_guid[sw]);
		ready = !routes_carry(from, &origin, routes);
	}
	routes_origin_release(&origin);
	if (!ready) {
		hd_routes_free(routes);
		return hd_error_no_memory(err);
	}
	*out = routes;
	return 0;
}

static bool same_shape(const struct hd_routes *a, const struct hd_routes *b)
{
	return a->switch_count == b->switch_count && a->lid_count == b->lid_count;
}

uint64_t hd_routes_count_changes(const struct hd_routes *a, const struct hd_routes *b)
{
	assert(same_shape(a, b));
	uint64_t changes = 0;
	for (uint32_t sw = 0; sw < a->switch_count; sw++) {
		const uint8_t *left = hd_routes_row(a, sw), *right = hd_routes_row(b, sw);
		for (uint32_t lid = 0; lid < a->lid_count; lid++)
			changes += left[lid] != right[lid];
	}
	return changes;
}

uint64_t hd_routes_count_missing(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	uint64_t missing = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(routes, sw), *end = row + fabric->lid_count;
		for (const uint8_t *at = row; (at = memchr(at, HD_NO_PORT, (size_t)(end - at)));
		     at++)
			missing += fabric->lid_owner[at - row] != HD_NONE;
	}
	return missing;
}

bool hd_routes_equal(const struct hd_routes *a, const struct hd_routes *b)
{
	if (!same_shape(a, b) || !a->sl != !b->sl || memcmp(a->sl2vl, b->sl2vl, sizeof(a->sl2vl)))
		return false;
	if (!a->maps != !b->maps || (a->maps && !hd_lane_maps_equal(a->maps, b->maps)))
		return false;
	size_t bytes = (size_t)a->switch_count * a->stride;
	return !memcmp(a->lft, b->lft, bytes) && (!a->sl || !memcmp(a->sl, b->sl, bytes));
}
