/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Plans and proofs against the oracle on random fabrics, with good, damaged and senseless tables.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ar_testing.h"

#include "oracle_ar.h"

#define TRIALS 150

struct trial {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_request request;
	struct hd_ar_plan *plan;
	struct hd_ar_loop *loop;
	int rc;
};

static void trial_begin(struct trial *trial, uint64_t number)
{
	uint64_t random = number;
	struct hd_error err = {""};

	*trial = (struct trial){.fabric = random_fabric(&random, 1)};
	trial->routes =
	    random_routes(trial->fabric, &random, number % 3 == 0, number % 4 == 0 ? 3 : 1);
	trial->request = (struct hd_ar_request){
	    .fabric = trial->fabric,
	    .routes = trial->routes,
	    .algorithm = below(&random, 2) ? HD_AR_TREE : HD_AR_LAG,
	    .mode = HD_AR_FREE,
	    .threads = 1 + below(&random, 3),
	};
	trial->rc = hd_ar_plan_new(&trial->request, &trial->plan, &trial->loop, &err);
	if (trial->rc && trial->rc != -ELOOP)
		fail_msg("trial %d: %s", (int)number, err.text);
	assert_int_equal(!trial->rc, trial->plan != NULL);
	assert_int_equal(trial->rc == -ELOOP, trial->loop != NULL);
}

static void trial_end(struct trial *trial)
{
	hd_ar_loop_free(trial->loop);
	hd_ar_plan_free(trial->plan);
	hd_routes_free(trial->routes);
	hd_fabric_free(trial->fabric);
}

/* Returns the adaptive entries. */
static uint64_t same_entries(const struct trial *trial, uint64_t *entries)
{
	uint64_t adaptive = 0;

	for (uint32_t sw = 0; sw < trial->fabric->switch_count; sw++)
		for (uint32_t lid = 0; lid < trial->fabric->lid_count; lid++) {
			struct hd_port_set wanted = oracle_ar_ports(
			    trial->fabric, trial->routes, trial->request.algorithm, sw, lid);
			uint32_t group = hd_ar_plan_group(trial->plan, sw, 0, lid);
			uint8_t port = hd_routes_port(trial->routes, sw, lid);
			assert_int_equal(trial->plan->switches[sw].lid_port[0][lid], port);
			*entries += port != HD_NO_PORT;
			if (hd_port_set_is_empty(&wanted)) {
				assert_int_equal(group, HD_AR_NO_GROUP);
				continue;
			}
			assert_true(group < trial->plan->switches[sw].group_count);
			assert_true(hd_port_set_equal(
			    &trial->plan->switches[sw].groups[group].ports[0], &wanted));
			adaptive++;
		}
	return adaptive;
}

/* Property: each entry has the group that the definition of the algorithm gives it, and the sums
 * are those of the entries. */
static void entries_are_those_of_the_definition(void **state)
{
	unsigned planned = 0, adaptive = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		struct trial trial;
		uint64_t entries = 0;
		trial_begin(&trial, number);
		if (!trial.rc) {
			uint64_t count = same_entries(&trial, &entries);
			assert_int_equal(trial.plan->adaptive, count);
			assert_int_equal(trial.plan->possible, count);
			assert_int_equal(trial.plan->entries, entries);
			planned++;
			adaptive += count > 0;
		}
		trial_end(&trial);
	}
	assert_true(planned > TRIALS / 3);
	assert_true(adaptive > TRIALS / 6);
}

/* Each link of the loop waits for the next, as the oracle sees it. */
static void real_loop(const struct hd_ar_loop *loop, const struct oracle_dependencies *graph)
{
	assert_true(loop->length >= 2);
	for (uint32_t i = 0; i < loop->length; i++)
		assert_true(oracle_dependencies_has(graph, loop->links[i],
						    loop->links[(i + 1) % loop->length]));
}

static bool oracle_refuses(const struct hd_ar_proof_request *request, const struct hd_ar_loop *loop)
{
	bool refused = false;

	for (unsigned lane = 0; lane < 16; lane++) {
		struct oracle_dependencies graph;
		bool cycle = oracle_ar_cycle(request->fabric, request->routes, request->before,
					     request->plan, request->next, lane, &graph);
		if (loop && loop->vl == lane) {
			assert_true(cycle);
			real_loop(loop, &graph);
		}
		refused |= cycle;
		oracle_dependencies_free(&graph);
	}
	return refused;
}

/* A plan that no planner makes: some entries have groups of random ports. */
struct loose_plan {
	struct hd_ar_plan plan;
	struct hd_ar_switch switches[64];
	struct hd_ar_group groups[64][4];
	uint16_t lid_group[64][512];
	uint8_t lid_port[64][512];
};

static void make_loose_plan(struct loose_plan *loose, const struct hd_fabric *fabric,
			    uint64_t *random)
{
	uint32_t rarity = 10 + below(random, 300);

	assert_true(fabric->switch_count <= 64 && fabric->lid_count <= 512);
	memset(loose, 0, sizeof(*loose));
	loose->plan = (struct hd_ar_plan){.switch_count = fabric->switch_count,
					  .lid_count = fabric->lid_count,
					  .table_count = 1,
					  .switches = loose->switches};
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		loose->switches[sw] = (struct hd_ar_switch){.guid = fabric->node_guid[sw],
							    .sub_groups = 1,
							    .group_count = 4,
							    .groups = loose->groups[sw]};
		loose->switches[sw].lid_group[0] = loose->lid_group[sw];
		loose->switches[sw].lid_port[0] = loose->lid_port[sw];
		for (unsigned group = 0; group < 4; group++)
			for (unsigned i = 0; i < 2; i++)
				hd_port_set_add(&loose->groups[sw][group].ports[0],
						1 + below(random, 10));
		for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
			loose->lid_group[sw][lid] =
			    below(random, rarity) ? HD_AR_NO_GROUP : (uint16_t)below(random, 4);
	}
}

static struct hd_fabric *with_aggregation(struct hd_fabric *fabric)
{
	struct hd_fabric *changed = NULL;

	CHECK(hd_fabric_add_aggregation(fabric, &changed, &err));
	hd_fabric_free(fabric);
	return changed;
}

/* Property: a plan is proved if and only if no lane has a cycle, and the loop is a real one. So it
 * is with tables that are about to change. */
static void proofs_are_those_of_the_oracle(void **state)
{
	static struct loose_plan loose, other;
	unsigned refused = 0, exact = 0, trials = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		uint64_t random = number + 1000;
		struct hd_fabric *fabric = random_fabric(&random, 1);
		if (number % 2)
			fabric = with_aggregation(fabric);
		struct hd_routes *routes =
		    random_routes(fabric, &random, number % 5 == 0, number % 3 ? 1 : 4);
		struct hd_routes *before =
		    number % 4 == 0 ? random_routes(fabric, &random, false, number % 8 ? 1 : 2)
				    : NULL;
		struct hd_ar_loop *loop = NULL;
		struct hd_ar_proof proof = {0};
		struct hd_error err = {""};
		make_loose_plan(&loose, fabric, &random);
		make_loose_plan(&other, fabric, &random);
		struct hd_ar_proof_request request = {.fabric = fabric,
						      .routes = routes,
						      .before = before,
						      .plan = number % 2 ? &loose.plan : NULL,
						      .next = number % 3 ? NULL : &other.plan,
						      .threads = 1 + below(&random, 3)};
		int rc = hd_ar_prove(&request, &proof, &loop, &err);
		if (rc != 0 && rc != -ELOOP)
			fail_msg("%s", err.text);
		assert_int_equal(oracle_refuses(&request, loop), rc == -ELOOP);
		refused += rc == -ELOOP;
		exact += proof.exact;
		trials++;
		hd_ar_loop_free(loop);
		hd_routes_free(before);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_true(refused > trials / 10 && refused < trials * 9 / 10);
	assert_true(exact > 2);
}

/* Property: a planner's refusal is the oracle's. */
static void refusals_are_those_of_the_oracle(void **state)
{
	unsigned refused = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		struct trial trial;
		trial_begin(&trial, number);
		if (!trial.rc) {
			struct hd_ar_proof_request request = {
			    .fabric = trial.fabric, .routes = trial.routes, .plan = trial.plan};
			assert_false(oracle_refuses(&request, NULL));
		}
		refused += trial.rc == -ELOOP;
		trial_end(&trial);
	}
	assert_true(refused > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(entries_are_those_of_the_definition),
	    cmocka_unit_test(proofs_are_those_of_the_oracle),
	    cmocka_unit_test(refusals_are_those_of_the_oracle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
