/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys of few flows in trees that are not regular against an exhaustive search for the least contention. */
#include "key_ranks.h"
#include "key_ranks_testing.h"

/*
 * The oracle knows the levels, and that a switch has one port for a LID. It tries all paths that climb and then
 * descend, in any height.
 */
struct oracle {
	const struct hd_fabric *fabric;
	const uint8_t *level;
	const struct traffic *traffic;
	uint32_t *port,
	    *uses; /* [switch * host_count + host] the link that flows to the host take, and how many do */
	uint32_t *load; /* [isl_count] */
	uint32_t best, most; /* least contention so far, and that of the flows that are placed */
	uint64_t tries; /* that are left */
};

static void place_flow(struct oracle *oracle, uint32_t flow);

static void follow(struct oracle *oracle, uint32_t flow, uint32_t sw, bool may_climb)
{
	const struct hd_fabric *fabric = oracle->fabric;
	uint32_t host = oracle->traffic->flows[flow].destination, most = oracle->most;
	size_t entry = (size_t)sw * fabric->host_count + host;

	if (sw == fabric->host_switch[host]) {
		place_flow(oracle, flow + 1);
		return;
	}
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++) {
		int step = oracle->level[fabric->isl_to[link]] - oracle->level[sw];
		if (!oracle->tries || (step != 1 && step != -1) || (step == 1 && !may_climb) ||
		    (oracle->uses[entry] && oracle->port[entry] != link))
			continue;
		oracle->tries--;
		oracle->port[entry] = link;
		oracle->uses[entry]++;
		if (++oracle->load[link] > oracle->most)
			oracle->most = oracle->load[link];
		if (oracle->most < oracle->best)
			follow(oracle, flow, fabric->isl_to[link], step == 1);
		oracle->most = most;
		oracle->load[link]--;
		oracle->uses[entry]--;
	}
}

static void place_flow(struct oracle *oracle, uint32_t flow)
{
	if (flow == oracle->traffic->count)
		oracle->best = oracle->most;
	else
		follow(oracle, flow,
		       oracle->fabric->host_switch[oracle->traffic->flows[flow].source], true);
}

/* The least contention; HD_NONE: a flow has no path. False: the search takes too long. */
static bool least_contention(const struct scene *scene, const struct traffic *traffic,
			     uint32_t *out)
{
	const struct hd_fabric *fabric = scene->fabric;
	size_t entries = (size_t)fabric->switch_count * fabric->host_count;
	struct oracle oracle = {.fabric = fabric,
				.level = scene->tree->ranks->level,
				.traffic = traffic,
				.port = calloc(entries, sizeof(uint32_t)),
				.uses = calloc(entries, sizeof(uint32_t)),
				.load = calloc(fabric->isl_count + 1, sizeof(uint32_t)),
				.best = HD_NONE,
				.tries = 300000};

	place_flow(&oracle, 0);
	free(oracle.port);
	free(oracle.uses);
	free(oracle.load);
	*out = oracle.best;
	return oracle.tries > 0;
}

struct tally {
	uint32_t compared, equal, unreachable, shared;
};

static void compare_key(const struct scene *scene, const struct traffic *traffic,
			struct tally *tally)
{
	struct hd_key *key = NULL;
	struct hd_error err = {""};
	uint32_t least = 0;
	bool done = least_contention(scene, traffic, &least);
	int rc = key_try(scene, traffic, 1, true, &key, &err);

	if (rc) {
		assert_int_equal(rc, -EHOSTUNREACH);
		assert_int_equal(least, HD_NONE);
		tally->unreachable++;
		return;
	}
	assert_int_equal(walk_key(scene, key, NULL, 1), key->contention);
	if (done) {
		assert_true(key->contention >= least);
		assert_true(key->contention <= least + 1);
		tally->compared++;
		tally->equal += key->contention == least;
		tally->shared += least > 1;
	}
	hd_key_free(key);
}

/* All flows come from hosts of the first one's switch, which makes its cables scarce. */
static void from_one_switch(const struct hd_fabric *fabric, struct traffic *traffic)
{
	uint32_t sw = fabric->host_switch[traffic->flows[0].source], first = fabric->host_base[sw];

	for (uint32_t i = 0; i < traffic->count; i++)
		traffic->flows[i].source = first + i % (fabric->host_base[sw + 1] - first);
}

/* Property: no key beats the exhaustive search, and nearly all reach it; keys are refused exactly where hosts have no
 * path. */
static void least(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (uint64_t number = 0; number < 1200; number++) {
		struct scene scene;
		uint64_t random = number;
		if (!scene_begin(&scene, ranks_fabric(number)))
			continue;
		uint32_t count = 2 + (uint32_t)hd_random_below(&random, 5);
		struct traffic traffic = random_flows(scene.fabric, count, &random);
		if (number % 2)
			from_one_switch(scene.fabric, &traffic);
		if (!hd_key_tree_is_regular(scene.tree))
			compare_key(&scene, &traffic, &tally);
		traffic_release(&traffic);
		scene_end(&scene);
	}
	print_message("%u of %u keys have the least contention, which is more than 1 for %u; %u "
		      "unreachable\n",
		      tally.equal, tally.compared, tally.shared, tally.unreachable);
	assert_true(tally.compared > 300);
	assert_true(tally.equal * 100 >= tally.compared * 98);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(least)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
