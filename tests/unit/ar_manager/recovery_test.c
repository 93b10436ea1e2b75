/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fast recovery: which plans may have it, and what share of losses it bridges, against the oracle. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"

#include "cases.h"
#include "oracle_recovery.h"

#define TRIALS CASES(150, 45)

/* ---- plans ---- */

/* A plan that no planner makes: some entries have groups of random ports. */
struct loose_plan {
	struct hd_ar_plan plan;
	struct hd_ar_switch switches[64];
	struct hd_ar_group groups[64][4];
	uint16_t lid_group[64][512];
};

/* Two links of the switch, at times one in each sub-group. */
static void draw_group(const struct hd_fabric *fabric, uint32_t sw, uint64_t *random,
		       struct hd_ar_group *group)
{
	const uint32_t first = fabric->isl_base[sw], links = fabric->isl_base[sw + 1] - first;

	for (unsigned i = 0; links && i < 2; i++)
		hd_port_set_add(&group->ports[below(random, 3) ? 0 : i],
				fabric->isl_port[first + below(random, links)]);
}

static void draw_plan(struct loose_plan *loose, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, uint64_t *random)
{
	const uint32_t rarity = 20 + below(random, 300);

	assert_true(fabric->switch_count <= 64 && fabric->lid_count <= 512);
	memset(loose, 0, sizeof(*loose));
	loose->plan = (struct hd_ar_plan){.switch_count = fabric->switch_count,
					  .lid_count = fabric->lid_count,
					  .table_count = 1,
					  .switches = loose->switches};
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		loose->switches[sw] = (struct hd_ar_switch){
		    .guid = fabric->node_guid[sw],
		    .form = below(random, 8) ? HD_AR_FORM_REV1 : HD_AR_FORM_NONE,
		    .sub_groups = 2,
		    .group_count = 4,
		    .used = 4,
		    .groups = loose->groups[sw],
		    .lid_group = {loose->lid_group[sw]},
		    .lid_port = {hd_routes_row(routes, sw)}};
		for (unsigned group = 0; group < 4; group++)
			draw_group(fabric, sw, random, &loose->groups[sw][group]);
		for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
			uint32_t to;
			uint8_t last;
			bool may = hd_fabric_lid_destination(fabric, lid, &to, &last) && last &&
				   to != sw && fabric->isl_base[sw] < fabric->isl_base[sw + 1];
			loose->lid_group[sw][lid] = may && !below(random, rarity)
							? (uint16_t)below(random, 4)
							: HD_AR_NO_GROUP;
		}
	}
}

struct trial {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *planned;
	struct loose_plan loose;
	struct hd_ar_recovery_request request;
};

static struct hd_fabric *with_aggregation(struct hd_fabric *fabric)
{
	struct hd_fabric *changed = NULL;

	CHECK(hd_fabric_add_aggregation(fabric, &changed, &err));
	hd_fabric_free(fabric);
	return changed;
}

static struct hd_routes *draw_routes(struct trial *trial, uint64_t *random)
{
	static const char *const engines[] = {"spf", "updown", "dmodk"};
	const struct hd_route_request request = {.fabric = trial->fabric};
	struct hd_routes *routes = NULL;

	if (!below(random, 3) ||
	    hd_engine_route(hd_engine_find(engines[below(random, 3)]), &request, &routes, NULL))
		return random_routes(trial->fabric, random, !below(random, 4),
				     below(random, 4) ? 1 : 3);
	return routes;
}

/* The plan of an algorithm, or one that no algorithm makes. */
static void begin(struct trial *trial, uint64_t number)
{
	uint64_t random = number;

	memset(trial, 0, sizeof(*trial));
	trial->fabric = random_fabric(&random, 1);
	if (number % 2)
		trial->fabric = with_aggregation(trial->fabric);
	trial->routes = draw_routes(trial, &random);
	trial->request = (struct hd_ar_recovery_request){
	    .fabric = trial->fabric, .routes = trial->routes, .threads = 1 + below(&random, 3)};
	const struct hd_ar_request asked = {.fabric = trial->fabric,
					    .routes = trial->routes,
					    .algorithm = below(&random, 2) ? HD_AR_TREE : HD_AR_LAG,
					    .mode = HD_AR_FREE};
	if (number % 3 && !hd_ar_plan_new(&asked, &trial->planned, NULL, NULL)) {
		trial->request.plan = trial->planned;
		return;
	}
	draw_plan(&trial->loose, trial->fabric, trial->routes, &random);
	trial->request.plan = &trial->loose.plan;
}

static void end(struct trial *trial)
{
	hd_ar_plan_free(trial->planned);
	hd_routes_free(trial->routes);
	hd_fabric_free(trial->fabric);
}

/* ---- proofs ---- */

static bool has_cycle(const struct oracle_dependencies *graph)
{
	for (uint32_t link = 0; link < graph->links; link++)
		if (oracle_dependencies_cycle_length(graph, link))
			return true;
	return false;
}

/* Whether anything goes round, whatever the lane. */
static bool goes_round(const struct trial *trial, const bool *masked, enum oracle_fallback fallback)
{
	uint16_t lanes = hd_routes_lanes(trial->fabric, trial->routes) | 1;
	bool round = false;

	for (unsigned lane = 0; lane < 16; lane++) {
		struct oracle_dependencies graph;
		if (!(lanes >> lane & 1))
			continue;
		round |=
		    oracle_recovery_circle(&trial->request, masked, fallback, lane, &graph) != 0;
		round |= has_cycle(&graph);
		oracle_dependencies_free(&graph);
	}
	return round;
}

static void try_masks(const struct trial *trial, bool *masked, uint64_t random)
{
	for (unsigned i = 0; i < 6; i++) {
		const uint32_t share = 1 + below(&random, 5);
		for (uint32_t port = 0; port < trial->fabric->port_count; port++)
			masked[port] = !below(&random, share);
		assert_false(goes_round(trial, masked, (enum oracle_fallback)(i % 3)));
	}
}

/* Property: fast recovery is refused if and only if a packet, or packets that wait for each other, could go
 * round with some set of masks: without any. With masks nothing goes round where it is allowed. */
static void proofs_are_those_of_the_oracle(void **state)
{
	static struct trial trial;
	unsigned count[3] = {0};

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		struct hd_error err = {""};
		uint64_t wrong;
		begin(&trial, number);
		bool *masked = calloc(trial.fabric->port_count, sizeof(*masked));
		int rc = hd_ar_recovery_prove(&trial.request, false, &err);
		int ports = hd_ar_plan_check(trial.request.plan, trial.fabric, trial.routes, NULL,
					     &wrong, NULL);
		assert_int_equal(rc == -EINVAL, ports == -EINVAL);
		if (rc)
			assert_non_null(strstr(err.text, "LID "));
		if (rc != -EINVAL)
			assert_int_equal(rc == -ELOOP, goes_round(&trial, masked, ORACLE_DROPS));
		if (!rc)
			try_masks(&trial, masked, number);
		count[rc == 0 ? 0 : rc == -ELOOP ? 1 : 2]++;
		free(masked);
		end(&trial);
	}
	print_message("proved %u, loops %u, ports that lead nowhere %u\n", count[0], count[1],
		      count[2]);
	assert_true(count[0] > TRIALS / 3 && count[1] > TRIALS / 10);
}

/* Property: the same for each set of masks of a small tree, with each fallback. */
static void no_mask_of_a_tree_goes_round(void **state)
{
	struct trial trial = {.fabric = generate("xgft", "children=1,2 parents=1,2")};
	bool masked[64] = {false};

	(void)state;
	trial.routes = route("dmodk", trial.fabric);
	const struct hd_ar_request asked = {.fabric = trial.fabric,
					    .routes = trial.routes,
					    .algorithm = HD_AR_TREE,
					    .mode = HD_AR_FREE};
	CHECK(hd_ar_plan_new(&asked, &trial.planned, NULL, &err));
	trial.request = (struct hd_ar_recovery_request){
	    .fabric = trial.fabric, .routes = trial.routes, .plan = trial.planned};
	CHECK(hd_ar_recovery_prove(&trial.request, true, &err));
	assert_int_equal(trial.fabric->isl_count, 8);
	assert_true(trial.fabric->port_count <= 64);
	for (unsigned mask = 0; mask < 256; mask++) {
		for (uint32_t link = 0; link < 8; link++)
			masked[hd_port_index(trial.fabric, hd_isl_from(trial.fabric, link),
					     trial.fabric->isl_port[link])] = mask >> link & 1;
		for (unsigned fallback = 0; fallback < 3; fallback++)
			assert_false(goes_round(&trial, masked, (enum oracle_fallback)fallback));
	}
	end(&trial);
}

/* Property: a group by which packets come back is refused, also where only switches send there. */
static void circles_are_refused(void **state)
{
	static struct trial trial;
	struct hd_error reason = {""};
	uint64_t random = 1;

	(void)state;
	memset(&trial, 0, sizeof(trial));
	trial.fabric = generate("xgft", "children=1,2 parents=1,2");
	trial.routes = route("dmodk", trial.fabric);
	draw_plan(&trial.loose, trial.fabric, trial.routes, &random);
	memset(trial.loose.lid_group, 0xFF, sizeof(trial.loose.lid_group));
	trial.request = (struct hd_ar_recovery_request){
	    .fabric = trial.fabric, .routes = trial.routes, .plan = &trial.loose.plan};
	CHECK(hd_ar_recovery_prove(&trial.request, false, &err));
	/* the spine may send back to the other leaf */
	const uint32_t leaf = trial.fabric->host_switch[0],
		       lid = trial.fabric->lid[trial.fabric->host_port[1]],
		       up = hd_fabric_find_isl(trial.fabric, leaf,
					       hd_routes_port(trial.routes, leaf, lid)),
		       spine = trial.fabric->isl_to[up];
	trial.loose.lid_group[spine][lid] = 0;
	for (uint32_t i = trial.fabric->isl_base[spine]; i < trial.fabric->isl_base[spine + 1]; i++)
		hd_port_set_add(&trial.loose.groups[spine][0].ports[0], trial.fabric->isl_port[i]);
	assert_int_equal(hd_ar_recovery_prove(&trial.request, true, &reason), -ELOOP);
	assert_non_null(strstr(reason.text, "packets can come back to the switch"));
	assert_non_null(strstr(reason.text, "switch '"));
	end(&trial);
}

/* ---- shares ---- */

static void set_dead(const struct trial *trial, const struct hd_ar_losses *losses, uint32_t loss,
		     bool *dead)
{
	const struct hd_fabric *fabric = trial->fabric;

	memset(dead, 0, fabric->port_count * sizeof(*dead));
	for (uint32_t i = losses->first[loss]; i < losses->first[loss + 1]; i++) {
		uint32_t link = losses->links[i];
		uint32_t port =
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
		dead[port] = dead[fabric->peer[port]] = true;
	}
}

/* Returns how often levels differ. */
static unsigned compare(const struct trial *trial, const struct hd_ar_losses *losses)
{
	const struct hd_fabric *fabric = trial->fabric;
	struct hd_ar_bridged *bridged = calloc(losses->count + 1, sizeof(*bridged));
	bool *before = calloc((size_t)fabric->switch_count * fabric->lid_count, sizeof(*before));
	bool *dead = calloc(fabric->port_count, sizeof(*dead));
	struct oracle_recovery recovery = {.request = &trial->request, .dead = dead};
	uint64_t pairs;
	unsigned differ = 0;

	CHECK(hd_ar_recovery_bridge(&trial->request, losses, bridged, &pairs, &err));
	assert_int_equal(pairs, oracle_recovery_pairs(&recovery, NULL, before));
	for (uint32_t loss = 0; loss < losses->count; loss++) {
		const uint64_t *delivered = bridged[loss].delivered;
		set_dead(trial, losses, loss, dead);
		for (unsigned level = 0; level < HD_AR_RECOVERY_LEVELS; level++) {
			recovery.level = (enum hd_ar_recovery)level;
			assert_int_equal(delivered[level],
					 oracle_recovery_pairs(&recovery, before, NULL));
		}
		assert_true(delivered[0] <= delivered[1]);
		assert_true(delivered[1] <= delivered[2] && delivered[2] <= pairs);
		differ += delivered[0] < delivered[1];
		differ += delivered[1] < delivered[2];
	}
	free(dead);
	free(before);
	free(bridged);
	return differ;
}

static unsigned compare_losses(struct trial *trial, uint64_t number)
{
	struct hd_arena arena = {0};
	struct hd_ar_losses losses;
	uint64_t random = number;
	uint8_t able[64];
	unsigned differ;

	for (uint32_t sw = 0; sw < trial->fabric->switch_count; sw++)
		able[sw] = (uint8_t)below(&random, 4) & 3;
	for (uint32_t sw = 0; sw < trial->fabric->switch_count; sw++)
		able[sw] = able[sw] > 2 ? 2 : able[sw];
	trial->request.able = number % 4 ? NULL : able;
	trial->request.silent_statics = number % 5 == 0;
	CHECK(hd_ar_losses_single(trial->fabric, &arena, &losses));
	differ = compare(trial, &losses);
	for (uint32_t cables = 2; cables <= 6; cables += 2) {
		CHECK(hd_ar_losses_sample(trial->fabric, 6, cables, number, &arena, &losses));
		differ += compare(trial, &losses);
	}
	hd_arena_release(&arena);
	return differ;
}

/* Property: the pairs that are delivered are those of the oracle: single losses, double ones and more, in mixed
 * fabrics too. */
static void shares_are_those_of_the_oracle(void **state)
{
	static struct trial trial;
	unsigned compared = 0, differ = 0;

	(void)state;
	for (uint64_t number = 0; number < TRIALS; number++) {
		begin(&trial, number);
		if (!hd_ar_recovery_prove(&trial.request, false, NULL)) {
			differ += compare_losses(&trial, number);
			compared++;
		}
		end(&trial);
	}
	print_message("compared %u plans, levels differ %u times\n", compared, differ);
	assert_true(compared > TRIALS / 3 && differ > TRIALS);
}

/* Property: in a tree of two leaves and two spines, the figures that a person counts. */
static void figures_of_a_small_tree(void **state)
{
	struct trial trial = {.fabric = generate("xgft", "children=2,2 parents=1,2")};
	struct hd_arena arena = {0};
	struct hd_ar_losses losses;
	struct hd_ar_bridged bridged[4];
	uint64_t pairs;

	(void)state;
	trial.routes = route("dmodk", trial.fabric);
	const struct hd_ar_request asked = {
	    .fabric = trial.fabric, .routes = trial.routes, .mode = HD_AR_FREE};
	CHECK(hd_ar_plan_new(&asked, &trial.planned, NULL, &err));
	trial.request = (struct hd_ar_recovery_request){
	    .fabric = trial.fabric, .routes = trial.routes, .plan = trial.planned};
	CHECK(hd_ar_losses_single(trial.fabric, &arena, &losses));
	assert_int_equal(losses.count, 4);
	for (unsigned silent = 0; silent < 2; silent++) {
		trial.request.silent_statics = silent;
		CHECK(hd_ar_recovery_bridge(&trial.request, &losses, bridged, &pairs, &err));
		assert_int_equal(pairs, 4);
		for (unsigned loss = 0; loss < 4; loss++) {
			/* both leaves may choose the spine without the cable */
			assert_int_equal(bridged[loss].delivered[HD_AR_RECOVERY_OFF], 0);
			/* the leaf without it does not, the other one does */
			assert_int_equal(bridged[loss].delivered[HD_AR_RECOVERY_LOCAL], 2);
			assert_int_equal(bridged[loss].delivered[HD_AR_RECOVERY_NOTICES],
					 silent ? 2 : 4);
		}
	}
	hd_arena_release(&arena);
	end(&trial);
}

/* Property: each cable is lost once, and samples are different cables, the same for the same seed. */
static void losses_are_cables(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3 parents=1,2");
	struct hd_arena arena = {0};
	struct hd_ar_losses one, again, other, all;

	(void)state;
	CHECK(hd_ar_losses_single(fabric, &arena, &one));
	assert_int_equal(one.count, fabric->isl_count / 2);
	CHECK(hd_ar_losses_sample(fabric, 50, 2, 7, &arena, &one));
	CHECK(hd_ar_losses_sample(fabric, 50, 2, 7, &arena, &again));
	CHECK(hd_ar_losses_sample(fabric, 50, 2, 8, &arena, &other));
	assert_int_equal(one.first[50], 100);
	assert_memory_equal(one.links, again.links, 100 * sizeof(*one.links));
	assert_memory_not_equal(one.links, other.links, 100 * sizeof(*one.links));
	for (uint32_t loss = 0; loss < 50; loss++)
		assert_true(one.links[2 * loss] != one.links[2 * loss + 1]);
	CHECK(hd_ar_losses_sample(fabric, 3, 1000, 7, &arena, &all));
	assert_int_equal(all.first[1], fabric->isl_count / 2);
	hd_arena_release(&arena);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(proofs_are_those_of_the_oracle),
	    cmocka_unit_test(no_mask_of_a_tree_goes_round),
	    cmocka_unit_test(circles_are_refused),
	    cmocka_unit_test(shares_are_those_of_the_oracle),
	    cmocka_unit_test(figures_of_a_small_tree),
	    cmocka_unit_test(losses_are_cables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
