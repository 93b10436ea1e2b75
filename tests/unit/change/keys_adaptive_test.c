/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routing keys in force together with groups of adaptive routing: the proof beside a slow one, and the plan with static
 * entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_testing.h"

#include "cases.h"
#include "oracle_ar.h"

#include <heddle/ar_manager/pins.h>
#include <heddle/change/keys_proof.h>
#include <heddle/fabric/walk.h>

#define MOST 64

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *base, *routes; /* without keys, with those that were accepted */
	struct hd_ar_plan *plan; /* without keys */
	struct hd_keys_proof *proof;
	struct hd_ar_pins pins; /* room for MOST entries of each host */
	uint64_t random;
};

static struct hd_fabric *damaged(uint32_t lost, uint64_t seed)
{
	struct hd_fabric *whole = keys_fabric(1), *left = NULL;
	struct hd_error err = {""};

	if (hd_fabric_remove_links(whole, lost, seed, &left, &err))
		fail_msg("%s", err.text);
	hd_fabric_free(whole);
	return left;
}

static void begin(struct scene *scene, uint64_t seed, uint32_t lost, enum hd_ar_algorithm algorithm)
{
	struct hd_error err = {""};

	*scene = (struct scene){.fabric = damaged(lost, seed), .random = seed};
	scene->base = keys_route(lost ? "updown" : "dmodk", scene->fabric);
	scene->routes = hd_routes_copy(scene->base);
	const struct hd_ar_request request = {.fabric = scene->fabric,
					      .routes = scene->base,
					      .algorithm = algorithm,
					      .mode = HD_AR_BOUNDED,
					      .threads = 1 + (unsigned)(seed % 3)};
	if (hd_ar_plan_new(&request, &scene->plan, NULL, &err) ||
	    hd_keys_proof_new_adaptive(scene->fabric, scene->base, scene->plan, request.threads,
				       &scene->proof, &err))
		fail_msg("%s", err.text);
	scene->pins.list =
	    calloc((size_t)MOST * scene->fabric->host_count, sizeof(*scene->pins.list));
}

static void end(struct scene *scene)
{
	hd_keys_proof_free(scene->proof);
	hd_ar_pins_release(&scene->pins);
	hd_ar_plan_free(scene->plan);
	hd_routes_free(scene->routes);
	hd_routes_free(scene->base);
	hd_fabric_free(scene->fabric);
}

/* Without a key, or with it, all packets arrive as far as they did without. */
static bool arrives(const struct scene *scene, uint32_t lid)
{
	const struct hd_fabric *fabric = scene->fabric;
	uint32_t *path = calloc(fabric->switch_count + 1u, sizeof(*path)), count;
	bool all = true;

	for (uint32_t sw = 0; all && sw < fabric->switch_count; sw++)
		all =
		    hd_routes_walk(fabric, scene->base, sw, lid, path, &count) != HD_WALK_ARRIVED ||
		    hd_routes_walk(fabric, scene->routes, sw, lid, path, &count) == HD_WALK_ARRIVED;
	free(path);
	return all;
}

static bool has_cycle(const struct scene *scene)
{
	struct oracle_dependencies graph;
	const bool cycle = oracle_ar_cycle(scene->fabric, scene->routes, scene->base, scene->plan,
					   NULL, 0, &graph);

	oracle_dependencies_free(&graph);
	return cycle;
}

static void write_key(struct scene *scene, const struct hd_key_entry *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t sw = hd_fabric_find_node(scene->fabric, list[i].switch_guid);
		hd_routes_row(scene->routes, sw)[list[i].lid] = list[i].port;
		scene->pins.list[scene->pins.count++] =
		    (struct hd_ar_pin){.sw = sw, .lid = list[i].lid};
	}
}

static void take_back(struct scene *scene, uint16_t lid, uint32_t count)
{
	scene->pins.count -= count;
	for (uint32_t sw = 0; sw < scene->fabric->switch_count; sw++)
		hd_routes_row(scene->routes, sw)[lid] = hd_routes_port(scene->base, sw, lid);
}

struct verdicts {
	uint32_t accepted, lost, cycles, only_groups;
};

/* What the proof without groups says of the same tables. */
static bool accepted_without_groups(const struct scene *scene, uint16_t lid)
{
	struct hd_keys_proof *plain;
	struct hd_error err = {""};
	uint32_t lids = 0;
	uint16_t all[MOST];
	bool accepted;

	for (uint32_t host = 0; host < scene->fabric->host_count; host++)
		if (keys_lid(scene->fabric, host, 1) <= lid)
			all[lids++] = keys_lid(scene->fabric, host, 1);
	assert_int_equal(hd_keys_proof_new(scene->fabric, scene->base, 1, &plain, &err), 0);
	accepted = !hd_keys_proof_add(plain, scene->routes, all, lids, &err);
	hd_keys_proof_free(plain);
	return accepted;
}

static void compare(struct scene *scene, bool legal, struct verdicts *verdicts)
{
	struct hd_key_entry list[MOST];
	struct hd_error err = {""};

	for (uint32_t host = 0; host < scene->fabric->host_count; host++) {
		uint16_t lid = keys_lid(scene->fabric, host, 1);
		uint32_t count = !legal && host % 2
				     ? keys_valley(scene->fabric, lid, &scene->random, list)
				     : keys_random(scene->fabric, scene->base, lid,
						   legal ? MOST : 2, legal, &scene->random, list);
		write_key(scene, list, count);
		bool lost = !arrives(scene, lid), cycle = !lost && has_cycle(scene);
		int rc = hd_keys_proof_add(scene->proof, scene->routes, &lid, 1, &err);
		assert_int_equal(rc, lost ? -EINVAL : cycle ? -ELOOP : 0);
		verdicts->accepted += !rc;
		verdicts->lost += lost;
		verdicts->cycles += cycle;
		verdicts->only_groups += cycle && accepted_without_groups(scene, lid);
		if (rc)
			take_back(scene, lid, count);
	}
}

/* Entries elsewhere have the groups of the plan without keys, those of keys are static, with the key's port. */
static void check_pinned(struct scene *scene)
{
	struct hd_ar_plan *pinned = NULL;
	struct hd_error err = {""};
	uint64_t lost = 0;

	hd_ar_pins_sort(&scene->pins);
	assert_int_equal(hd_ar_plan_pinned(scene->plan, scene->fabric, scene->routes, &scene->pins,
					   &pinned, &err),
			 0);
	for (uint32_t sw = 0; sw < scene->fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < scene->fabric->lid_count; lid++) {
			const bool pin = hd_ar_pins_has(&scene->pins, sw, lid);
			const uint32_t before = hd_ar_plan_group(scene->plan, sw, 0, lid);
			assert_int_equal(hd_ar_plan_group(pinned, sw, 0, lid),
					 pin ? HD_AR_NO_GROUP : before);
			assert_int_equal(pinned->switches[sw].lid_port[0][lid],
					 hd_routes_port(scene->routes, sw, lid));
			lost += pin && before != HD_AR_NO_GROUP;
		}
	assert_int_equal(pinned->adaptive, scene->plan->adaptive - lost);
	const struct hd_ar_proof_request request = {
	    .fabric = scene->fabric, .routes = scene->routes, .plan = pinned};
	if (hd_ar_prove(&request, NULL, NULL, &err))
		fail_msg("%s", err.text);
	assert_ptr_equal(hd_ar_plan_unpinned(pinned), scene->pins.count ? scene->plan : pinned);
	hd_ar_plan_free(pinned);
}

/* Property: the proof says the same as walks and a slow graph of all entries before and after and all groups; and the
 * plan with the keys it accepts is proved by itself. */
static void verdicts_are_those_of_a_slow_proof(void **state)
{
	struct verdicts verdicts = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= CASES(12, 4); seed++) {
		struct scene scene;
		begin(&scene, seed, seed % 3 ? 0 : 4, HD_AR_TREE);
		compare(&scene, false, &verdicts);
		check_pinned(&scene);
		end(&scene);
	}
	print_message("%u accepted, %u lost, %u cycles, of these %u only with groups\n",
		      verdicts.accepted, verdicts.lost, verdicts.cycles, verdicts.only_groups);
	assert_true(verdicts.accepted > CASES(20, 5) && verdicts.lost > CASES(20, 5) &&
		    verdicts.cycles > CASES(20, 5));
	assert_true(verdicts.only_groups > 0);
}

/* Property: keys whose paths climb, then descend, are never refused in a fat tree, whatever the groups. */
static void climbs_are_always_accepted(void **state)
{
	struct verdicts verdicts = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct scene scene;
		begin(&scene, seed, 0, HD_AR_TREE);
		compare(&scene, true, &verdicts);
		check_pinned(&scene);
		assert_true(scene.pins.count > 100);
		end(&scene);
	}
	assert_int_equal(verdicts.lost + verdicts.cycles, 0);
	assert_int_equal(verdicts.accepted, 3 * 27);
}

/* Entries by which packets for a LID go down from a switch above a leaf, and up from there to another, which has its
 * own entry. */
static void write_valley(struct scene *scene, uint16_t lid, bool first)
{
	const struct hd_fabric *fabric = scene->fabric;
	uint32_t destination, leaf = fabric->host_switch[0];
	uint8_t port;

	assert_true(hd_fabric_lid_destination(fabric, lid, &destination, &port));
	for (uint32_t host = 0; leaf == destination; host++)
		leaf = fabric->host_switch[host];
	/* not the link that packets take without a key */
	uint32_t links[2] = {0}, count = 0;
	for (uint32_t link = fabric->isl_base[leaf]; link < fabric->isl_base[leaf + 1]; link++)
		if (fabric->isl_port[link] != hd_routes_port(scene->base, leaf, lid) && count < 2)
			links[count++] = link;
	assert_int_equal(count, 2);
	const uint32_t one = links[0], other = links[1];
	const uint32_t from = first ? one : other, to = first ? other : one;
	hd_routes_row(scene->routes, fabric->isl_to[from])[lid] =
	    fabric->isl_port[fabric->isl_reverse[from]];
	hd_routes_row(scene->routes, leaf)[lid] = fabric->isl_port[to];
}

/* Property: a key that takes the place of another is proved with mixtures of both, switch by switch. Here each of the two
 * is sound: packets go from one switch above a leaf over the leaf to the other one, and by the second key the reverse.
 * While some switches have the one and some the other, they go in a circle. */
static void a_change_covers_mixtures(void **state)
{
	struct scene scene;
	struct hd_error err = {""};

	(void)state;
	begin(&scene, 1, 0, HD_AR_LAG);
	const uint16_t lid = keys_lid(scene.fabric, scene.fabric->host_count - 1, 1);
	write_valley(&scene, lid, true);
	assert_true(arrives(&scene, lid));
	assert_int_equal(hd_keys_proof_add(scene.proof, scene.routes, &lid, 1, &err), 0);
	struct hd_routes *before = hd_routes_copy(scene.routes);
	take_back(&scene, lid, 0);
	write_valley(&scene, lid, false);
	assert_true(arrives(&scene, lid));
	assert_int_equal(hd_keys_proof_change(scene.proof, before, scene.routes, &lid, 1, &err),
			 -ELOOP);
	assert_non_null(strstr(err.text, "with adaptive routing"));
	hd_keys_proof_free(scene.proof);
	assert_int_equal(
	    hd_keys_proof_new_adaptive(scene.fabric, scene.base, scene.plan, 1, &scene.proof, &err),
	    0);
	assert_int_equal(hd_keys_proof_add(scene.proof, scene.routes, &lid, 1, &err), 0);
	hd_routes_free(before);
	end(&scene);
}

/* Property: pins change as sets do. */
static void pins_change_as_sets_do(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (unsigned trial = 0; trial < 300; trial++) {
		bool has[3][8][8] = {{{false}}};
		struct hd_ar_pins sets[3], made = {0};
		for (unsigned set = 0; set < 3; set++) {
			sets[set] =
			    (struct hd_ar_pins){.list = calloc(64, sizeof(struct hd_ar_pin))};
			for (uint32_t i = (uint32_t)hd_random_below(&random, 40); i; i--) {
				struct hd_ar_pin pin = {(uint32_t)hd_random_below(&random, 8),
							(uint16_t)hd_random_below(&random, 8)};
				has[set][pin.sw][pin.lid] = true;
				sets[set].list[sets[set].count++] = pin;
			}
			hd_ar_pins_sort(&sets[set]);
		}
		assert_int_equal(hd_ar_pins_change(&sets[0], &sets[1], &sets[2], &made), 0);
		for (uint32_t sw = 0; sw < 8; sw++)
			for (uint32_t lid = 0; lid < 8; lid++)
				assert_int_equal(hd_ar_pins_has(&made, sw, lid),
						 has[2][sw][lid] ||
						     (has[0][sw][lid] && !has[1][sw][lid]));
		for (uint32_t i = 1; i < made.count; i++)
			assert_true(made.list[i - 1].sw < made.list[i].sw ||
				    made.list[i - 1].lid < made.list[i].lid);
		hd_ar_pins_release(&made);
		for (unsigned set = 0; set < 3; set++)
			hd_ar_pins_release(&sets[set]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_are_those_of_a_slow_proof),
					   cmocka_unit_test(climbs_are_always_accepted),
					   cmocka_unit_test(a_change_covers_mixtures),
					   cmocka_unit_test(pins_change_as_sets_do)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
