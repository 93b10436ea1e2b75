/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys on trees from which nothing is missing, proved by walks in the forwarding tables. */
#include "key_testing.h"

#define XGFT_216 "children=6,6,6 parents=1,6,6"
#define XGFT_1728 "children=12,12,12 parents=1,12,12"

static void prove_free(const struct scene *scene, struct traffic *traffic)
{
	struct hd_key *key = key_for(scene, traffic, 1, false);

	assert_true(key->contention <= 1);
	assert_true(key->demand <= key->usable);
	assert_int_equal(key->offsets, key->contention);
	assert_int_equal(walk_key(scene, key, NULL, 1), key->contention);
	hd_key_free(key);
	traffic_release(traffic);
}

/* One direction of one axis of a periodic grid, on the hosts of a random placement. */
static struct traffic stencil(const struct hd_fabric *fabric, const uint32_t size[3], unsigned axis,
			      bool forwards, uint64_t *random)
{
	uint32_t ranks = size[0] * size[1] * size[2], stride = 1;
	struct traffic traffic = {.flows = malloc(ranks * sizeof(*traffic.flows)), .count = ranks};
	uint32_t *place = shuffled(fabric->host_count, random);

	for (unsigned i = 0; i < axis; i++)
		stride *= size[i];
	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t at = rank / stride % size[axis];
		uint32_t to = (at + (forwards ? 1 : size[axis] - 1)) % size[axis];
		traffic.flows[rank] =
		    (struct hd_key_flow){place[rank], place[rank + to * stride - at * stride]};
	}
	free(place);
	return traffic;
}

static void prove_stencils(const struct scene *scene, const uint32_t size[3])
{
	for (uint64_t seed = 1; seed <= 3; seed++)
		for (unsigned phase = 0; phase < 6; phase++) {
			uint64_t random = seed;
			struct traffic traffic =
			    stencil(scene->fabric, size, phase / 2, phase % 2, &random);
			prove_free(scene, &traffic);
		}
}

static void prove_shifts(const struct scene *scene, uint32_t step)
{
	uint32_t hosts = scene->fabric->host_count;
	uint64_t random = 7;
	uint32_t *place = shuffled(hosts, &random);

	for (uint32_t by = 1; by < hosts; by += step) {
		struct traffic traffic = {.flows = malloc(hosts * sizeof(*traffic.flows)),
					  .count = hosts};
		for (uint32_t i = 0; i < hosts; i++)
			traffic.flows[i] = (struct hd_key_flow){place[i], place[(i + by) % hosts]};
		prove_free(scene, &traffic);
	}
	free(place);
}

static void prove_permutations(const struct scene *scene)
{
	uint32_t hosts = scene->fabric->host_count;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		uint64_t random = seed;
		struct traffic traffic =
		    permutation(scene->fabric, seed % 2 ? hosts : hosts / 3, &random);
		prove_free(scene, &traffic);
	}
}

/* Property: with a random placement no link of XGFT 216 carries two flows of a phase: stencils,
 * shifts and permutations. */
static void xgft_216(void **state)
{
	static const uint32_t sizes[][3] = {{6, 6, 6}, {4, 3, 3}, {6, 3, 3}, {216, 1, 1}};
	struct scene scene;

	(void)state;
	scene_xgft(&scene, XGFT_216, 1);
	for (unsigned i = 0; i < 4; i++)
		prove_stencils(&scene, sizes[i]);
	prove_shifts(&scene, 3);
	prove_permutations(&scene);
	scene_end(&scene);
}

/* Property: the same on XGFT 1,728. */
static void xgft_1728(void **state)
{
	static const uint32_t size[] = {12, 9, 8};
	struct scene scene;

	(void)state;
	scene_xgft(&scene, XGFT_1728, 1);
	prove_stencils(&scene, size);
	prove_shifts(&scene, 144);
	prove_permutations(&scene);
	scene_end(&scene);
}

/* Property: the same where cables are parallel, on two levels, and on four levels. */
static void other_shapes(void **state)
{
	static const char *const shapes[] = {
	    "children=6,6 parents=1,6", "children=6,4 parents=1,3 parallel=1,2",
	    "children=4,4,4 parents=1,2,4 parallel=1,2,2",
	    "children=4,4,3 parents=1,2,1 parallel=1,2,8", "children=3,3,3,3 parents=1,3,3,3"};

	(void)state;
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct scene scene;
		scene_xgft(&scene, shapes[i], 1);
		prove_permutations(&scene);
		scene_end(&scene);
	}
}

/* Property: a tree that is slimmer above carries what fits: half of the hosts where it has half of
 * the cables. */
static void slim(void **state)
{
	struct scene scene;

	(void)state;
	scene_xgft(&scene, "children=6,6,6 parents=1,6,3", 1);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t random = seed;
		struct traffic traffic = permutation(scene.fabric, 60, &random);
		prove_free(&scene, &traffic);
	}
	scene_end(&scene);
}

/* Property: tables with a key's entries reach everything, and have no credit loop, also with
 * aggregation nodes. */
static void clean_tables(void **state)
{
	struct hd_fabric *plain = generate("xgft", XGFT_216), *fabric = NULL;
	struct hd_error err = {""};
	struct scene scene;

	(void)state;
	assert_int_equal(hd_fabric_add_aggregation(plain, &fabric, &err), 0);
	hd_fabric_free(plain);
	assert_true(scene_begin(&scene, with_lmc(fabric, 2)));
	for (uint64_t seed = 1; seed <= 3; seed++) {
		uint64_t random = seed;
		struct traffic traffic = random_flows(scene.fabric, 300, &random);
		struct hd_key *key = key_for(&scene, &traffic, 3, true);
		assert_true(check_overlaid(&scene, key, NULL, 1));
		assert_int_equal(walk_key(&scene, key, NULL, 1), key->contention);
		hd_key_free(key);
		traffic_release(&traffic);
	}
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(xgft_216),	    cmocka_unit_test(xgft_1728),
	    cmocka_unit_test(other_shapes), cmocka_unit_test(slim),
	    cmocka_unit_test(clean_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
