/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the proof of keys accepts and refuses, beside the checker and a slow graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keys_testing.h"
#include "slow_waits_testing.h"

#include <heddle/change/keys_proof.h>
#include <heddle/fabric/check.h>
#include <heddle/fabric/walk.h>

#define MOST 64

/* ---- the slow graph: which links wait for which, of the tables without and with keys ---- */

struct slow_graph {
	const struct hd_fabric *fabric;
	bool *waits; /* [isl_count * isl_count] */
};

static struct slow_graph slow_new(const struct hd_fabric *fabric, const struct hd_routes *base)
{
	struct slow_graph graph = {
	    fabric, calloc((size_t)fabric->isl_count * fabric->isl_count, sizeof(bool))};

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		if (fabric->lid_owner[lid] != HD_NONE &&
		    !hd_is_switch(fabric, fabric->port_node[fabric->lid_owner[lid]]))
			slow_waits_add(fabric, base, lid, graph.waits);
	return graph;
}

static bool arrives_everywhere(const struct hd_fabric *fabric, const struct hd_routes *routes,
			       uint32_t lid)
{
	uint32_t *path = calloc(fabric->switch_count + 1, sizeof(*path)), count;
	bool arrives = true;

	for (uint32_t sw = 0; arrives && sw < fabric->switch_count; sw++)
		arrives = hd_routes_walk(fabric, routes, sw, lid, path, &count) == HD_WALK_ARRIVED;
	free(path);
	return arrives;
}

static bool is_clean(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_check_report *report = NULL;
	struct hd_error err;

	assert_int_equal(hd_check(fabric, routes, NULL, &report, &err), 0);
	bool clean = hd_check_clean(report);
	hd_check_report_free(report);
	return clean;
}

/* ---- entries ---- */

static void write_entries(const struct hd_fabric *fabric, const struct hd_key_entry *entries,
			  uint32_t count, struct hd_routes *routes)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t sw = hd_fabric_find_node(fabric, entries[i].switch_guid);
		hd_routes_row(routes, sw)[entries[i].lid] = entries[i].port;
	}
}

static void take_back(const struct hd_routes *base, uint16_t lid, struct hd_routes *routes)
{
	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		hd_routes_row(routes, sw)[lid] = hd_routes_port(base, sw, lid);
}

/* ---- tests ---- */

struct verdicts {
	uint32_t accepted, lost, cycles;
};

/* Adds random entries for one LID after the other to one proof, and compares each verdict. */
static void compare(bool legal, uint64_t seed, struct verdicts *verdicts)
{
	struct hd_fabric *fabric = keys_fabric(1);
	struct hd_routes *base = keys_route("dmodk", fabric), *routes = hd_routes_copy(base);
	struct slow_graph graph = slow_new(fabric, base);
	struct hd_key_entry list[MOST];
	struct hd_keys_proof *proof;
	struct hd_error err = {""};

	assert_int_equal(hd_keys_proof_new(fabric, base, 1 + (unsigned)(seed % 3), &proof, &err),
			 0);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint16_t lid = keys_lid(fabric, host, 1);
		uint32_t changes = 1 + (uint32_t)hd_random_below(&seed, legal ? MOST : 4);
		uint32_t count = !legal && host % 2
				     ? keys_valley(fabric, lid, &seed, list)
				     : keys_random(fabric, base, lid, changes, legal, &seed, list);
		struct slow_graph next = {fabric,
					  malloc((size_t)fabric->isl_count * fabric->isl_count)};

		memcpy(next.waits, graph.waits, (size_t)fabric->isl_count * fabric->isl_count);
		write_entries(fabric, list, count, routes);
		bool lost = !arrives_everywhere(fabric, routes, lid);
		if (!lost)
			slow_waits_add(fabric, routes, lid, next.waits);
		bool cycle = !lost && slow_waits_loop(fabric, next.waits);
		int rc = hd_keys_proof_add(proof, routes, &lid, 1, &err);
		assert_int_equal(rc, lost ? -EINVAL : cycle ? -ELOOP : 0);
		verdicts->accepted += !rc;
		verdicts->lost += lost;
		verdicts->cycles += cycle;
		if (rc)
			take_back(base, lid, routes);
		free(rc ? next.waits : graph.waits);
		graph = rc ? graph : next;
	}
	assert_true(is_clean(fabric, routes));
	hd_keys_proof_free(proof);
	free(graph.waits);
	hd_routes_free(routes);
	hd_routes_free(base);
	hd_fabric_free(fabric);
}

/* Property: the proof says the same as walks and a slow graph of all dependencies, and tables of
 * which it accepts all keys pass the checker. */
static void verdicts_are_those_of_a_slow_proof(void **state)
{
	struct verdicts verdicts = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		compare(false, seed, &verdicts);
	print_message("%u accepted, %u lost, %u cycles\n", verdicts.accepted, verdicts.lost,
		      verdicts.cycles);
	assert_true(verdicts.accepted > 30 && verdicts.lost > 30 && verdicts.cycles > 30);
}

/* Property: keys whose paths climb, then descend, are never refused in a fat tree. */
static void climbs_are_always_accepted(void **state)
{
	struct verdicts verdicts = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++)
		compare(true, seed, &verdicts);
	assert_int_equal(verdicts.lost + verdicts.cycles, 0);
	assert_int_equal(verdicts.accepted, 3 * 27);
}

/* Tables that have a credit loop already are no base for keys. */
static void a_base_with_a_credit_loop_is_refused(void **state)
{
	struct hd_fabric *fabric = generate("torus", "dims=5,5 hosts=2");
	struct hd_options *options = hd_engine_options(hd_engine_find("spf"));
	struct hd_routes *routes = NULL;
	struct hd_keys_proof *proof = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_options_set(options, "deadlock", "off", NULL), 0);
	assert_int_equal(
	    hd_engine_route(hd_engine_find("spf"),
			    &(struct hd_route_request){.fabric = fabric, .options = options},
			    &routes, &err),
	    0);
	assert_false(is_clean(fabric, routes));
	assert_int_equal(hd_keys_proof_new(fabric, routes, 1, &proof, &err), -ELOOP);
	assert_non_null(strstr(err.text, "have a credit loop on virtual lane 0"));
	hd_routes_free(routes);
	hd_options_free(options);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_are_those_of_a_slow_proof),
					   cmocka_unit_test(climbs_are_always_accepted),
					   cmocka_unit_test(a_base_with_a_credit_loop_is_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
