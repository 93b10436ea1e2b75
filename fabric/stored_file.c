/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes and reads the file of stored tables; stored_format.h says what is in it. */
#include "stored_format.h"

#include <errno.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/fabric/stored_tables.h>
#include <stdlib.h>

/* ---- writing ---- */

/* The file is made twice: first only its checksum, because that comes first. */
struct output {
	FILE *stream; /* NULL: count only */
	struct stored_checksum checksum;
};

static void put(struct output *output, const void *bytes, size_t size)
{
	if (output->stream)
		fwrite(bytes, 1, size, output->stream);
	else
		stored_checksum_add(&output->checksum, bytes, size);
}

static void encode(uint64_t value, unsigned size, uint8_t *bytes)
{
	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

static void put_number(struct output *output, uint64_t value, unsigned size)
{
	uint8_t bytes[8];

	encode(value, size, bytes);
	put(output, bytes, size);
}

/* A text of a fixed size, all bytes after its end zero. */
static void put_text(struct output *output, const char *text, size_t size)
{
	static const char zeros[512];
	size_t length = strnlen(text, size - 1);

	put(output, text, length);
	put(output, zeros, size - length);
}

static void put_labels(struct output *output, const struct hd_tree_labels *labels)
{
	uint32_t whole = labels && labels->whole ? STORED_LABELS_WHOLE : 0;

	put_number(output, labels ? labels->level_count | whole : 0, 4);
	if (!labels)
		return;
	put_number(output, labels->hosts, 4);
	put_number(output, labels->next_ordinal, 4);
	put_number(output, labels->count, 4);
	for (uint32_t level = 0; level < labels->level_count; level++) {
		put_number(output, labels->children[level], 4);
		put_number(output, labels->parents[level], 4);
		put_number(output, labels->parent_links[level], 4);
	}
	for (uint32_t i = 0; i < labels->count; i++) {
		const struct hd_tree_label *label = &labels->items[i];
		put_number(output, label->guid, 8);
		put_number(output, label->level, 4);
		put_number(output, label->first_leaf, 4);
		put_number(output, label->group, 4);
		put_number(output, label->ordinal, 4);
		put(output, label->up_port, HD_TREE_FANOUT);
		put(output, label->down_port, HD_TREE_FANOUT);
	}
}

static void put_names(struct output *output, const struct hd_stored_tables *set)
{
	const struct hd_routes *routes = set->routes;

	for (uint32_t row = 0; row < routes->switch_count; row++)
		put_number(output, set->switch_guid[row], 8);
	put(output, set->switch_ports, routes->switch_count);
	for (uint32_t column = 0; column < routes->lid_count; column++)
		put_number(output, set->owner[column], 8);
	for (uint32_t column = 0; column < routes->lid_count; column++)
		put_number(output, set->offset[column], 2);
	for (uint32_t row = 0; routes->rank && row < routes->switch_count; row++)
		put_number(output, routes->rank[row], 4);
}

static void put_rows(struct output *output, const struct hd_routes *routes, const uint8_t *rows)
{
	for (uint32_t row = 0; rows && row < routes->switch_count; row++)
		put(output, rows + (size_t)row * routes->stride, routes->lid_count);
}

static void put_maps(struct output *output, const struct hd_lane_maps *maps)
{
	if (!maps)
		return;
	put_number(output, maps->count, 4);
	put(output, maps->lanes, maps->count * sizeof(*maps->lanes));
	for (uint32_t row = 0; row < maps->switch_count; row++)
		put_number(output, maps->ports[row], 4);
	for (size_t i = 0; i < maps->base[maps->switch_count]; i++)
		put_number(output, maps->map[i], 2);
}

static void put_set(struct output *output, const struct hd_stored_tables *set)
{
	const struct hd_routes *routes = set->routes;
	unsigned flags =
	    (routes->sl ? STORED_HAS_LEVELS : 0u) | (routes->rank ? STORED_HAS_RANKS : 0u) |
	    (routes->labels ? STORED_HAS_LABELS : 0u) | (routes->maps ? STORED_HAS_MAPS : 0u);

	put_text(output, routes->engine, sizeof(routes->engine));
	put_text(output, routes->chosen, sizeof(routes->chosen));
	put_number(output, routes->chosen_for, 4);
	put_text(output, routes->options, sizeof(routes->options));
	put_number(output, set->policy, 8);
	put_number(output, routes->switch_count, 4);
	put_number(output, routes->lid_count, 4);
	put_number(output, flags, 4);
	put(output, routes->sl2vl, sizeof(routes->sl2vl));
	put_names(output, set);
	put_rows(output, routes, routes->lft);
	put_rows(output, routes, routes->sl);
	put_maps(output, routes->maps);
}

static const struct hd_tree_labels *labels_of(const struct hd_stored_state *state)
{
	const struct hd_tree_labels *labels = NULL;

	for (uint32_t i = 0; !labels && i < state->count; i++)
		labels = state->sets[i]->routes->labels;
	return labels;
}

static uint32_t version_of(const struct hd_stored_state *state)
{
	for (uint32_t i = 0; i < state->count; i++)
		if (state->sets[i]->routes->maps)
			return STORED_VERSION;
	return STORED_VERSION_PLAIN;
}

static void put_all(struct output *output, const struct hd_stored_state *state)
{
	put_text(output, state->text, sizeof(state->text));
	put_labels(output, labels_of(state));
	for (uint32_t i = 0; i < state->count; i++)
		put_set(output, state->sets[i]);
}

int hd_stored_state_write(const struct hd_stored_state *state, FILE *stream, struct hd_error *err)
{
	struct output count = {0}, output = {.stream = stream};
	uint8_t header[STORED_HEADER_BYTES] = STORED_MAGIC;

	put_all(&count, state);
	encode(version_of(state), 4, header + 8);
	encode(state->count, 4, header + 12);
	encode(count.checksum.length, 8, header + 16);
	encode(stored_checksum_end(&count.checksum), 8, header + 24);
	put(&output, header, sizeof(header));
	put_all(&output, state);
	return ferror(stream) ? hd_error_set(err, -EIO, "%s", strerror(errno)) : 0;
}

/* ---- reading ---- */

#define LEVELS_MAX 16u
#define PLACES_MAX (1u << 20) /* of one level of a tree */
#define LABEL_BYTES (24u + 2u * HD_TREE_FANOUT)
#define ROWS_MAX 0x20000u
#define MAPS_MAX 65536u
#define LANES 15u /* data lanes: VL 0 to 14 */

/* What is left to read. */
struct input {
	const uint8_t *at;
	size_t left;
	uint32_t version;
	bool cut; /* something was to be read beyond the end */
	struct hd_error *err;
};

/* The next `size` bytes, or NULL. */
static const uint8_t *take(struct input *input, size_t size)
{
	const uint8_t *bytes = input->at;

	if (input->cut || input->left < size) {
		input->cut = true;
		return NULL;
	}
	input->at += size;
	input->left -= size;
	return bytes;
}

static uint64_t take_number(struct input *input, unsigned size)
{
	const uint8_t *bytes = take(input, size);

	return bytes ? stored_number(bytes, size) : 0;
}

static void take_bytes(struct input *input, void *out, size_t size)
{
	const uint8_t *bytes = take(input, size);

	if (bytes && size)
		memcpy(out, bytes, size);
}

static void take_text(struct input *input, char *out, size_t size)
{
	take_bytes(input, out, size);
	out[size - 1] = '\0';
}

static int bad(struct input *input, const char *what)
{
	return hd_error_set(input->err, -EINVAL, "%s", input->cut ? "it is cut short" : what);
}

/* ---- labels ---- */

static void take_shape(struct input *input, struct hd_tree_labels *labels)
{
	for (uint32_t level = 0; level < labels->level_count; level++) {
		labels->children[level] = (uint32_t)take_number(input, 4);
		labels->parents[level] = (uint32_t)take_number(input, 4);
		labels->parent_links[level] = (uint32_t)take_number(input, 4);
	}
}

static void take_label(struct input *input, struct hd_tree_label *label)
{
	label->guid = take_number(input, 8);
	label->level = (uint32_t)take_number(input, 4);
	label->first_leaf = (uint32_t)take_number(input, 4);
	label->group = (uint32_t)take_number(input, 4);
	label->ordinal = (uint32_t)take_number(input, 4);
	take_bytes(input, label->up_port, HD_TREE_FANOUT);
	take_bytes(input, label->down_port, HD_TREE_FANOUT);
}

/* A tree whose labels are to be checked. */
struct tree_shape {
	uint64_t leaves[LEVELS_MAX], above[LEVELS_MAX]; /* as in struct hd_regular_tree */
	uint8_t *taken[LEVELS_MAX]; /* [block * above + group] a label has the place */
};

static bool measure_level(const struct hd_tree_labels *labels, uint32_t level,
			  struct tree_shape *shape)
{
	uint64_t links = labels->parent_links[level - 1];
	uint64_t children = labels->children[level], parents = labels->parents[level - 1];

	shape->leaves[level] = shape->leaves[level - 1] * children;
	shape->above[level] = shape->above[level - 1] * parents;
	return children && parents && links && children < HD_TREE_FANOUT &&
	       parents < HD_TREE_FANOUT && links < HD_TREE_FANOUT &&
	       children * links < HD_TREE_FANOUT && parents * links < HD_TREE_FANOUT &&
	       shape->leaves[level] <= PLACES_MAX && shape->above[level] <= PLACES_MAX;
}

static bool measure(const struct hd_tree_labels *labels, struct tree_shape *shape)
{
	uint32_t top = labels->level_count - 1;

	if (!labels->hosts || labels->hosts > HD_PORTS_MAX)
		return false;
	shape->leaves[0] = shape->above[0] = 1;
	for (uint32_t level = 1; level <= top; level++)
		if (!measure_level(labels, level, shape))
			return false;
	for (uint32_t level = 0; level <= top; level++)
		if (shape->leaves[top] / shape->leaves[level] * shape->above[level] > PLACES_MAX)
			return false;
	return true;
}

/* Whether a label names a place of the tree that no other label has, and follows the one before. */
static bool check_label(const struct hd_tree_labels *labels, uint32_t i, struct tree_shape *shape)
{
	const struct hd_tree_label *label = &labels->items[i];
	uint32_t level = label->level, top = labels->level_count - 1;

	if (level > top || label->first_leaf >= shape->leaves[top] ||
	    label->first_leaf % shape->leaves[level] || label->group >= shape->above[level] ||
	    label->ordinal >= labels->next_ordinal ||
	    (i && labels->items[i - 1].guid >= label->guid))
		return false;
	uint64_t block = label->first_leaf / shape->leaves[level];
	uint8_t *taken = &shape->taken[level][block * shape->above[level] + label->group];
	if (*taken)
		return false;
	*taken = 1;
	return true;
}

static int check_labels(struct input *input, const struct hd_tree_labels *labels)
{
	struct hd_arena arena = {0};
	struct tree_shape shape = {.leaves = {0}};
	uint32_t top = labels->level_count - 1;
	bool right = measure(labels, &shape);

	for (uint32_t level = 0; right && level <= top; level++)
		shape.taken[level] = hd_arena_alloc(
		    &arena, shape.leaves[top] / shape.leaves[level] * shape.above[level], 1);
	bool failed = hd_arena_check(&arena);
	for (uint32_t i = 0; right && !failed && i < labels->count; i++)
		right = check_label(labels, i, &shape);
	hd_arena_release(&arena);
	if (failed)
		return hd_error_no_memory(input->err);
	return right ? 0 : bad(input, "its labels of the tree contradict each other");
}

static int take_labels_into(struct input *input, struct hd_tree_labels *labels)
{
	labels->hosts = (uint32_t)take_number(input, 4);
	labels->next_ordinal = (uint32_t)take_number(input, 4);
	labels->count = (uint32_t)take_number(input, 4);
	if (labels->level_count > LEVELS_MAX || labels->next_ordinal > INT32_MAX ||
	    labels->count > input->left / LABEL_BYTES)
		return bad(input, "it has too many labels of the tree for its size");
	labels->children = hd_arena_alloc(&labels->arena, labels->level_count, sizeof(uint32_t));
	labels->parents = hd_arena_alloc(&labels->arena, labels->level_count, sizeof(uint32_t));
	labels->parent_links =
	    hd_arena_alloc(&labels->arena, labels->level_count, sizeof(uint32_t));
	labels->items = hd_arena_alloc(&labels->arena, labels->count, sizeof(*labels->items));
	if (hd_arena_check(&labels->arena))
		return hd_error_no_memory(input->err);
	take_shape(input, labels);
	for (uint32_t i = 0; i < labels->count; i++)
		take_label(input, &labels->items[i]);
	return input->cut ? bad(input, "") : check_labels(input, labels);
}

static int take_labels(struct input *input, struct hd_tree_labels **out)
{
	uint32_t levels = (uint32_t)take_number(input, 4);
	struct hd_tree_labels *labels;

	*out = NULL;
	if (!levels)
		return input->cut ? bad(input, "") : 0;
	if (levels == STORED_LABELS_WHOLE)
		return bad(input, "its labels of the tree contradict each other");
	labels = calloc(1, sizeof(*labels));
	if (!labels)
		return hd_error_no_memory(input->err);
	atomic_init(&labels->holders, 1);
	labels->level_count = levels & ~STORED_LABELS_WHOLE;
	labels->whole = levels & STORED_LABELS_WHOLE;
	int rc = take_labels_into(input, labels);
	if (rc)
		hd_tree_labels_release(labels);
	else
		*out = labels;
	return rc;
}

/* ---- sets ---- */

static void take_names(struct input *input, struct hd_stored_tables *set)
{
	const struct hd_routes *routes = set->routes;

	for (uint32_t row = 0; row < routes->switch_count; row++)
		set->switch_guid[row] = take_number(input, 8);
	take_bytes(input, set->switch_ports, routes->switch_count);
	for (uint32_t column = 0; column < routes->lid_count; column++)
		set->owner[column] = take_number(input, 8);
	for (uint32_t column = 0; column < routes->lid_count; column++)
		set->offset[column] = (uint16_t)take_number(input, 2);
	for (uint32_t row = 0; routes->rank && row < routes->switch_count; row++)
		routes->rank[row] = (uint32_t)take_number(input, 4);
}

static void take_rows(struct input *input, const struct hd_routes *routes, uint8_t *rows)
{
	for (uint32_t row = 0; rows && row < routes->switch_count; row++)
		take_bytes(input, rows + (size_t)row * routes->stride, routes->lid_count);
}

static bool check_names(const struct hd_stored_tables *set)
{
	for (uint32_t row = 0; row < set->routes->switch_count; row++)
		if (set->switch_ports[row] > HD_PORTS_MAX ||
		    (row && set->switch_guid[row - 1] >= set->switch_guid[row]))
			return false;
	return !set->owner[0] && !set->offset[0];
}

/* Columns that nobody uses have no entries. */
static bool check_entries(const struct hd_stored_tables *set)
{
	const struct hd_routes *routes = set->routes;

	for (uint32_t sw = 0; sw < routes->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(routes, sw);
		for (uint32_t column = 0; column < routes->lid_count; column++)
			if (row[column] != HD_NO_PORT &&
			    (row[column] > set->switch_ports[sw] || !set->owner[column]))
				return false;
	}
	return true;
}

static bool check_levels(const struct hd_routes *routes)
{
	uint8_t bits = 0;

	for (unsigned level = 0; level < sizeof(routes->sl2vl); level++)
		if (routes->sl2vl[level] >= LANES)
			return false;
	for (size_t i = 0; routes->sl && i < (size_t)routes->switch_count * routes->stride; i++)
		bits |= routes->sl[i];
	return bits < 16;
}

static bool allocate(struct hd_stored_tables *set, uint32_t rows, uint32_t columns, unsigned flags)
{
	const struct hd_fabric shape = {.switch_count = rows, .lid_count = columns};
	struct hd_routes *routes = set->routes = hd_routes_new(&shape);

	if (!routes)
		return false;
	set->switch_guid = calloc(rows + 1u, sizeof(*set->switch_guid));
	set->switch_ports = calloc(rows + 1u, sizeof(*set->switch_ports));
	set->owner = calloc(columns + 1u, sizeof(*set->owner));
	set->offset = calloc(columns + 1u, sizeof(*set->offset));
	if (flags & STORED_HAS_LEVELS)
		routes->sl = calloc(rows + 1u, routes->stride);
	if (flags & STORED_HAS_RANKS)
		routes->rank = calloc(rows + 1u, sizeof(*routes->rank));
	return set->switch_guid && set->switch_ports && set->owner && set->offset &&
	       !(flags & STORED_HAS_LEVELS) == !routes->sl &&
	       !(flags & STORED_HAS_RANKS) == !routes->rank;
}

static bool check_maps(const struct hd_lane_maps *maps)
{
	for (uint32_t i = 0; i < maps->count; i++)
		for (unsigned level = 0; level < HD_LANE_LEVELS; level++)
			if (maps->lanes[i][level] >= LANES)
				return false;
	for (size_t i = 0; i < maps->base[maps->switch_count]; i++)
		if (maps->map[i] >= maps->count)
			return false;
	return true;
}

/* Makes maps for rows with so many ports each. */
static int take_pairs(struct input *input, struct hd_routes *routes, const uint8_t *lanes,
		      uint32_t count, const uint32_t *ports)
{
	uint16_t number;

	routes->maps = hd_lane_maps_new_for(ports, routes->switch_count, lanes);
	if (!routes->maps)
		return hd_error_no_memory(input->err);
	for (uint32_t i = 1; i < count; i++) {
		if (hd_lane_maps_number(routes->maps, lanes + (size_t)i * HD_LANE_LEVELS, &number))
			return hd_error_no_memory(input->err);
		if (number != i)
			return bad(input, "it has the same map of virtual lanes twice");
	}
	for (size_t i = 0; i < routes->maps->base[routes->switch_count] && !input->cut; i++)
		routes->maps->map[i] = (uint16_t)take_number(input, 2);
	return input->cut || !check_maps(routes->maps)
		   ? bad(input, "its maps of virtual lanes are not possible")
		   : 0;
}

static int take_maps(struct input *input, struct hd_routes *routes)
{
	const uint32_t rows = routes->switch_count, count = (uint32_t)take_number(input, 4);

	if (input->cut || !count || count > MAPS_MAX || count > input->left / HD_LANE_LEVELS)
		return bad(input, "its maps of virtual lanes are not possible");
	uint8_t *lanes = malloc((size_t)count * HD_LANE_LEVELS);
	uint32_t *ports = calloc(rows + 1u, sizeof(*ports));
	uint64_t pairs = 0;
	int rc = lanes && ports ? 0 : hd_error_no_memory(input->err);

	if (!rc)
		take_bytes(input, lanes, (size_t)count * HD_LANE_LEVELS);
	for (uint32_t row = 0; !rc && row < rows; row++) {
		ports[row] = (uint32_t)take_number(input, 4);
		if (ports[row] > HD_PORTS_MAX + 1u)
			rc = bad(input, "its maps of virtual lanes are not possible");
		pairs += (uint64_t)ports[row] * ports[row];
	}
	if (!rc && pairs > input->left / 2)
		rc = bad(input, "its maps of virtual lanes are cut off");
	if (!rc)
		rc = take_pairs(input, routes, lanes, count, ports);
	free(lanes);
	free(ports);
	return rc;
}

static int take_tables(struct input *input, struct hd_stored_tables *set)
{
	struct hd_routes names = {0};
	struct hd_routes *routes;

	take_text(input, names.engine, sizeof(names.engine));
	take_text(input, names.chosen, sizeof(names.chosen));
	if (input->version >= 2)
		names.chosen_for = (uint32_t)take_number(input, 4);
	take_text(input, names.options, sizeof(names.options));
	set->policy = take_number(input, 8);
	uint32_t rows = (uint32_t)take_number(input, 4), columns = (uint32_t)take_number(input, 4);
	unsigned flags = (unsigned)take_number(input, 4);
	if (input->cut || !columns || columns > HD_STORED_COLUMNS_MAX || rows > ROWS_MAX ||
	    rows > input->left / columns)
		return bad(input, "its tables have sizes that are not possible");
	if (!allocate(set, rows, columns, flags))
		return hd_error_no_memory(input->err);
	routes = set->routes;
	memcpy(routes->engine, names.engine, sizeof(names.engine));
	memcpy(routes->chosen, names.chosen, sizeof(names.chosen));
	routes->chosen_for = names.chosen_for;
	memcpy(routes->options, names.options, sizeof(names.options));
	take_bytes(input, routes->sl2vl, sizeof(routes->sl2vl));
	take_names(input, set);
	take_rows(input, routes, routes->lft);
	take_rows(input, routes, routes->sl);
	if (input->cut || !check_names(set) || !check_entries(set) || !check_levels(routes))
		return bad(input, "its tables name switches, ports or service levels that are not "
				  "possible");
	if (flags & STORED_HAS_MAPS) {
		int rc = take_maps(input, routes);
		if (rc)
			return rc;
	}
	return (int)(flags & STORED_HAS_LABELS);
}

static int take_set(struct input *input, struct hd_tree_labels *labels,
		    struct hd_stored_state *state)
{
	struct hd_stored_tables *set = hd_stored_tables_new();
	int rc;

	if (!set)
		return hd_error_no_memory(input->err);
	rc = take_tables(input, set);
	if (rc < 0) {
		hd_stored_tables_free(set);
		return rc;
	}
	if (rc)
		set->routes->labels = hd_tree_labels_hold(labels);
	state->sets[state->count++] = set;
	return 0;
}

static int take_all(struct input *input, uint32_t count, struct hd_stored_state *state)
{
	struct hd_tree_labels *labels = NULL;
	int rc;

	take_text(input, state->text, sizeof(state->text));
	rc = take_labels(input, &labels);
	for (uint32_t i = 0; !rc && i < count; i++)
		rc = take_set(input, labels, state);
	hd_tree_labels_release(labels);
	return !rc && input->left ? bad(input, "it is longer than its tables") : rc;
}

static int check_sum(struct input *input, const uint8_t *header)
{
	struct stored_checksum checksum = {0};

	if (stored_number(header + 16, 8) != input->left)
		return hd_error_set(input->err, -EINVAL, "it is cut short, or bytes were added");
	stored_checksum_add(&checksum, input->at, input->left);
	if (stored_checksum_end(&checksum) != stored_number(header + 24, 8))
		return hd_error_set(input->err, -EINVAL, "it is damaged: its checksum is wrong");
	return 0;
}

static int take_header(struct input *input, uint32_t *count)
{
	const uint8_t *header = take(input, STORED_HEADER_BYTES);

	if (!header)
		return bad(input, "");
	if (memcmp(header, STORED_MAGIC, 8))
		return bad(input, "it is not a file of Heddle's tables");
	input->version = (uint32_t)stored_number(header + 8, 4);
	if (!input->version || input->version > STORED_VERSION)
		return hd_error_set(
		    input->err, -EINVAL,
		    "its format has version %u, and this Heddle reads versions 1 to %u",
		    input->version, STORED_VERSION);
	*count = (uint32_t)stored_number(header + 12, 4);
	if (!*count || *count > HD_STORED_SETS_MAX)
		return bad(input, "it has no tables, or too many");
	return check_sum(input, header);
}

int hd_stored_state_read(const void *bytes, size_t size, struct hd_stored_state *out,
			 struct hd_error *err)
{
	struct input input = {.at = bytes, .left = size, .err = err};
	struct hd_stored_state *state = calloc(1, sizeof(*state));
	uint32_t count = 0;
	int rc = state ? take_header(&input, &count) : hd_error_no_memory(err);

	if (!rc)
		rc = take_all(&input, count, state);
	if (!rc)
		*out = *state;
	else if (state)
		hd_stored_state_release(state);
	free(state);
	return rc;
}
