/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_inner.h"

#include <assert.h>
#include <errno.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/stored_tables.h>
#include <stdlib.h>

struct hd_stored_tables *hd_stored_tables_new(void)
{
	return calloc(1, sizeof(struct hd_stored_tables));
}

static void release(struct hd_stored_tables *stored)
{
	free(stored->switch_guid);
	free(stored->switch_ports);
	free(stored->owner);
	free(stored->offset);
	hd_routes_free(stored->routes);
}

void hd_stored_tables_free(struct hd_stored_tables *stored)
{
	if (stored)
		release(stored);
	free(stored);
}

void hd_stored_state_release(struct hd_stored_state *state)
{
	for (uint32_t i = 0; i < state->count; i++)
		hd_stored_tables_free(state->sets[i]);
	state->count = 0;
}

/* The GUID of the port that has a LID, 0: nobody has it; and the LID's offset. */
static uint64_t owner_of(const struct hd_fabric *fabric, uint32_t lid, uint16_t *offset)
{
	uint32_t port = fabric->lid_owner[lid];

	if (port == HD_NONE) {
		*offset = 0;
		return 0;
	}
	*offset = (uint16_t)(lid - fabric->lid[port]);
	uint64_t guid = fabric->port_guid[port];
	return guid ? guid : fabric->node_guid[fabric->port_node[port]];
}

static bool allocate(struct hd_stored_tables *stored, uint32_t switches, uint32_t columns)
{
	stored->switch_guid = calloc(switches + 1u, sizeof(*stored->switch_guid));
	stored->switch_ports = calloc(switches + 1u, sizeof(*stored->switch_ports));
	stored->owner = calloc(columns + 1u, sizeof(*stored->owner));
	stored->offset = calloc(columns + 1u, sizeof(*stored->offset));
	return stored->switch_guid && stored->switch_ports && stored->owner && stored->offset;
}

static void name_switches(struct hd_stored_tables *stored, const struct hd_fabric *fabric)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		stored->switch_guid[sw] = fabric->node_guid[sw];
		stored->switch_ports[sw] = (uint8_t)hd_node_ports(fabric, sw);
	}
}

static void name_columns(struct hd_stored_tables *stored, const struct hd_fabric *fabric)
{
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
		stored->owner[lid] = owner_of(fabric, lid, &stored->offset[lid]);
}

int hd_stored_tables_name(const struct hd_fabric *fabric, struct hd_stored_tables **out,
			  struct hd_error *err)
{
	struct hd_stored_tables *stored = hd_stored_tables_new();

	if (!stored || !allocate(stored, fabric->switch_count, fabric->lid_count)) {
		hd_stored_tables_free(stored);
		return hd_error_no_memory(err);
	}
	name_switches(stored, fabric);
	name_columns(stored, fabric);
	*out = stored;
	return 0;
}

static bool same_switches(const struct hd_stored_tables *stored, const struct hd_fabric *fabric)
{
	if (stored->routes->switch_count != fabric->switch_count)
		return false;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (stored->switch_guid[sw] != fabric->node_guid[sw] ||
		    stored->switch_ports[sw] != hd_node_ports(fabric, sw))
			return false;
	return true;
}

bool hd_stored_tables_fit(const struct hd_stored_tables *stored, const struct hd_fabric *fabric)
{
	if (!stored->routes || stored->routes->lid_count != fabric->lid_count ||
	    !same_switches(stored, fabric))
		return false;
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
		uint16_t offset;
		if (owner_of(fabric, lid, &offset) != stored->owner[lid] ||
		    offset != stored->offset[lid])
			return false;
	}
	return true;
}

/* The LID that the owner of a column has today, or 0. */
static uint32_t lid_of(const struct hd_stored_tables *stored, uint32_t column,
		       const struct hd_fabric *fabric)
{
	uint32_t port =
	    stored->owner[column] ? hd_fabric_find_port(fabric, stored->owner[column]) : HD_NONE;

	if (port == HD_NONE || !fabric->lid[port] ||
	    stored->offset[column] >= 1u << fabric->lmc[port])
		return 0;
	return fabric->lid[port] + stored->offset[column];
}

/* Row of a switch, or HD_NONE. */
static uint32_t find_row(const struct hd_stored_tables *stored, uint64_t guid)
{
	uint32_t low = 0, high = stored->routes ? stored->routes->switch_count : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (stored->switch_guid[middle] == guid)
			return middle;
		if (stored->switch_guid[middle] < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return HD_NONE;
}

uint32_t hd_stored_tables_known(const struct hd_stored_tables *stored,
				const struct hd_fabric *fabric)
{
	uint32_t known = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		known += find_row(stored, fabric->node_guid[sw]) != HD_NONE;
	return known;
}

/* Entries name ports that the switches have. */
static void drop_unknown_ports(const struct hd_fabric *fabric, struct hd_routes *routes)
{
	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		uint32_t ports = hd_node_ports(fabric, sw);
		uint8_t *row = hd_routes_row(routes, sw);
		for (uint32_t lid = 0; lid < routes->lid_count; lid++)
			if (row[lid] > ports)
				row[lid] = HD_NO_PORT;
	}
}

/* Where the tables of `fabric` come from. */
static void find_origin(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			struct routes_origin *origin)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		origin->row[sw] = find_row(stored, fabric->node_guid[sw]);
	for (uint32_t column = 1; column < stored->routes->lid_count; column++) {
		uint32_t lid = lid_of(stored, column, fabric);
		if (lid && lid < fabric->lid_count)
			origin->column[lid] = (uint16_t)column;
	}
}

static void copy_names(const struct hd_routes *from, struct hd_routes *to)
{
	memcpy(to->engine, from->engine, sizeof(to->engine));
	memcpy(to->chosen, from->chosen, sizeof(to->chosen));
	to->chosen_for = from->chosen_for;
	memcpy(to->options, from->options, sizeof(to->options));
}

/* Free LIDs of the fabric get the columns of LIDs that nobody has now. */
static void find_absent(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			struct routes_origin *origin)
{
	const uint32_t columns = stored->routes->lid_count < fabric->lid_count
				     ? stored->routes->lid_count
				     : fabric->lid_count;

	for (uint32_t column = 1; column < columns; column++)
		if (fabric->lid_owner[column] == HD_NONE && stored->owner[column] &&
		    !lid_of(stored, column, fabric))
			origin->column[column] = (uint16_t)column;
}

static int carry_to(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
		    bool absent, struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *routes = hd_routes_new(fabric);
	struct routes_origin origin;
	bool ready = routes_origin_init(&origin, fabric->switch_count, fabric->lid_count) && routes;

	if (ready && stored->routes) {
		find_origin(stored, fabric, &origin);
		if (absent)
			find_absent(stored, fabric, &origin);
		ready = !routes_carry(stored->routes, &origin, routes);
	}
	routes_origin_release(&origin);
	if (!ready) {
		hd_routes_free(routes);
		return hd_error_no_memory(err);
	}
	if (stored->routes)
		copy_names(stored->routes, routes);
	drop_unknown_ports(fabric, routes);
	*out = routes;
	return 0;
}

int hd_stored_tables_get(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			 struct hd_routes **out, struct hd_error *err)
{
	return carry_to(stored, fabric, false, out, err);
}

int hd_stored_tables_baseline(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			      struct hd_routes **out, struct hd_error *err)
{
	return carry_to(stored, fabric, true, out, err);
}

/* ---- adding ---- */

/* A stored set that is to get what a fabric has. */
struct adding {
	struct hd_stored_tables *stored;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct routes_origin from; /* rows and columns of `routes` for those of `stored` */
	bool lacking; /* `stored` has no row or column for something of the fabric */
};

static int match(struct adding *adding)
{
	const struct hd_stored_tables *stored = adding->stored;
	const struct hd_fabric *fabric = adding->fabric;
	uint32_t rows = stored->routes->switch_count, columns = stored->routes->lid_count;
	uint32_t known_rows = 0, known_columns = 0;

	if (!routes_origin_init(&adding->from, rows, columns))
		return -ENOMEM;
	for (uint32_t row = 0; row < rows; row++) {
		uint32_t sw = hd_fabric_find_node(fabric, stored->switch_guid[row]);
		adding->from.row[row] = sw < fabric->switch_count ? sw : HD_NONE;
		known_rows += sw < fabric->switch_count;
	}
	for (uint32_t column = 1; column < columns; column++) {
		adding->from.column[column] = (uint16_t)lid_of(stored, column, fabric);
		known_columns += adding->from.column[column] != 0;
	}
	adding->lacking =
	    known_rows < fabric->switch_count || known_columns < hd_fabric_lids_in_use(fabric);
	return 0;
}

/* Rows of the fabric and rows that it lacks, by GUID. Returns their number. */
static uint32_t merge_rows(const struct adding *adding, struct hd_stored_tables *merged,
			   struct routes_origin *origin)
{
	const struct hd_stored_tables *old = adding->stored;
	const struct hd_fabric *fabric = adding->fabric;
	uint32_t old_rows = old->routes->switch_count, row = 0, at = 0, sw = 0;

	while (at < old_rows || sw < fabric->switch_count) {
		bool own = at == old_rows || (sw < fabric->switch_count &&
					      fabric->node_guid[sw] <= old->switch_guid[at]);
		bool both = own && at < old_rows && fabric->node_guid[sw] == old->switch_guid[at];

		merged->switch_guid[row] = own ? fabric->node_guid[sw] : old->switch_guid[at];
		merged->switch_ports[row] = own ? (uint8_t)hd_node_ports(fabric, sw) : 0;
		if ((!own || both) && merged->switch_ports[row] < old->switch_ports[at])
			merged->switch_ports[row] = old->switch_ports[at];
		origin->row[row++] = !own || both ? at : HD_NONE;
		at += !own || both;
		sw += own;
	}
	return row;
}

/* Columns by today's LIDs. Those of absent LIDs stay where they are, if that is free, or else go to
 * the first place that is. Returns the number of columns. */
static uint32_t merge_columns(const struct adding *adding, struct hd_stored_tables *merged,
			      struct routes_origin *origin)
{
	const struct hd_stored_tables *old = adding->stored;
	uint32_t old_columns = old->routes->lid_count, free_at = 1;
	uint32_t count =
	    adding->fabric->lid_count > old_columns ? adding->fabric->lid_count : old_columns;

	name_columns(merged, adding->fabric);
	for (uint32_t column = 1; column < old_columns; column++)
		if (adding->from.column[column])
			origin->column[adding->from.column[column]] = (uint16_t)column;
	for (uint32_t column = 1; column < old_columns; column++) {
		uint32_t place = column;
		if (!old->owner[column] || adding->from.column[column])
			continue;
		if (merged->owner[place]) {
			while (free_at < HD_STORED_COLUMNS_MAX && merged->owner[free_at])
				free_at++;
			place = free_at;
		}
		if (place == HD_STORED_COLUMNS_MAX)
			break;
		merged->owner[place] = old->owner[column];
		merged->offset[place] = old->offset[column];
		origin->column[place] = (uint16_t)column;
		count = place >= count ? place + 1 : count;
	}
	return count;
}

static int grow(struct adding *adding)
{
	struct hd_stored_tables *stored = adding->stored;
	uint32_t most_rows = stored->routes->switch_count + adding->fabric->switch_count;
	struct hd_stored_tables merged = {.policy = stored->policy};
	struct routes_origin origin;
	bool ready = routes_origin_init(&origin, most_rows, HD_STORED_COLUMNS_MAX) &&
		     allocate(&merged, most_rows, HD_STORED_COLUMNS_MAX);

	if (ready) {
		struct hd_fabric shape = {.switch_count = merge_rows(adding, &merged, &origin),
					  .lid_count = merge_columns(adding, &merged, &origin)};
		merged.routes = hd_routes_new(&shape);
		ready = merged.routes &&
			(!stored->routes || !routes_carry(stored->routes, &origin, merged.routes));
	}
	routes_origin_release(&origin);
	if (!ready) {
		release(&merged);
		return -ENOMEM;
	}
	copy_names(stored->routes, merged.routes);
	release(stored);
	*stored = merged;
	return 0;
}

/* The first tables, which have the fabric's shape. */
static int start(struct adding *adding)
{
	const struct hd_routes *from = adding->routes;
	struct hd_stored_tables *named;
	struct hd_routes *routes = hd_routes_new_unset(adding->fabric);

	if (!routes || hd_stored_tables_name(adding->fabric, &named, NULL)) {
		hd_routes_free(routes);
		return -ENOMEM;
	}
	memcpy(routes->lft, from->lft, (size_t)routes->switch_count * routes->stride);
	copy_names(from, routes);
	named->routes = routes;
	named->policy = adding->stored->policy;
	*adding->stored = *named;
	free(named);
	return 0;
}

/* Fills gaps of a row. Returns how many are left. */
static uint32_t fill_row(const struct adding *adding, uint32_t row, bool *filled)
{
	const struct hd_stored_tables *stored = adding->stored;
	const uint8_t *source = hd_routes_row(adding->routes, adding->from.row[row]);
	uint8_t *target = hd_routes_row(stored->routes, row), *gap = target;
	const uint8_t *end = target + stored->routes->lid_count;
	uint32_t gaps = 0;

	while ((gap = memchr(gap + 1, HD_NO_PORT, (size_t)(end - gap - 1)))) {
		uint32_t column = (uint32_t)(gap - target);
		if (!stored->owner[column])
			continue;
		if (adding->from.column[column])
			*gap = source[adding->from.column[column]];
		*filled |= *gap != HD_NO_PORT;
		gaps += *gap == HD_NO_PORT;
	}
	return gaps;
}

/* Ranks, which tables may get later than entries. Returns how many are unknown. */
static uint32_t fill_ranks(const struct adding *adding, bool *filled)
{
	struct hd_routes *to = adding->stored->routes;
	uint32_t gaps = 0;

	for (uint32_t row = 0; to->rank && row < to->switch_count; row++) {
		if (to->rank[row] == HD_NONE && adding->routes->rank &&
		    adding->from.row[row] != HD_NONE) {
			to->rank[row] = adding->routes->rank[adding->from.row[row]];
			*filled |= to->rank[row] != HD_NONE;
		}
		gaps += to->rank[row] == HD_NONE;
	}
	return gaps;
}

static void fill(struct adding *adding, bool *filled)
{
	struct hd_routes *to = adding->stored->routes;
	uint32_t gaps = fill_ranks(adding, filled);

	for (uint32_t row = 0; row < to->switch_count; row++)
		if (adding->from.row[row] != HD_NONE)
			gaps += fill_row(adding, row, filled);
		else
			gaps++;
	adding->stored->complete = !gaps;
}

static bool start_ranks(const struct adding *adding)
{
	struct hd_routes *to = adding->stored->routes;

	if (to->rank || !adding->routes->rank)
		return true;
	to->rank = malloc((to->switch_count + 1) * sizeof(*to->rank));
	if (to->rank)
		memset(to->rank, 0xFF, (to->switch_count + 1) * sizeof(*to->rank));
	return to->rank != NULL;
}

/* The ranks and names of tables that have grown. */
static void follow_names(const struct adding *adding)
{
	struct hd_routes *to = adding->stored->routes;

	for (uint32_t row = 0; to->rank && adding->routes->rank && row < to->switch_count; row++)
		if (adding->from.row[row] != HD_NONE &&
		    adding->routes->rank[adding->from.row[row]] != HD_NONE)
			to->rank[row] = adding->routes->rank[adding->from.row[row]];
	copy_names(adding->routes, to);
}

/* Entries follow those in force if the fabric has grown. many: so have its LIDs. */
static int follow(struct adding *adding, bool many, bool *grown, struct hd_error *err)
{
	const struct hd_stored_tables *stored = adding->stored;
	const struct hd_fabric *fabric = adding->fabric;
	struct hd_routes *carried = NULL;
	uint8_t *follows = NULL;
	int rc = hd_stored_tables_fit(stored, fabric)
		     ? 0
		     : hd_stored_tables_baseline(stored, fabric, &carried, err);

	if (!rc)
		rc = stored_growth_find(fabric, carried ? carried : stored->routes, adding->routes,
					many, &follows);
	if (!rc && follows)
		rc = match(adding);
	for (uint32_t row = 0; !rc && follows && row < stored->routes->switch_count; row++) {
		const uint32_t sw = adding->from.row[row];

		for (uint32_t column = 1; sw != HD_NONE && column < stored->routes->lid_count;
		     column++) {
			const uint32_t lid = adding->from.column[column];

			if (lid && follows[(size_t)sw * fabric->lid_count + lid])
				hd_routes_row(stored->routes, row)[column] =
				    hd_routes_row(adding->routes, sw)[lid];
		}
	}
	if (!rc && follows) {
		follow_names(adding);
		*grown = true;
	}
	routes_origin_release(&adding->from);
	hd_routes_free(carried);
	free(follows);
	return rc;
}

/* The entry of a column's own switch, which leads to the host or to the switch itself: NULL: the fabric lacks it, or the
 * tables do. `fits`: hd_stored_tables_fit(), then nothing is looked up. *port: what the entry should be. */
static uint8_t *own_entry(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			  bool fits, uint32_t column, uint8_t *port)
{
	uint32_t lid = column, exit;

	if (!fits)
		lid = stored->owner[column] ? lid_of(stored, column, fabric) : 0;
	if (!lid || !hd_fabric_lid_destination(fabric, lid, &exit, port))
		return NULL;
	const uint32_t row = fits ? exit : find_row(stored, fabric->node_guid[exit]);

	return row == HD_NONE ? NULL : &hd_routes_row(stored->routes, row)[column];
}

/* Forgets the columns of hosts that were moved to other ports. */
static void forget_moved(struct hd_stored_tables *stored, const struct hd_fabric *fabric, bool fits)
{
	for (uint32_t column = 1; column < stored->routes->lid_count; column++) {
		uint8_t port, *own = own_entry(stored, fabric, fits, column, &port);

		if (!own || *own == HD_NO_PORT || *own == port)
			continue;
		for (uint32_t row = 0; row < stored->routes->switch_count; row++)
			hd_routes_row(stored->routes, row)[column] = HD_NO_PORT;
		stored->complete = false;
	}
}

/* Whether many LIDs of the fabric have no column, or an empty one. */
static bool has_many_new_lids(const struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			      bool fits)
{
	uint32_t known = 0, all = 0, exit;
	uint8_t port;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		all += hd_fabric_lid_destination(fabric, lid, &exit, &port);
	for (uint32_t column = 1; column < stored->routes->lid_count; column++) {
		const uint8_t *own = own_entry(stored, fabric, fits, column, &port);

		known += own && *own != HD_NO_PORT;
	}
	return (uint64_t)(all - known) * HD_STORED_MANY_NEW > all;
}

static int add(struct adding *adding, bool *grown)
{
	int rc = 0;

	if (!adding->stored->routes) {
		rc = start(adding);
		*grown = true;
	}
	if (!rc)
		rc = match(adding);
	if (!rc && adding->lacking) {
		rc = grow(adding);
		routes_origin_release(&adding->from);
		adding->from = (struct routes_origin){0};
		*grown = true;
		if (!rc)
			rc = match(adding);
	}
	if (!rc && !start_ranks(adding))
		rc = -ENOMEM;
	if (!rc && !adding->stored->complete)
		fill(adding, grown);
	routes_origin_release(&adding->from);
	return rc;
}

int hd_stored_tables_add(struct hd_stored_tables *stored, const struct hd_fabric *fabric,
			 const struct hd_routes *routes, bool *grown, struct hd_error *err)
{
	struct adding adding = {.stored = stored, .fabric = fabric, .routes = routes};
	bool added = false;

	assert(routes->switch_count == fabric->switch_count &&
	       routes->lid_count == fabric->lid_count);
	const bool first = !stored->routes;
	bool many = false;

	if (!first) {
		const bool fits = hd_stored_tables_fit(stored, fabric);

		forget_moved(stored, fabric, fits);
		many = has_many_new_lids(stored, fabric, fits);
	}
	if ((!stored->complete || !hd_stored_tables_fit(stored, fabric)) && add(&adding, &added))
		return hd_error_no_memory(err);
	adding.from = (struct routes_origin){0};
	if (!first && follow(&adding, many, &added, err))
		return hd_error_no_memory(err);
	if (routes->labels && stored->routes->labels != routes->labels) {
		hd_tree_labels_release(stored->routes->labels);
		stored->routes->labels = hd_tree_labels_hold(routes->labels);
		added = true;
	}
	*grown = added;
	return 0;
}
