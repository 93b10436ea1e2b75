/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every mixture on the way from one key to another, beside slow walks and a slow graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_testing.h"
#include "slow_waits_testing.h"

#include <heddle/change/keys_order.h>
#include <heddle/fabric/walk.h>

#define MOST 6 /* entries of a key for one LID */
#define MIXTURES 64 /* that are looked at in each step */

/* ---- mixtures: of a step, any part of its blocks is written ---- */

static void write_block(struct hd_routes *routes, const struct hd_repair_write *write)
{
	memcpy(hd_routes_row(routes, write->sw) + (size_t)write->block * HD_LFT_BLOCK, write->ports,
	       HD_LFT_BLOCK);
}

static bool arrives(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t lid,
		    uint32_t *path, uint32_t sw)
{
	uint32_t count;

	return hd_routes_walk(fabric, routes, sw, lid, path, &count) == HD_WALK_ARRIVED;
}

/* Walks from all switches: what arrives without keys arrives in the mixture. */
static bool all_arrive(const struct hd_fabric *fabric, const struct hd_routes *base,
		       const struct hd_routes *mixture, uint32_t lid)
{
	uint32_t *path = calloc(fabric->switch_count + 1, sizeof(*path));
	bool good = true;

	for (uint32_t sw = 0; good && sw < fabric->switch_count; sw++)
		good = arrives(fabric, mixture, lid, path, sw) ||
		       !arrives(fabric, base, lid, path, sw);
	free(path);
	return good;
}

struct seen {
	uint32_t mixtures, lost, any, stepped, refused;
	bool cycle;
};

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *base, *others, *before, *after; /* others: with keys for other LIDs */
	uint16_t lid;
	bool *waits; /* of base, before, after, and all mixtures that were seen */
};

/* All mixtures of a step with few blocks, else a sample of them. `now` is what the step begins with. */
static void look_at_step(const struct scene *scene, const struct hd_routes *now,
			 const struct hd_repair_write *writes, uint32_t count, uint64_t *random,
			 struct seen *seen)
{
	const bool all = count < 7;

	for (uint64_t i = 0; i < (all ? UINT64_C(1) << count : MIXTURES); i++) {
		const uint64_t taken = all ? i : hd_random_below(random, UINT64_MAX);
		struct hd_routes *mixture = hd_routes_copy(now);
		for (uint32_t w = 0; w < count; w++)
			if (taken >> (w % 64) & 1)
				write_block(mixture, &writes[w]);
		seen->mixtures++;
		seen->lost += !all_arrive(scene->fabric, scene->base, mixture, scene->lid);
		slow_waits_add(scene->fabric, mixture, scene->lid, scene->waits);
		hd_routes_free(mixture);
	}
}

/* The blocks that differ, as one step. From malloc(). */
static struct hd_repair_write *blocks_of(const struct scene *scene, uint32_t *count)
{
	struct hd_repair_write *writes = calloc(scene->fabric->switch_count, sizeof(*writes));
	const uint32_t block = scene->lid / HD_LFT_BLOCK;

	*count = 0;
	for (uint32_t sw = 0; sw < scene->fabric->switch_count; sw++) {
		const uint8_t *after = hd_routes_row(scene->after, sw) + block * HD_LFT_BLOCK;
		if (hd_routes_port(scene->before, sw, scene->lid) ==
		    after[scene->lid % HD_LFT_BLOCK])
			continue;
		writes[*count] = (struct hd_repair_write){.sw = sw, .block = block};
		memcpy(writes[(*count)++].ports, after, HD_LFT_BLOCK);
	}
	return writes;
}

static void look_at_plan(const struct scene *scene, const struct hd_repair_plan *plan,
			 uint64_t *random, struct seen *seen)
{
	struct hd_routes *now = hd_routes_copy(scene->before);

	for (uint32_t begin = 0, end; begin < plan->write_count; begin = end) {
		for (end = begin;
		     end < plan->write_count && plan->writes[end].step == plan->writes[begin].step;)
			end++;
		look_at_step(scene, now, plan->writes + begin, end - begin, random, seen);
		while (begin < end)
			write_block(now, &plan->writes[begin++]);
	}
	assert_int_equal(hd_routes_count_changes(now, scene->after), 0);
	hd_routes_free(now);
}

/* ---- random keys that replace keys ---- */

static void write_entries(const struct hd_fabric *fabric, const struct hd_key_entry *list,
			  uint32_t count, struct hd_routes *routes)
{
	for (uint32_t i = 0; i < count; i++)
		hd_routes_row(routes,
			      hd_fabric_find_node(fabric, list[i].switch_guid))[list[i].lid] =
		    list[i].port;
}

/* Random entries, or a way down to a leaf and up again. */
static struct hd_routes *with_key(const struct scene *scene, bool legal, uint64_t *random)
{
	struct hd_routes *routes = hd_routes_copy(scene->others);
	struct hd_key_entry list[MOST];
	const uint32_t changes = 1 + (uint32_t)hd_random_below(random, MOST);
	const uint32_t count =
	    !legal && changes < MOST / 2
		? keys_valley(scene->fabric, scene->lid, random, list)
		: keys_random(scene->fabric, scene->base, scene->lid, changes, legal, random, list);

	write_entries(scene->fabric, list, count, routes);
	return routes;
}

/* Keys that leave little room in the graph: ways down and up for other LIDs. */
static void add_others(struct scene *scene, struct hd_keys_proof *proof, uint64_t *random)
{
	struct hd_error err;

	for (uint32_t host = 0; host < scene->fabric->host_count; host++) {
		const uint16_t lid = keys_lid(scene->fabric, host, 1);
		struct hd_routes *tables = hd_routes_copy(scene->others);
		struct hd_key_entry list[2];
		const uint32_t count = keys_valley(scene->fabric, lid, random, list);
		write_entries(scene->fabric, list, count, tables);
		const bool fits =
		    lid != scene->lid && !hd_keys_proof_add(proof, tables, &lid, 1, &err);
		hd_routes_free(fits ? scene->others : tables);
		scene->others = fits ? tables : scene->others;
	}
}

static void add_tables(const struct scene *scene, const struct hd_routes *tables)
{
	const struct hd_fabric *fabric = scene->fabric;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		if (fabric->lid_owner[lid] != HD_NONE &&
		    !hd_is_switch(fabric, fabric->port_node[fabric->lid_owner[lid]]))
			slow_waits_add(fabric, tables, lid, scene->waits);
}

/* Without a plan, all blocks are one step, which has to be sound; and one that is not sound is no single step. */
static void look_at_all(struct scene *scene, struct hd_keys_proof *proof, uint64_t *random,
			struct seen *seen)
{
	const struct hd_keys_change change = {
	    .before = scene->before, .after = scene->after, .lids = &scene->lid, .count = 1};
	struct hd_repair_plan *plan;
	struct hd_error err;
	uint32_t count;
	int rc = hd_keys_order(proof, &change, &plan, &err);

	assert_true(!rc || rc == -EINVAL || rc == -ELOOP);
	seen->refused += rc != 0;
	seen->any += !rc && !plan;
	seen->stepped += !rc && plan;
	if (rc)
		return;
	slow_waits_add(scene->fabric, scene->before, scene->lid, scene->waits);
	if (plan) {
		look_at_plan(scene, plan, random, seen);
	} else {
		struct hd_repair_write *writes = blocks_of(scene, &count);
		look_at_step(scene, scene->before, writes, count, random, seen);
		free(writes);
	}
	hd_repair_plan_free(plan);
	seen->cycle |= slow_waits_loop(scene->fabric, scene->waits);
}

static void replace_once(bool legal, uint64_t seed, struct seen *seen)
{
	uint64_t random = seed;
	struct scene scene = {.fabric = keys_fabric(1)};
	struct hd_keys_proof *proof;
	struct hd_error err;

	scene.base = keys_route("dmodk", scene.fabric);
	scene.waits = calloc((size_t)scene.fabric->isl_count * scene.fabric->isl_count, 1);
	scene.lid = keys_lid(scene.fabric, (uint32_t)hd_random_below(&random, 27), 1);
	scene.others = hd_routes_copy(scene.base);
	assert_int_equal(hd_keys_proof_new(scene.fabric, scene.base, 1, &proof, &err), 0);
	if (!legal)
		add_others(&scene, proof, &random);
	scene.before = with_key(&scene, legal, &random);
	scene.after = with_key(&scene, legal, &random);
	add_tables(&scene, scene.base);
	add_tables(&scene, scene.others);
	if (!hd_keys_proof_add(proof, scene.before, &scene.lid, 1, &err))
		look_at_all(&scene, proof, &random, seen);
	hd_keys_proof_free(proof);
	free(scene.waits);
	hd_routes_free(scene.others);
	hd_routes_free(scene.before);
	hd_routes_free(scene.after);
	hd_routes_free(scene.base);
	hd_fabric_free(scene.fabric);
}

/* Property: in each step, no mixture of old and new blocks loses a packet or closes a credit loop, whatever cables the
 * keys take. */
static void no_mixture_of_any_keys_is_unsound(void **state)
{
	struct seen seen = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++)
		replace_once(false, seed, &seen);
	print_message("%u in any order, %u in steps, %u refused, %u mixtures\n", seen.any,
		      seen.stepped, seen.refused, seen.mixtures);
	assert_int_equal(seen.lost, 0);
	assert_false(seen.cycle);
	assert_true(seen.any > 20 && seen.stepped > 5 && seen.refused > 20);
}

/* Property: keys that climb where the engine climbs replace each other in any order. */
static void keys_that_climb_need_no_order(void **state)
{
	struct seen seen = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++)
		replace_once(true, seed, &seen);
	assert_int_equal(seen.any, 100);
	assert_int_equal(seen.lost, 0);
	assert_false(seen.cycle);
}

/* ---- keys that come and go ---- */

/* Two proofs of the same changes. Only one hears when keys come and go. */
struct twins {
	struct hd_keys_proof *told, *untold;
	struct hd_routes *now; /* in force */
	bool with_key;
	uint32_t gone, gone_hard; /* keys that went in any order, and others */
};

/* Both proofs say the same of a change. Then it is made, or, as when a switch does not answer, it is not. */
static void change_both(const struct scene *scene, struct twins *twins, struct hd_routes *next,
			bool to_base, uint64_t *random)
{
	struct hd_keys_change change = {
	    .before = twins->now, .after = next, .lids = &scene->lid, .count = 1};
	struct hd_repair_plan *plan = NULL, *other = NULL;
	struct hd_error err;
	const int expected = hd_keys_order(twins->untold, &change, &other, &err);

	change.comes = !twins->with_key;
	change.goes = to_base;
	const int rc = hd_keys_order(twins->told, &change, &plan, &err);
	assert_int_equal(rc, expected);
	if (!rc)
		assert_int_equal(plan != NULL, other != NULL);
	twins->gone += !rc && !plan && to_base && twins->with_key;
	twins->gone_hard += (rc || plan) && to_base && twins->with_key;
	if (!rc && hd_random_below(random, 4)) {
		struct hd_routes *old = twins->now;
		twins->now = next;
		next = old;
		twins->with_key = !to_base;
	}
	hd_routes_free(next);
	hd_repair_plan_free(plan);
	hd_repair_plan_free(other);
}

/* The key in force with one other entry. Both together are sound more often than this key and the entries without keys
 * are. */
static struct hd_routes *with_one_more(const struct scene *scene, const struct hd_routes *now,
				       uint64_t *random)
{
	struct hd_routes *routes = hd_routes_copy(now);
	struct hd_key_entry entry;

	write_entries(scene->fabric, &entry,
		      keys_random(scene->fabric, scene->base, scene->lid, 1, false, random, &entry),
		      routes);
	return routes;
}

static struct hd_routes *draw_key(const struct scene *scene, const struct twins *twins,
				  uint64_t *random)
{
	if (twins->with_key && hd_random_below(random, 2))
		return with_one_more(scene, twins->now, random);
	return with_key(scene, hd_random_below(random, 2), random);
}

static void come_and_go(uint64_t seed, struct twins *twins)
{
	uint64_t random = seed;
	struct scene scene = {.fabric = keys_fabric(1)};
	struct hd_error err;

	scene.base = keys_route("dmodk", scene.fabric);
	scene.lid = keys_lid(scene.fabric, (uint32_t)hd_random_below(&random, 27), 1);
	scene.others = hd_routes_copy(scene.base);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(hd_keys_proof_new(scene.fabric, scene.base, 1,
						   i ? &twins->told : &twins->untold, &err),
				 0);
	add_others(&scene, twins->told, &random);
	hd_routes_free(scene.others);
	scene.others = hd_routes_copy(scene.base);
	random = seed;
	hd_random_below(&random, 27);
	add_others(&scene, twins->untold, &random);
	twins->now = hd_routes_copy(scene.others);
	twins->with_key = false;
	for (unsigned i = 0; i < 10; i++) {
		const bool to_base = hd_random_below(&random, 2);
		change_both(&scene, twins,
			    to_base ? hd_routes_copy(scene.others)
				    : draw_key(&scene, twins, &random),
			    to_base, &random);
	}
	hd_keys_proof_free(twins->told);
	hd_keys_proof_free(twins->untold);
	hd_routes_free(twins->now);
	hd_routes_free(scene.others);
	hd_routes_free(scene.base);
	hd_fabric_free(scene.fabric);
}

/* Property: what is remembered of a key that came changes no answer, whatever comes, goes, is replaced, or fails. */
static void keys_go_as_they_would_without_memory(void **state)
{
	struct twins twins = {.gone = 0};

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++)
		come_and_go(seed, &twins);
	print_message("%u keys went in any order, %u did not\n", twins.gone, twins.gone_hard);
	assert_true(twins.gone > 200 && twins.gone_hard > 10);
}

/* Property: a key that came in any order goes without a look at any table; one that has replaced another does not. */
static void a_key_that_came_needs_no_look(void **state)
{
	uint64_t random = 3;
	struct scene scene = {.fabric = keys_fabric(1)};
	struct hd_keys_proof *proof;
	struct hd_repair_plan *plan = NULL;
	struct hd_error err;

	(void)state;
	scene.base = keys_route("dmodk", scene.fabric);
	scene.lid = keys_lid(scene.fabric, 5, 1);
	scene.others = hd_routes_copy(scene.base);
	scene.after = with_key(&scene, true, &random);
	assert_int_equal(hd_keys_proof_new(scene.fabric, scene.base, 1, &proof, &err), 0);
	struct hd_keys_change change = {.before = scene.base,
					.after = scene.after,
					.lids = &scene.lid,
					.count = 1,
					.comes = true};
	assert_int_equal(hd_keys_order(proof, &change, &plan, &err), 0);
	change = (struct hd_keys_change){.lids = &scene.lid, .count = 1, .goes = true};
	assert_int_equal(hd_keys_order(proof, &change, &plan, &err), 0);
	assert_null(plan);
	hd_keys_proof_free(proof);
	hd_routes_free(scene.after);
	hd_routes_free(scene.others);
	hd_routes_free(scene.base);
	hd_fabric_free(scene.fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_mixture_of_any_keys_is_unsound),
					   cmocka_unit_test(keys_that_climb_need_no_order),
					   cmocka_unit_test(keys_go_as_they_would_without_memory),
					   cmocka_unit_test(a_key_that_came_needs_no_look)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
