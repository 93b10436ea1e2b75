/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random fabrics, degraded ones, directors, and what holds for every generator. */
#include <errno.h>
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "generate_testing.h"

/* splitmix64 as published: the first outputs for seed 1234567. */
static void random_numbers_are_splitmix64(void **state)
{
	(void)state;
	uint64_t seed = 1234567;
	assert_true(hd_random_next(&seed) == UINT64_C(6457827717110365317));
	assert_true(hd_random_next(&seed) == UINT64_C(3203168211198807973));
	assert_true(hd_random_next(&seed) == UINT64_C(9817491932198370423));
}

/* Draws below a bound stay below it and come out about evenly. */
static void bounded_draws_are_even(void **state)
{
	(void)state;
	uint64_t seed = 5;
	uint32_t seen[7] = {0};
	for (unsigned i = 0; i < 70000; i++) {
		uint64_t drawn = hd_random_below(&seed, 7);
		assert_true(drawn < 7);
		seen[drawn]++;
	}
	for (unsigned i = 0; i < 7; i++)
		assert_in_range(seen[i], 9600, 10400);
	assert_int_equal(hd_random_below(&seed, 1), 0);
	assert_true(hd_random_below(&seed, UINT64_MAX) < UINT64_MAX);
}

/* Connected, switches - 1 + cycles cables, whatever the seed. */
static void irregular_is_connected_with_that_many_cycles(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 60; seed++) {
		char settings[128];
		unsigned switches = 1 + seed % 30, cycles = switches > 2 ? seed % 13 : 0;
		snprintf(settings, sizeof(settings),
			 "switches=%u radix=8 hosts=2 cycles=%u seed=%u", switches,
			 cycles > switches ? switches : cycles, seed);
		struct hd_fabric *fabric = generate("irregular", settings);
		assert_size(fabric, 2 * switches, switches,
			    switches - 1 + (cycles > switches ? switches : cycles));
		assert_int_equal(reachable_switches(fabric), switches);
		hd_fabric_free(fabric);
	}
}

/* Down to the last free port: as many cycles as fit are made, one more is refused. */
static void irregular_can_use_every_port(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		char settings[128];
		unsigned switches = 3 + seed % 9, slots = 2 + seed % 4;
		unsigned most = switches * slots / 2 - (switches - 1);
		snprintf(settings, sizeof(settings),
			 "switches=%u radix=%u hosts=1 cycles=%u seed=%u", switches, slots + 1,
			 most, seed);
		struct hd_fabric *fabric = generate("irregular", settings);
		assert_size(fabric, switches, switches, switches * slots / 2);
		assert_int_equal(reachable_switches(fabric), switches);
		hd_fabric_free(fabric);
	}
	assert_refused("irregular", "switches=4 radix=4 hosts=1 cycles=4",
		       "the free ports allow 3");
}

/* Without more said: half of the ports carry hosts, the other half links. */
static void irregular_defaults_fill_half_of_the_radix(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("irregular", "switches=30 radix=8 seed=7");
	assert_size(fabric, 30 * 4, 30, 30 * 4 / 2);
	hd_fabric_free(fabric);
	fabric = generate("irregular", "switches=30 radix=8 hosts=1 seed=7");
	assert_size(fabric, 30, 30, 30 * 4 / 2);
	hd_fabric_free(fabric);
}

static void seeds_decide(void **state)
{
	(void)state;
	struct hd_fabric *first = generate("irregular", "switches=30 radix=8 seed=7");
	struct hd_fabric *again = generate("irregular", "switches=30 radix=8 seed=7");
	struct hd_fabric *other = generate("irregular", "switches=30 radix=8 seed=8");
	assert_true(same_fabric(first, again));
	assert_false(same_fabric(first, other));
	hd_fabric_free(first);
	hd_fabric_free(again);
	hd_fabric_free(other);
}

static void impossible_irregulars_are_refused(void **state)
{
	(void)state;
	assert_refused("irregular", "radix=8", "'switches' is missing");
	assert_refused("irregular", "switches=8", "'radix' is missing");
	assert_refused("irregular", "switches=9 radix=4 hosts=3", "more ports than the radix 4");
	assert_refused("irregular", "switches=1 radix=4 cycles=1", "allow 0");
	assert_refused("irregular", "switches=40000 radix=8 hosts=1", "40000 hosts");
	assert_refused("irregular", "switches=4 radix=8 seed=x", "'x' is not a whole number");
}

/* The share is of the inter-switch cables; hosts, switches and LIDs stay. */
static void removing_links_takes_the_share(void **state)
{
	(void)state;
	struct hd_error err;
	struct hd_fabric *whole = generate("xgft", "children=6,6,6 parents=1,6,6");
	static const struct {
		double percent;
		uint32_t left;
	} cases[] = {{0, 432}, {10, 389}, {0.3, 431}, {50, 216}, {100, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_fabric *less = NULL;
		assert_int_equal(hd_fabric_remove_links(whole, cases[i].percent, 3, &less, &err),
				 0);
		assert_size(less, 216, 108, cases[i].left);
		assert_int_equal(less->lid_count, whole->lid_count);
		assert_memory_equal(less->lid, whole->lid, whole->port_count * sizeof(*less->lid));
		hd_fabric_free(less);
	}
	hd_fabric_free(whole);
}

/* What is left is a part of what was; seeds decide which part. */
static void removed_links_depend_on_the_seed_alone(void **state)
{
	(void)state;
	struct hd_error err;
	struct hd_fabric *whole = generate("torus", "dims=4,4,4 parallel=2");
	struct hd_fabric *first = NULL, *again = NULL, *other = NULL;
	assert_int_equal(hd_fabric_remove_links(whole, 5, 1, &first, &err), 0);
	assert_int_equal(hd_fabric_remove_links(whole, 5, 1, &again, &err), 0);
	assert_int_equal(hd_fabric_remove_links(whole, 5, 2, &other, &err), 0);
	assert_true(same_fabric(first, again));
	assert_false(same_fabric(first, other));
	for (uint32_t port = 0; port < whole->port_count; port++)
		assert_true(first->peer[port] == whole->peer[port] || first->peer[port] == HD_NONE);
	hd_fabric_free(whole);
	hd_fabric_free(first);
	hd_fabric_free(again);
	hd_fabric_free(other);
}

static void a_share_out_of_range_is_refused(void **state)
{
	(void)state;
	struct hd_error err;
	struct hd_fabric *whole = generate("torus", "dims=3,3"), *less = NULL;
	assert_int_equal(hd_fabric_remove_links(whole, -1, 1, &less, &err), -EINVAL);
	assert_int_equal(hd_fabric_remove_links(whole, 100.5, 1, &less, &err), -EINVAL);
	assert_non_null(strstr(err.text, "100.5 percent, expected 0..100"));
	assert_int_equal(hd_fabric_remove_links(whole, 0.0 / 0.0, 1, &less, &err), -EINVAL);
	assert_null(less);
	hd_fabric_free(whole);
}

static void directors_refuse_too_many_leaves(void **state)
{
	(void)state;
	assert_refused("directors", "leaves=49",
		       "294 outside ports of every director, but a director has only 288");
	assert_refused("directors", "hosts=250", "would need 262 ports");
}

/* The folder of reference fabrics lies beside the project unless the environment says where. */
static FILE *open_reference(void)
{
	const char *folder = getenv("HEDDLE_FABRICS");
	const char *inside = strstr(__FILE__, "tests/unit/");
	char path[4096];

	if (folder)
		snprintf(path, sizeof(path), "%s/chic-like/chic.net", folder);
	else
		snprintf(path, sizeof(path), "%.*s../shared/fabrics/chic-like/chic.net",
			 inside ? (int)(inside - __FILE__) : 0, __FILE__);
	return fopen(path, "r");
}

/* With its defaults the generator wires the CHiC-like fabric, cable for cable. */
static void directors_default_is_the_reference_fabric(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("directors", "");
	assert_size(fabric, 528, 44 + 2 * 36, 44 * 12 + 2 * 24 * 12);
	FILE *reference = open_reference();
	if (!reference) {
		hd_fabric_free(fabric);
		print_message("no chic-like/chic.net: set HEDDLE_FABRICS to its folder\n");
		skip();
	}
	char line[256], type[16], near[64] = "", far[64];
	uint32_t ports, port, far_port, ends = 0;
	while (fgets(line, sizeof(line), reference)) {
		if (sscanf(line, "%15[A-Za-z] %u \"%63[^\"]\"", type, &ports, near) == 3) {
			assert_int_equal(hd_node_ports(fabric, node_named(fabric, near)), ports);
		} else if (sscanf(line, "[%u] \"%63[^\"]\"[%u]", &port, far, &far_port) == 3) {
			assert_cabled(fabric, near, port, far, far_port);
			ends++;
		}
	}
	fclose(reference);
	assert_int_equal(ends, 2 * fabric->host_count + fabric->isl_count);
	hd_fabric_free(fabric);
}

static const char *const sample_settings[][2] = {
    {"xgft", "children=4,3 parents=1,2"},
    {"kary-ntree", "k=3 n=3"},
    {"rlft", "radix=8 levels=2"},
    {"torus", "dims=3,3"},
    {"mesh", "dims=3,3"},
    {"hypercube", "dimensions=3"},
    {"hyperx", "dims=3,4 hosts=2"},
    {"slim-fly", "q=4"},
    {"dragonfly", "switches=3 global-links=1 hosts=2"},
    {"jellyfish", "switches=12 degree=3 hosts=2"},
    {"irregular", "switches=9 radix=6"},
    {"dragonfly-plus", "islands=3 leaves=2 spines=2 hosts=2"},
    {"directors", ""},
    {"rail-tree", "groups=2 machines=3 adapters=2 spines=1"},
    {"interconnect", "switches=yes"},
};

static int compare_guids(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Node and port GUIDs of one fabric never meet (a switch's own port shares its node's). */
static void assert_no_guid_twice(const struct hd_fabric *fabric)
{
	uint64_t *guids = calloc(fabric->node_count + fabric->host_count, sizeof(*guids));
	uint32_t count = 0;

	for (uint32_t node = 0; node < fabric->node_count; node++)
		guids[count++] = fabric->node_guid[node];
	for (uint32_t host = 0; host < fabric->host_count; host++)
		guids[count++] = fabric->port_guid[fabric->host_port[host]];
	qsort(guids, count, sizeof(*guids), compare_guids);
	for (uint32_t i = 0; i < count; i++)
		assert_true(guids[i] && (!i || guids[i] != guids[i - 1]));
	free(guids);
}

static void assert_names_are_unique(const struct hd_fabric *fabric)
{
	for (uint32_t a = 0; a < fabric->node_count; a++)
		for (uint32_t b = 0; b < a; b++)
			assert_string_not_equal(fabric->node_name[a], fabric->node_name[b]);
}

/* Every generator: same options, same fabric; connected; names and GUIDs unique; all have LIDs. */
static void every_generator_keeps_the_rules(void **state)
{
	(void)state;
	unsigned count;
	hd_generators(&count);
	assert_int_equal(count, sizeof(sample_settings) / sizeof(sample_settings[0]));
	for (unsigned i = 0; i < count; i++) {
		struct hd_fabric *fabric = generate(sample_settings[i][0], sample_settings[i][1]);
		struct hd_fabric *again = generate(sample_settings[i][0], sample_settings[i][1]);
		assert_true(same_fabric(fabric, again));
		assert_int_equal(reachable_switches(fabric), fabric->switch_count);
		assert_int_equal(fabric->lid_count, fabric->node_count + 1);
		assert_no_guid_twice(fabric);
		assert_names_are_unique(fabric);
		hd_fabric_free(fabric);
		hd_fabric_free(again);
	}
}

/* The registry lists each kind once, described, with options whose defaults are good values. */
static void the_registry_is_complete(void **state)
{
	(void)state;
	unsigned count;
	const struct hd_generator *const *all = hd_generators(&count);
	for (unsigned i = 0; i < count; i++) {
		assert_ptr_equal(hd_generator_find(all[i]->name), all[i]);
		assert_true(*all[i]->summary);
		for (unsigned j = 0; j < all[i]->option_count; j++)
			assert_true(*all[i]->options[j].name && *all[i]->options[j].summary);
	}
	assert_null(hd_generator_find("no-such-kind"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_numbers_are_splitmix64),
	    cmocka_unit_test(bounded_draws_are_even),
	    cmocka_unit_test(irregular_is_connected_with_that_many_cycles),
	    cmocka_unit_test(irregular_can_use_every_port),
	    cmocka_unit_test(irregular_defaults_fill_half_of_the_radix),
	    cmocka_unit_test(seeds_decide),
	    cmocka_unit_test(impossible_irregulars_are_refused),
	    cmocka_unit_test(removing_links_takes_the_share),
	    cmocka_unit_test(removed_links_depend_on_the_seed_alone),
	    cmocka_unit_test(a_share_out_of_range_is_refused),
	    cmocka_unit_test(directors_refuse_too_many_leaves),
	    cmocka_unit_test(directors_default_is_the_reference_fabric),
	    cmocka_unit_test(every_generator_keeps_the_rules),
	    cmocka_unit_test(the_registry_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
