/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that outlast their fabric, in memory and in a file, against searches by GUID. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stored_format.h"
#include "stored_testing.h"
#include "variants.h"

#define ROUNDS 60u
#define EVENTS 6u

/* What was stored for a switch and a LID of a port: the slow way. */
struct note {
	uint64_t guid, owner;
	uint32_t offset;
	uint8_t port;
};

struct notes {
	struct note *items;
	size_t count;
};

static uint64_t owner_of(const struct hd_fabric *fabric, uint32_t lid, uint32_t *offset)
{
	uint32_t port = fabric->lid_owner[lid];

	*offset = lid - fabric->lid[port];
	return fabric->port_guid[port] ? fabric->port_guid[port]
				       : fabric->node_guid[fabric->port_node[port]];
}

static struct note *find_note(const struct notes *notes, const struct hd_fabric *fabric,
			      uint32_t sw, uint32_t lid)
{
	uint32_t offset;
	uint64_t owner = owner_of(fabric, lid, &offset);

	for (size_t i = 0; i < notes->count; i++)
		if (notes->items[i].guid == fabric->node_guid[sw] &&
		    notes->items[i].owner == owner && notes->items[i].offset == offset)
			return &notes->items[i];
	return NULL;
}

static void take_notes(struct notes *notes, const struct hd_fabric *fabric,
		       const struct hd_routes *routes)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
			uint8_t port = hd_routes_port(routes, sw, lid);
			if (fabric->lid_owner[lid] == HD_NONE || port == HD_NO_PORT ||
			    find_note(notes, fabric, sw, lid))
				continue;
			struct note note = {.guid = fabric->node_guid[sw], .port = port};
			note.owner = owner_of(fabric, lid, &note.offset);
			notes->items = realloc(notes->items, (notes->count + 1) * sizeof(note));
			assert_non_null(notes->items);
			notes->items[notes->count++] = note;
		}
}

static void assert_noted(const struct notes *notes, const struct hd_fabric *fabric,
			 const struct hd_routes *routes)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
			const struct note *note = fabric->lid_owner[lid] == HD_NONE
						      ? NULL
						      : find_note(notes, fabric, sw, lid);
			assert_int_equal(hd_routes_port(routes, sw, lid),
					 note ? note->port : HD_NO_PORT);
		}
}

/* One more fabric; every other time hosts have other LIDs. */
static void add_variant(struct hd_stored_tables *stored, struct notes *notes,
			const struct hd_fabric *whole, uint64_t seed)
{
	struct hd_fabric *damaged, *fabric = NULL;
	bool grown;

	assert_int_equal(variants_damaged(whole, 15, seed, &damaged, NULL), 0);
	if (seed % 2)
		assert_int_equal(
		    hd_fabric_assign_lids(damaged, (unsigned)(seed % 3), &fabric, NULL), 0);
	struct hd_fabric *used = fabric ? fabric : damaged;
	struct hd_routes *routes = random_tables(used, seed), *got;
	size_t before = notes->count;
	take_notes(notes, used, routes);
	assert_int_equal(hd_stored_tables_add(stored, used, routes, &grown, NULL), 0);
	assert_true(grown || notes->count == before);
	assert_int_equal(hd_stored_tables_get(stored, used, &got, NULL), 0);
	assert_noted(notes, used, got);
	if (hd_stored_tables_fit(stored, used))
		assert_int_equal(hd_routes_count_changes(got, stored->routes), 0);
	assert_int_equal(hd_stored_tables_known(stored, used), used->switch_count);
	assert_int_equal(hd_stored_tables_add(stored, used, routes, &grown, NULL), 0);
	assert_false(grown);
	hd_routes_free(routes);
	hd_routes_free(got);
	hd_fabric_free(fabric);
	hd_fabric_free(damaged);
}

/* Property: what is missing is added, nothing else changes, and tables of any fabric are found by
 * GUID, whatever LIDs the ports have. */
static void adding(void **state)
{
	struct hd_fabric *whole = generate("xgft", "children=3,3 parents=1,2");

	(void)state;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct hd_stored_tables *stored = hd_stored_tables_new();
		struct notes notes = {NULL, 0};
		assert_non_null(stored);
		for (uint64_t event = 0; event < EVENTS; event++)
			add_variant(stored, &notes, whole, round * EVENTS + event + 1);
		hd_stored_tables_free(stored);
		free(notes.items);
	}
	hd_fabric_free(whole);
}

/* ---- files ---- */

static void assert_same_labels(const struct hd_tree_labels *a, const struct hd_tree_labels *b)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->level_count, b->level_count);
	assert_int_equal(a->hosts, b->hosts);
	assert_int_equal(a->next_ordinal, b->next_ordinal);
	assert_int_equal(a->whole, b->whole);
	assert_int_equal(a->count, b->count);
	assert_memory_equal(a->children, b->children, a->level_count * sizeof(uint32_t));
	assert_memory_equal(a->parents, b->parents, a->level_count * sizeof(uint32_t));
	assert_memory_equal(a->parent_links, b->parent_links, a->level_count * sizeof(uint32_t));
	assert_memory_equal(a->items, b->items, a->count * sizeof(*a->items));
}

static void assert_same_set(const struct hd_stored_tables *a, const struct hd_stored_tables *b)
{
	uint32_t rows = a->routes->switch_count, columns = a->routes->lid_count;

	assert_true(hd_routes_equal(a->routes, b->routes));
	assert_string_equal(a->routes->engine, b->routes->engine);
	assert_string_equal(a->routes->chosen, b->routes->chosen);
	assert_int_equal(a->routes->chosen_for, b->routes->chosen_for);
	assert_string_equal(a->routes->options, b->routes->options);
	assert_int_equal(a->policy, b->policy);
	assert_memory_equal(a->switch_guid, b->switch_guid, rows * sizeof(uint64_t));
	assert_memory_equal(a->switch_ports, b->switch_ports, rows);
	assert_memory_equal(a->owner, b->owner, columns * sizeof(uint64_t));
	assert_memory_equal(a->offset, b->offset, columns * sizeof(uint16_t));
	assert_int_equal(!a->routes->rank, !b->routes->rank);
	if (a->routes->rank)
		assert_memory_equal(a->routes->rank, b->routes->rank, rows * sizeof(uint32_t));
	assert_same_labels(a->routes->labels, b->routes->labels);
}

/* Property: what is read is what was written. */
static void round_trip(void **state)
{
	(void)state;
	for (unsigned sample = 0; sample < STORED_SAMPLES; sample++) {
		struct hd_stored_state written, back;
		size_t size;
		stored_sample(sample, &written);
		char *bytes = stored_bytes(&written, &size);
		assert_int_equal(hd_stored_state_read(bytes, size, &back, NULL), 0);
		assert_string_equal(written.text, back.text);
		assert_int_equal(written.count, back.count);
		for (uint32_t i = 0; i < back.count; i++)
			assert_same_set(written.sets[i], back.sets[i]);
		hd_stored_state_release(&written);
		hd_stored_state_release(&back);
		free(bytes);
	}
}

static void assert_unread(const char *bytes, size_t size, const char *reason)
{
	struct hd_stored_state state;
	struct hd_error err = {""};

	assert_int_equal(hd_stored_state_read(bytes, size, &state, &err), -EINVAL);
	if (!strstr(err.text, reason))
		fail_msg("'%s' instead of '%s'", err.text, reason);
}

static void put(char *bytes, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		bytes[i] = (char)(value >> 8 * i);
}

/* Makes a file of version 1, which has no number of links. Returns its size. */
static size_t downgrade(char *bytes, size_t size)
{
	static const char number[] = {0x78, 0x56, 0x34, 0x12};
	struct stored_checksum checksum = {0};

	for (size_t i = STORED_HEADER_BYTES; i + sizeof(number) <= size; i++)
		if (!memcmp(bytes + i, number, sizeof(number))) {
			memmove(bytes + i, bytes + i + sizeof(number), size - i - sizeof(number));
			size -= sizeof(number);
		}
	stored_checksum_add(&checksum, (const uint8_t *)bytes + STORED_HEADER_BYTES,
			    size - STORED_HEADER_BYTES);
	put(bytes + 8, 1, 4);
	put(bytes + 16, size - STORED_HEADER_BYTES, 8);
	put(bytes + 24, stored_checksum_end(&checksum), 8);
	return size;
}

/* Property: a file that Heddle 0.2.0 has written is read. */
static void files_of_version_1(void **state)
{
	(void)state;
	for (unsigned number = 0; number < STORED_SAMPLES; number++) {
		struct hd_stored_state written, read;
		struct hd_error err = {""};
		size_t size;
		stored_sample(number, &written);
		char *bytes = stored_bytes(&written, &size);
		size_t less = downgrade(bytes, size);
		assert_int_equal(size - less, 4 * written.count);
		if (hd_stored_state_read(bytes, less, &read, &err))
			fail_msg("%s", err.text);
		for (uint32_t i = 0; i < written.count; i++) {
			assert_int_equal(read.sets[i]->routes->chosen_for, 0);
			written.sets[i]->routes->chosen_for = 0;
			assert_same_set(written.sets[i], read.sets[i]);
		}
		hd_stored_state_release(&written);
		hd_stored_state_release(&read);
		free(bytes);
	}
}

/* Property: no file that is cut anywhere or has another byte anywhere is accepted. */
static void damaged_files(void **state)
{
	struct hd_stored_state written;
	size_t size;

	(void)state;
	stored_sample(0, &written);
	char *bytes = stored_bytes(&written, &size);
	for (size_t length = 0; length < size; length++)
		assert_unread(bytes, length, "cut short");
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 0x10;
		assert_unread(bytes, size,
			      i < 8    ? "not a file of Heddle's tables"
			      : i < 12 ? "format has version"
			      : i < 16 ? ""
			      : i < 24 ? "cut short, or bytes were added"
				       : "checksum");
		bytes[i] ^= 0x10;
	}
	hd_stored_state_release(&written);
	free(bytes);
}

/* One value that no program writes, and the reason for which it is refused. */
static void assert_impossible(void (*spoil)(struct hd_stored_state *state), const char *reason)
{
	struct hd_stored_state written;
	size_t size;

	stored_sample(0, &written);
	spoil(&written);
	char *bytes = stored_bytes(&written, &size);
	assert_unread(bytes, size, reason);
	hd_stored_state_release(&written);
	free(bytes);
}

static void spoil_port(struct hd_stored_state *state)
{
	state->sets[0]->routes->lft[1] = (uint8_t)(state->sets[0]->switch_ports[0] + 1);
}

static void spoil_ports(struct hd_stored_state *state)
{
	state->sets[0]->switch_ports[1] = 255;
}

static void spoil_order(struct hd_stored_state *state)
{
	state->sets[0]->switch_guid[1] = state->sets[0]->switch_guid[0];
}

static void spoil_owner(struct hd_stored_state *state)
{
	state->sets[0]->owner[1] = 0;
}

static void spoil_lane(struct hd_stored_state *state)
{
	state->sets[0]->routes->sl2vl[3] = 15;
}

static void spoil_group(struct hd_stored_state *state)
{
	state->sets[0]->routes->labels->items[0].group = 1000;
}

static void spoil_place(struct hd_stored_state *state)
{
	struct hd_tree_labels *labels = state->sets[0]->routes->labels;

	labels->items[1].level = labels->items[0].level;
	labels->items[1].group = labels->items[0].group;
	labels->items[1].first_leaf = labels->items[0].first_leaf;
}

static void spoil_children(struct hd_stored_state *state)
{
	state->sets[0]->routes->labels->children[1] = 0;
}

static void spoil_hosts(struct hd_stored_state *state)
{
	state->sets[0]->routes->labels->hosts = 255;
}

static void spoil_ordinal(struct hd_stored_state *state)
{
	state->sets[0]->routes->labels->items[0].ordinal =
	    state->sets[0]->routes->labels->next_ordinal;
}

static void spoil_levels(struct hd_stored_state *state)
{
	state->sets[0]->routes->labels->level_count = 0;
	state->sets[0]->routes->labels->whole = true;
}

/* Property: values that contradict each other are refused although the checksum is right. */
static void impossible_values(void **state)
{
	(void)state;
	assert_impossible(spoil_port, "not possible");
	assert_impossible(spoil_ports, "not possible");
	assert_impossible(spoil_order, "not possible");
	assert_impossible(spoil_owner, "not possible");
	assert_impossible(spoil_lane, "not possible");
	assert_impossible(spoil_group, "contradict");
	assert_impossible(spoil_place, "contradict");
	assert_impossible(spoil_children, "contradict");
	assert_impossible(spoil_hosts, "contradict");
	assert_impossible(spoil_ordinal, "contradict");
	assert_impossible(spoil_levels, "contradict");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(adding),
	    cmocka_unit_test(round_trip),
	    cmocka_unit_test(files_of_version_1),
	    cmocka_unit_test(damaged_files),
	    cmocka_unit_test(impossible_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
