/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys of tiny trees against an exhaustive search for the least contention. */
#include "key_testing.h"

#include <heddle/fabric/tree.h>

/*
 * The oracle knows the fabric, which links climb, and that a switch has one port for a LID. It
 * tries all paths that climb and then descend, in which no flow climbs higher than it must.
 */
struct oracle {
	const struct hd_fabric *fabric;
	const struct traffic *traffic;
	struct hd_tree tree;
	struct hd_arena arena;
	uint32_t *port; /* [switch * host_count + host] link that flows to the host take */
	uint32_t *uses; /* [the same] flows that took it */
	uint32_t *load; /* [isl_count] */
	uint32_t best; /* least contention so far */
	uint32_t most; /* contention of the flows that are placed */
	uint64_t tries; /* that are left */
};

static void place_flow(struct oracle *oracle, uint32_t flow);

/* Whether hosts of `to` can be below a switch. */
static bool is_below(const struct oracle *oracle, uint32_t sw, uint32_t to)
{
	const struct hd_fabric *fabric = oracle->fabric;

	if (sw == to)
		return true;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (!oracle->tree.up[link] && is_below(oracle, fabric->isl_to[link], to))
			return true;
	return false;
}

static void follow(struct oracle *oracle, uint32_t flow, uint32_t sw, uint32_t climbs);

/* Takes a link, if the switch has no other port for the host, and goes on from its far end. */
static void take(struct oracle *oracle, uint32_t flow, uint32_t sw, uint32_t link, uint32_t climbs)
{
	uint32_t to = oracle->traffic->flows[flow].destination, most = oracle->most;
	size_t entry = (size_t)sw * oracle->fabric->host_count + to;

	if (oracle->uses[entry] && oracle->port[entry] != link)
		return;
	oracle->port[entry] = link;
	oracle->uses[entry]++;
	if (++oracle->load[link] > oracle->most)
		oracle->most = oracle->load[link];
	if (oracle->most < oracle->best)
		follow(oracle, flow, oracle->fabric->isl_to[link], climbs);
	oracle->most = most;
	oracle->load[link]--;
	oracle->uses[entry]--;
}

static void follow(struct oracle *oracle, uint32_t flow, uint32_t sw, uint32_t climbs)
{
	const struct hd_fabric *fabric = oracle->fabric;
	uint32_t to = fabric->host_switch[oracle->traffic->flows[flow].destination];

	if (sw == to && !climbs) {
		place_flow(oracle, flow + 1);
		return;
	}
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		bool up = oracle->tree.up[link];
		if (up == (climbs > 0) && (up || is_below(oracle, fabric->isl_to[link], to)))
			take(oracle, flow, sw, link, climbs - up);
	}
}

/* Levels that two leaves must climb to meet; a level without any path is passed over. */
static uint32_t climbs_of(const struct oracle *oracle, uint32_t from, uint32_t to, uint32_t height)
{
	const struct hd_fabric *fabric = oracle->fabric;

	if (is_below(oracle, from, to))
		return height;
	uint32_t least = HD_NONE;
	for (uint32_t link = fabric->isl_base[from]; link < fabric->isl_base[from + 1]; link++)
		if (oracle->tree.up[link]) {
			uint32_t climbs = climbs_of(oracle, fabric->isl_to[link], to, height + 1);
			least = climbs < least ? climbs : least;
		}
	return least;
}

static void place_flow(struct oracle *oracle, uint32_t flow)
{
	const struct hd_fabric *fabric = oracle->fabric;

	if (flow == oracle->traffic->count) {
		oracle->best = oracle->most;
		return;
	}
	if (!oracle->tries)
		return;
	oracle->tries--;
	uint32_t from = fabric->host_switch[oracle->traffic->flows[flow].source];
	uint32_t to = fabric->host_switch[oracle->traffic->flows[flow].destination];
	follow(oracle, flow, from, climbs_of(oracle, from, to, 0));
}

/* The least contention; false if that takes too long. */
static bool least_contention(const struct hd_fabric *fabric, const struct traffic *traffic,
			     uint32_t *out)
{
	struct hd_tree_facts facts = {0};
	struct oracle oracle = {
	    .fabric = fabric, .traffic = traffic, .best = HD_NONE, .tries = 200000};
	size_t entries = (size_t)fabric->switch_count * fabric->host_count;

	assert_int_equal(hd_tree_find(fabric, &facts, 1, &oracle.arena, &oracle.tree, NULL), 0);
	oracle.port = calloc(entries, sizeof(*oracle.port));
	oracle.uses = calloc(entries, sizeof(*oracle.uses));
	oracle.load = calloc(fabric->isl_count + 1, sizeof(*oracle.load));
	place_flow(&oracle, 0);
	free(oracle.port);
	free(oracle.uses);
	free(oracle.load);
	hd_arena_release(&oracle.arena);
	*out = oracle.best;
	return oracle.tries > 0;
}

static const char *const shapes[] = {
    "children=2,2,2 parents=1,2,2", "children=3,3 parents=1,3",
    "children=3,4 parents=1,2",	    "children=3,3 parents=1,2 parallel=1,2",
    "children=2,2,2 parents=1,2,1", "children=2,2,3 parents=1,2,1 parallel=1,1,2",
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* A shape, mostly without one to four of its cables. */
static struct hd_fabric *tiny(uint64_t seed)
{
	struct hd_fabric *fabric = generate("xgft", shapes[seed % SHAPES]), *other = NULL;
	uint64_t random = seed;

	for (uint64_t i = seed / SHAPES % 6; i > 1; i--) {
		uint32_t link = (uint32_t)hd_random_below(&random, fabric->isl_count);
		assert_int_equal(variants_without_link(fabric, link, &other, NULL), 0);
		hd_fabric_free(fabric);
		fabric = other;
	}
	return fabric;
}

struct tally {
	uint32_t compared, equal, unreachable;
};

static void compare_one(uint64_t seed, bool many, struct tally *tally)
{
	struct scene scene;
	uint64_t random = seed;
	struct hd_key *key = NULL;
	struct hd_error err = {""};
	uint32_t least = 0;

	if (!scene_begin(&scene, tiny(seed)))
		return;
	uint32_t hosts = scene.fabric->host_count;
	uint32_t count = 2 + (uint32_t)hd_random_below(&random, hosts - 2);
	struct traffic traffic = many ? random_flows(scene.fabric, count, &random)
				      : permutation(scene.fabric, count, &random);
	bool done = least_contention(scene.fabric, &traffic, &least);
	int rc = key_try(&scene, &traffic, 1, true, &key, &err);
	if (rc) {
		assert_int_equal(rc, -EHOSTUNREACH);
		assert_int_equal(least, HD_NONE);
		tally->unreachable++;
	} else if (done) {
		assert_int_equal(walk_key(&scene, key, NULL, 0), key->contention);
		assert_true(key->contention >= least);
		assert_true(key->contention <= least + 1);
		tally->compared++;
		tally->equal += key->contention == least;
	}
	hd_key_free(key);
	traffic_release(&traffic);
	scene_end(&scene);
}

/* Property: on tiny trees, most of them damaged, no key beats the exhaustive search, and nearly all
 * reach it; keys are refused exactly where hosts have no path. */
static void least(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 3000; seed++)
		compare_one(seed, seed / SHAPES / 6 % 2, &tally);
	print_message("%u of %u keys have the least contention; %u unreachable\n", tally.equal,
		      tally.compared, tally.unreachable);
	assert_true(tally.compared > 2000);
	assert_true(tally.equal * 100 >= tally.compared * 98);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(least)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
