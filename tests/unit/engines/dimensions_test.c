/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dimensions of products of graphs, whole and damaged, and next hops by their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "oracle_balance.h"
#include "parallel_links.h"

#define DAMAGES 20u
#define ORACLE_FABRICS 240u
#define DIMS 6u

struct product {
	const char *kind, *settings;
	uint32_t dims, size[DIMS]; /* in any order of dimensions of equal size */
};

static const struct product products[] = {
    {"torus", "dims=8,8", 2, {8, 8}},
    {"torus", "dims=6,6,6", 3, {6, 6, 6}},
    {"torus", "dims=4,4", 4, {2, 2, 2, 2}},
    {"torus", "dims=4,4,4", 6, {2, 2, 2, 2, 2, 2}},
    {"mesh", "dims=6,6", 2, {6, 6}},
    {"mesh", "dims=5,5,5", 3, {5, 5, 5}},
    {"hypercube", "dimensions=6", 6, {2, 2, 2, 2, 2, 2}},
    {"hyperx", "dims=6,6", 2, {6, 6}},
    {"hyperx", "dims=4,4,4", 3, {4, 4, 4}},
};

/* Without some cables between switches. */
static struct hd_fabric *damaged(struct hd_fabric *fabric, double percent, uint64_t seed)
{
	struct hd_fabric *less = NULL;
	struct hd_error err = {""};

	assert_int_equal(hd_fabric_remove_links(fabric, percent, seed, &less, &err), 0);
	hd_fabric_free(fabric);
	return less;
}

static uint32_t *find(const struct hd_fabric *fabric, bool *found)
{
	uint32_t *dimension = calloc(fabric->isl_count + 1u, sizeof(*dimension));

	assert_non_null(dimension);
	assert_int_equal(parallel_links_dimensions(fabric, dimension, found), 0);
	return dimension;
}

/* Into how many parts the fabric falls without the links of a dimension: its size. */
static uint32_t count_parts(const struct hd_fabric *fabric, const uint32_t *dimension,
			    uint32_t without)
{
	uint32_t *part = calloc(fabric->switch_count, sizeof(*part)), parts = 0;
	bool changed = true;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		part[sw] = sw;
	while (changed) {
		changed = false;
		for (uint32_t link = 0; link < fabric->isl_count; link++) {
			uint32_t from = hd_isl_from(fabric, link), to = fabric->isl_to[link];
			if (dimension[link] == without || part[to] <= part[from])
				continue;
			part[to] = part[from];
			changed = true;
		}
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		parts += part[sw] == sw;
	free(part);
	return parts;
}

static void assert_dimensions(const struct product *product, const struct hd_fabric *fabric,
			      const uint32_t *dimension)
{
	uint32_t dims = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		assert_int_equal(dimension[link], dimension[fabric->isl_reverse[link]]);
		if (dimension[link] != link)
			continue;
		assert_true(dims < product->dims);
		assert_int_equal(count_parts(fabric, dimension, link), product->size[dims]);
		dims++;
	}
	assert_int_equal(dims, product->dims);
}

/* The link of the same port in another fabric. */
static uint32_t same_link(const struct hd_fabric *fabric, uint32_t link,
			  const struct hd_fabric *other)
{
	const uint64_t guid = fabric->node_guid[hd_isl_from(fabric, link)];

	for (uint32_t i = 0; i < other->isl_count; i++)
		if (other->isl_port[i] == fabric->isl_port[link] &&
		    other->node_guid[hd_isl_from(other, i)] == guid)
			return i;
	fail();
	return HD_NONE;
}

/* Returns how many links have none. */
static uint32_t assert_same_dimensions(const struct hd_fabric *whole, const uint32_t *dimension,
				       const struct hd_fabric *cut, const uint32_t *left)
{
	uint32_t *of = calloc(whole->isl_count + 1u, sizeof(*of)), none = 0;

	for (uint32_t link = 0; link < cut->isl_count; link++) {
		const uint32_t here = dimension[same_link(cut, link, whole)];
		none += left[link] == PARALLEL_LINKS_NONE;
		if (left[link] == PARALLEL_LINKS_NONE)
			continue;
		if (!of[left[link]])
			of[left[link]] = here + 1;
		assert_int_equal(of[left[link]], here + 1);
	}
	free(of);
	return none;
}

static void products_have_dimensions(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(products) / sizeof(*products); i++) {
		struct hd_fabric *fabric = generate(products[i].kind, products[i].settings);
		bool found;
		uint32_t *dimension = find(fabric, &found);

		assert_true(found);
		assert_dimensions(&products[i], fabric, dimension);
		free(dimension);
		hd_fabric_free(fabric);
	}
}

/* Property: where cables are missing, the dimensions that are found join no links of two. */
static void damage_changes_no_dimension(void **unused)
{
	uint32_t links = 0, none = 0, lost = 0;

	(void)unused;
	for (size_t i = 0; i < sizeof(products) / sizeof(*products); i++) {
		struct hd_fabric *whole = generate(products[i].kind, products[i].settings);
		bool found;
		uint32_t *dimension = find(whole, &found);
		for (uint64_t seed = 0; seed < DAMAGES; seed++) {
			struct hd_fabric *cut =
			    damaged(generate(products[i].kind, products[i].settings), 2, seed);
			uint32_t *left = find(cut, &found);
			lost += !found;
			links += found ? cut->isl_count : 0;
			if (found)
				none += assert_same_dimensions(whole, dimension, cut, left);
			free(left);
			hd_fabric_free(cut);
		}
		free(dimension);
		hd_fabric_free(whole);
	}
	assert_true(lost * 20 < DAMAGES * sizeof(products) / sizeof(*products));
	assert_true(none * 50 < links);
}

static void other_fabrics_have_none(void **unused)
{
	static const char *const others[][2] = {{"irregular", "switches=40 radix=8 hosts=2 seed=3"},
						{"jellyfish", "switches=40 degree=6 hosts=2"},
						{"slim-fly", "q=5 hosts=2"},
						{"torus", "dims=9 hosts=2"}};

	(void)unused;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct hd_fabric *fabric = generate(others[i][0], others[i][1]);
		bool found;
		uint32_t *dimension = find(fabric, &found);

		assert_false(found);
		for (uint32_t link = 0; link < fabric->isl_count; link++)
			assert_int_equal(dimension[link], 0);
		free(dimension);
		hd_fabric_free(fabric);
	}
}

static void compare_with_oracle(struct hd_fabric *fabric, unsigned passes)
{
	bool found;
	uint32_t *dimension = find(fabric, &found);
	const struct oracle_balance_plan plan = {.fabric = fabric,
						 .dimension = dimension,
						 .by_conflicts = true,
						 .passes = passes,
						 .until_flat = true};
	char settings[60];

	snprintf(settings, sizeof(settings), "passes=%u balance=dimensions deadlock=off", passes);
	struct hd_routes *fast = route("spf", settings, fabric),
			 *slow = oracle_balance_route(&plan);
	assert_non_null(slow);
	assert_int_equal(hd_routes_count_changes(fast, slow), 0);
	hd_routes_free(slow);
	hd_routes_free(fast);
	free(dimension);
	hd_fabric_free(fabric);
}

/* Property: next hops are those of the first dimension that has one, then by conflicts. */
static void tables_by_dimensions(void **unused)
{
	static const char *const grids[][2] = {{"torus", "dims=5,5 hosts=2"},
					       {"torus", "dims=4,3 hosts=1"},
					       {"mesh", "dims=4,5 hosts=2"},
					       {"hyperx", "dims=4,4 hosts=2"},
					       {"hypercube", "dimensions=4 hosts=2"}};

	(void)unused;
	for (unsigned number = 0; number < ORACLE_FABRICS; number++) {
		const char *const *grid = grids[number % 5];
		struct hd_fabric *fabric = generate(grid[0], grid[1]);

		if (number >= 5)
			fabric = damaged(fabric, 4, number);
		compare_with_oracle(fabric, 1 + number % 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(products_have_dimensions),
	    cmocka_unit_test(damage_changes_no_dimension),
	    cmocka_unit_test(other_fabrics_have_none),
	    cmocka_unit_test(tables_by_dimensions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
