/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stored_format.h"

#include <errno.h>
#include <heddle/fabric/stored_tables.h>
#include <heddle/fabric/tree_labels.h>

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

static void put_set(struct output *output, const struct hd_stored_tables *set)
{
	const struct hd_routes *routes = set->routes;
	unsigned flags = (routes->sl ? STORED_HAS_LEVELS : 0u) |
			 (routes->rank ? STORED_HAS_RANKS : 0u) |
			 (routes->labels ? STORED_HAS_LABELS : 0u);

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
}

static const struct hd_tree_labels *labels_of(const struct hd_stored_state *state)
{
	const struct hd_tree_labels *labels = NULL;

	for (uint32_t i = 0; !labels && i < state->count; i++)
		labels = state->sets[i]->routes->labels;
	return labels;
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
	encode(STORED_VERSION, 4, header + 8);
	encode(state->count, 4, header + 12);
	encode(count.checksum.length, 8, header + 16);
	encode(stored_checksum_end(&count.checksum), 8, header + 24);
	put(&output, header, sizeof(header));
	put_all(&output, state);
	return ferror(stream) ? hd_error_set(err, -EIO, "%s", strerror(errno)) : 0;
}
