/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routing keys in a repair, with each allocation failing in turn: a reason, and all is as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_repair.h"
#include "keys_testing.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "repair_adopt.h"
#include "routing.h"
#include "routing_testing.h"
#include "short_memory.h"

#include <heddle/change/repair.h>

#define ENTRIES 8

static unsigned signals; /* sweeps that were asked for */

void osm_sm_signal(osm_sm_t *sm, osm_signal_t signal)
{
	(void)sm;
	(void)signal;
	signals++;
}

volatile unsigned int osm_exit_flag;

/* Nothing is in flight here. */
osm_switch_t *osm_get_switch_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	(void)subn;
	(void)guid;
	return NULL;
}

/* ---- other keys since the sweep ---- */

struct adopting {
	struct routing *swept, *published; /* the second has other tables: those with keys */
	struct routing *held; /* by the thread */
	struct hd_routes *in_place;
	struct hd_repair_base *base;
};

static void hold_swept(struct adopting *adopting)
{
	struct hd_error err;

	adopting->held = routing_hold(adopting->swept);
	adopting->in_place = hd_routes_copy(adopting->swept->routes);
	assert_int_equal(hd_repair_base_new(adopting->swept->fabric, adopting->in_place, 1, NULL,
					    &adopting->base, &err),
			 0);
}

static void let_go(struct adopting *adopting)
{
	routing_release(adopting->held);
	hd_routes_free(adopting->in_place);
	hd_repair_base_free(adopting->base);
}

static int adopt(void *context, struct hd_error *err)
{
	struct adopting *adopting = context;

	return repair_adopt(routing_hold(adopting->published), &adopting->held, &adopting->in_place,
			    &adopting->base, 1, NULL, err);
}

static void settle_adopt(void *context, int rc)
{
	struct adopting *adopting = context;
	const struct routing *expected = rc ? adopting->swept : adopting->published;

	assert_ptr_equal(adopting->held, expected);
	assert_int_equal(atomic_load(&adopting->published->holders), rc ? 1 : 2);
	assert_int_equal(hd_routes_count_changes(adopting->in_place, expected->routes), 0);
	let_go(adopting);
	hold_swept(adopting);
}

static struct hd_routes *route_from(const struct hd_fabric *fabric, uint32_t root)
{
	const uint64_t guid = fabric->node_guid[root];
	const struct hd_policy policy = {.root_guids = &guid, .root_count = 1};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	if (hd_engine_route(hd_engine_find("updown"),
			    &(struct hd_route_request){.fabric = fabric, .policy = &policy},
			    &routes, &err))
		fail_msg("%s", err.text);
	return routes;
}

/* Property: the thread takes other tables, and what it knows of them, or keeps what it had. The old and the
 * new ones fit, or close a credit loop together, so that all is made again. */
static void other_tables(void **state)
{
	unsigned loops = 0;

	(void)state;
	for (uint32_t root = 0; root < 16; root += 5) {
		struct hd_fabric *fabric = generate("torus", "dims=4,4");
		struct adopting adopting = {.swept = routing_of(fabric, route_from(fabric, 0))};
		const struct short_memory_case tried = {"other keys", &adopting, adopt,
							settle_adopt, 0};
		struct hd_error err;
		adopting.published = routing_with_keys(adopting.swept, route_from(fabric, root));
		hold_swept(&adopting);
		loops += hd_repair_base_take(adopting.base, adopting.in_place,
					     adopting.published->routes, NULL, &err) == -ELOOP;
		let_go(&adopting);
		hold_swept(&adopting);
		assert_true(short_memory_try(&tried) > 1);
		let_go(&adopting);
		routing_release(adopting.published);
		assert_int_equal(atomic_load(&adopting.swept->holders), 1);
		routing_release(adopting.swept);
	}
	assert_true(loops > 0 && loops < 4);
}

/* ---- keys that cross what was lost ---- */

struct applying {
	struct osm_opensm osm;
	struct part_context context;
	struct writer writer;
	struct keys_shared shared;
	struct keys_set *set; /* one key stays sound, the other one does not */
	struct routing *swept, *made;
	struct hd_fabric *damaged;
	struct hd_routes *repaired;
	struct repair_change change;
	struct keys_repair keys;
	unsigned broken; /* keys that the repair has named */
};

static void set_keys(struct applying *applying)
{
	keys_set_release(applying->shared.set);
	applying->shared.set = keys_set_hold(applying->set);
}

static void note_broken(struct repair_change *change, uint64_t key, const char *reason)
{
	struct applying *applying =
	    (struct applying *)((char *)change - offsetof(struct applying, change));

	assert_int_equal(key, 2);
	assert_string_not_equal(reason, "");
	applying->broken++;
}

static int apply(void *context, struct hd_error *err)
{
	struct applying *applying = context;
	int rc = keys_repair_begin(&applying->keys, &applying->shared, err);

	assert_int_equal(rc, 0);
	applying->broken = 0;
	applying->change = (struct repair_change){.turn = applying->writer.turn,
						  .threads = 1,
						  .damaged = applying->damaged,
						  .repaired = applying->repaired,
						  .note_broken = note_broken};
	return keys_repair_apply(&applying->keys, &applying->shared, &applying->change, err);
}

/* The routing that a repair would make. */
static struct routing *made_by(struct applying *applying)
{
	struct hd_fabric *damaged = NULL;
	struct hd_error err;

	assert_int_equal(hd_fabric_without(applying->damaged, NULL, 0, HD_NONE, &damaged, &err), 0);
	struct routing *made = routing_of(damaged, hd_routes_copy(applying->repaired));
	routing_take_keys(made, applying->change.keyed);
	routing_take_pins(made, &applying->change.pins);
	return made;
}

static void settle_apply(void *context, int rc)
{
	struct applying *applying = context;
	struct repair_change *change = &applying->change;
	struct keys_news news;

	if (rc) {
		keys_repair_end(&applying->keys, &applying->shared, change);
		assert_ptr_equal(applying->shared.set, applying->set);
		assert_null(change->keyed);
	} else {
		assert_non_null(change->strict);
		struct routing *made = change->routing = made_by(applying);
		keys_repair_land(&applying->keys, &applying->shared, change);
		change->sent = change->published = true;
		keys_repair_end(&applying->keys, &applying->shared, change);
		routing_release(made);
		assert_int_equal(applying->shared.set->count, 1);
		assert_int_equal(applying->shared.lost.count, 1);
		assert_int_equal(applying->broken, 1);
	}
	keys_shared_take_news(&applying->shared, &news);
	assert_int_equal(news.any, !rc);
	assert_int_equal(news.broken.count, !rc);
	keys_news_release(&news);
	keys_shared_note_done(&applying->shared, 2, true);
	assert_true(keys_shared_turn(&applying->shared) != 0); /* SETs may come again */
	assert_int_equal(signals, 0);
	set_keys(applying);
}

static struct keys_set *add_key(struct keys_set *set, uint64_t id, const struct hd_key_entry *list,
				uint32_t count)
{
	struct keys_key *key = keys_key_new(
	    id, &(struct hd_key_overlay){.count = count, .entries = (struct hd_key_entry *)list});
	struct keys_set *larger = keys_set_with(set, id, key);

	keys_key_release(key);
	keys_set_release(set);
	return larger;
}

/* The cable by which an entry leads. */
static struct hd_fabric_change cable_of(const struct hd_fabric *fabric,
					const struct hd_key_entry *entry)
{
	uint32_t sw = hd_fabric_find_node(fabric, entry->switch_guid);

	return (struct hd_fabric_change){
	    .lost = true, .cable = true, .index = hd_port_index(fabric, sw, entry->port)};
}

static void begin_applying(struct applying *applying)
{
	struct hd_fabric *fabric = keys_fabric(1);
	struct hd_routes *routes = keys_route("dmodk", fabric);
	struct hd_key_entry entries[2][ENTRIES];
	struct keys_news news = {.any = true};
	uint64_t random = 5;
	struct hd_error err;

	applying->set = keys_set_new();
	for (uint32_t id = 1; id <= 2; id++) {
		uint32_t count = 0;
		while (!count)
			count = keys_random(fabric, routes, keys_lid(fabric, 13 * (id - 1), 1),
					    ENTRIES, true, &random, entries[id - 1]);
		applying->set = add_key(applying->set, id, entries[id - 1], count);
	}
	const struct hd_fabric_change loss = cable_of(fabric, &entries[1][0]);
	assert_int_equal(hd_fabric_without(fabric, &loss, 1, HD_NONE, &applying->damaged, &err), 0);
	applying->repaired = keys_route("dmodk", applying->damaged);
	applying->swept = routing_of(fabric, routes);
	applying->context =
	    (struct part_context){.osm = &applying->osm, .writer = &applying->writer};
	writer_init(&applying->writer, &applying->osm);
	assert_int_equal(keys_shared_init(&applying->shared, &applying->context, &err), 0);
	keys_shared_give(&applying->shared, &news);
	writer_give_turn(&applying->writer);
	keys_shared_take_news(&applying->shared, &news);
	keys_news_release(&news);
	set_keys(applying);
}

static void end_applying(struct applying *applying)
{
	keys_shared_release(&applying->shared);
	writer_release(&applying->writer);
	keys_set_release(applying->set);
	hd_routes_free(applying->repaired);
	hd_fabric_free(applying->damaged);
	routing_release(applying->swept);
}

/* Property: a repair that ends half done lets no SET begin, and asks for a sweep; a SET that ends like that lets no
 * repair begin. The sweep puts both right. */
static void what_is_not_known(void **state)
{
	static struct applying applying;
	struct keys_news news = {.any = true};
	struct hd_error err;

	(void)state;
	begin_applying(&applying);
	assert_int_equal(apply(&applying, &err), 0);
	hd_routes_free(applying.change.keyed);
	hd_ar_pins_release(&applying.change.pins);
	applying.change.sent = true;
	keys_repair_end(&applying.keys, &applying.shared, &applying.change);
	assert_int_equal(signals, 1);
	assert_int_equal(keys_shared_turn(&applying.shared), 0);
	keys_shared_note_unsure(&applying.shared, applying.writer.turn + 1,
				&applying.shared.unsure_of_set);
	assert_int_equal(keys_repair_begin(&applying.keys, &applying.shared, &err), 0);
	keys_shared_note_unsure(&applying.shared, applying.writer.turn,
				&applying.shared.unsure_of_set);
	assert_int_equal(keys_repair_begin(&applying.keys, &applying.shared, &err), -EAGAIN);
	keys_shared_give(&applying.shared, &news);
	assert_int_equal(keys_repair_begin(&applying.keys, &applying.shared, &err), 0);
	keys_shared_take_news(&applying.shared, &news);
	keys_news_release(&news);
	assert_true(keys_shared_turn(&applying.shared) != 0);
	signals = 0;
	end_applying(&applying);
}

/* Property: the keys that cross what was lost are out of force, and the other one stays, or all are as
 * before; in both cases keyd may ask again. */
static void keys_of_a_lost_cable(void **state)
{
	static struct applying applying;
	const struct short_memory_case tried = {"keys", &applying, apply, settle_apply, 0};

	(void)state;
	begin_applying(&applying);
	assert_true(short_memory_try(&tried) > 5);
	end_applying(&applying);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(other_tables),
	    cmocka_unit_test(keys_of_a_lost_cable),
	    cmocka_unit_test(what_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
