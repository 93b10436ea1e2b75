/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every engine, while each of its allocations fails in turn: it says that memory is short, and
 * gives no other reason. It computes no other tables, does not write through NULL, and (under the
 * address sanitizer) leaks nothing.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "short_memory.h"

#include <heddle/engines/lanes.h>
#include <heddle/engines/multicast.h>
#include <heddle/engines/multipath.h>

/* ---- routing ---- */

struct trial {
	const struct hd_engine *engine;
	struct hd_route_request request;
	struct hd_routes *expected; /* when memory is not short; NULL: the engine refuses */
	struct hd_routes *routes;
};

static int route_call(void *context, struct hd_error *err)
{
	struct trial *trial = context;

	trial->routes = NULL;
	return hd_engine_route(trial->engine, &trial->request, &trial->routes, err);
}

static void route_settle(void *context, int rc)
{
	struct trial *trial = context;

	assert_int_equal(!rc, trial->routes != NULL);
	if (!rc)
		assert_true(hd_routes_equal(trial->routes, trial->expected));
	hd_routes_free(trial->routes);
}

static void swallow(void *context, enum hd_log_level level, const char *line)
{
	(void)context;
	(void)level;
	(void)line;
}

/* Options of the engine from "name=value name=value"; NULL when it does not take them all. */
static struct hd_options *options_of(const struct hd_engine *engine, const char *settings)
{
	struct hd_options *options = hd_engine_options(engine);
	char *copy = strdup(settings), *rest = copy;
	int rc = 0;

	assert_non_null(options);
	for (char *pair; !rc && (pair = strsep(&rest, " "));)
		rc = hd_options_set_pair(options, pair, NULL);
	free(copy);
	if (!rc)
		return options;
	hd_options_free(options);
	return NULL;
}

/* A routing by auto has those of other engines in it, which have cases of their own, and takes long. */
#define AUTO_STEP 13

/* Routes with one engine, if it has these options, or with its defaults where settings is NULL.
 * Returns false if it does not have them. */
static bool try_engine(const struct hd_engine *engine, const char *what, const char *settings,
		       const struct hd_route_request *request)
{
	static const struct hd_log log = {swallow, NULL};
	struct trial trial = {.engine = engine, .request = *request};
	struct hd_options *options = settings ? options_of(engine, settings) : NULL;
	char text[200];

	if (settings && !options)
		return false;
	trial.request.options = options;
	trial.request.log = &log;
	snprintf(text, sizeof(text), "%s %s: %s", engine->name, settings ? settings : "", what);
	int rc = route_call(&trial, NULL);
	trial.expected = trial.routes;
	unsigned step = strcmp(engine->name, "auto") == 0 ? AUTO_STEP : 1;
	uint64_t allocations = short_memory_try_some(
	    &(struct short_memory_case){text, &trial, route_call, route_settle, rc}, step);
	assert_true(allocations > 1);
	hd_routes_free(trial.expected);
	hd_options_free(options);
	return true;
}

static void try_engines(const char *what, const char *settings,
			const struct hd_route_request *request)
{
	unsigned count, tried = 0;
	const struct hd_engine *const *engines = hd_engines(&count);

	for (unsigned i = 0; i < count; i++)
		tried += try_engine(engines[i], what, settings, request);
	assert_true(tried);
}

static void try_fabric(const char *what, struct hd_fabric *fabric)
{
	try_engines(what, NULL, &(struct hd_route_request){.fabric = fabric});
	hd_fabric_free(fabric);
}

#define TREE "children=2,2,2 parents=1,2,2"
#define TORUS "dims=4,4 hosts=1"
#define IRREGULAR "switches=8 radix=8 hosts=2 seed=3 cycles=3"

/* Two tops have a host each: they count as leaves first, which leads nowhere. */
static struct hd_fabric *tree_found_at_second_try(void)
{
	struct hd_fabric *fabric = with_free_ports(generate("xgft", TREE), 1);
	unsigned added = 0;

	for (uint32_t sw = 0; added < 2 && sw < fabric->switch_count; sw++)
		if (level_named(fabric, sw) == 3) {
			fabric = with_host_at(fabric, sw, 0x900000 + 16 * sw);
			added++;
		}
	return fabric;
}

/* Property: on fabrics of all kinds. */
static void fabrics_of_all_kinds(void **state)
{
	(void)state;
	try_fabric("regular tree", generate("xgft", TREE));
	try_fabric("regular tree, LMC 1", with_lmc(generate("xgft", TREE), 1));
	try_fabric("damaged tree", without_link(generate("xgft", TREE), 5));
	try_fabric("tree found at the second try", tree_found_at_second_try());
	try_fabric("tree with aggregation nodes", with_aggregation(generate("xgft", TREE)));
	try_fabric("damaged tree with aggregation nodes",
		   without_link(with_aggregation(generate("xgft", TREE)), 5));
	try_fabric("torus with aggregation nodes", with_aggregation(generate("torus", TORUS)));
	try_fabric("irregular fabric", generate("irregular", IRREGULAR));
	try_fabric("irregular fabric, LMC 2", with_lmc(generate("irregular", IRREGULAR), 2));
	try_fabric("torus", generate("torus", TORUS));
}

/* Property: on random fabrics, most of them damaged. */
static void random_fabrics(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 3 * KINDS; number++) {
		char recipe[200];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		try_fabric(recipe, fabric);
	}
}

/* Property: with every option that selects other code of an engine. */
static void options_of_all_engines(void **state)
{
	static const char *const settings[] = {
	    "method=balanced", "root=best:2",	   "cost=rate",	 "mode=cycles match=all",
	    "mode=offsets",    "mode=layers",	   "mode=auto",	 "spread=all",
	    "deadlock=drop",   "vls=2 spread=all", "links=tree", "mode=cycles indicator=yes",
	};
	struct hd_fabric *fabric = with_lmc(generate("irregular", IRREGULAR), 1);

	(void)state;
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		try_engines("irregular fabric, LMC 1", settings[i],
			    &(struct hd_route_request){.fabric = fabric});
	hd_fabric_free(fabric);
}

/* Property: with few virtual lanes, so that LIDs share paths or the engine refuses. */
static void scarce_lanes(void **state)
{
	struct hd_fabric *fabric = with_lmc(generate("torus", TORUS), 1);

	(void)state;
	for (unsigned lanes = 1; lanes <= 3; lanes++)
		try_engines("torus with few lanes", NULL,
			    &(struct hd_route_request){.fabric = fabric, .lanes = lanes});
	hd_fabric_free(fabric);
}

/*
 * Routes again after a link is lost, with the tables before it in place and as the baseline. Each
 * engine has its own tables in place, and then those of another engine.
 */
static void try_again(const char *what, const char *settings, struct hd_fabric *fabric,
		      unsigned lanes)
{
	struct hd_fabric *after = without_link(copy_of(fabric), 3);
	unsigned count, tried = 0;
	const struct hd_engine *const *engines = hd_engines(&count);

	for (unsigned i = 0; i < count; i++) {
		struct hd_routes *routes = NULL, *previous;
		struct hd_route_request request = {.fabric = fabric, .lanes = lanes};
		if (hd_engine_route(engines[i], &request, &routes, NULL))
			continue; /* not a fabric for this engine */
		assert_int_equal(hd_routes_rebase(fabric, routes, after, &previous, NULL), 0);
		request = (struct hd_route_request){
		    .fabric = after, .previous = previous, .baseline = previous, .lanes = lanes};
		tried += try_engine(engines[i], what, settings, &request);
		tried += try_engine(engines[(i + 1) % count], what, settings, &request);
		hd_routes_free(previous);
		hd_routes_free(routes);
	}
	assert_true(tried);
	hd_fabric_free(after);
	hd_fabric_free(fabric);
}

/* Property: with the engine's own tables in place. */
static void tables_in_place(void **state)
{
	(void)state;
	try_again("tree after a lost link", NULL, with_lmc(generate("xgft", TREE), 1), 0);
	try_again("irregular fabric after a lost link", NULL,
		  with_lmc(generate("irregular", IRREGULAR), 1), 0);
	try_again("tree with aggregation nodes after a lost link", NULL,
		  with_aggregation(generate("xgft", TREE)), 0);
	try_again("torus after a lost link", NULL, generate("torus", TORUS), 2);
	try_again("fabric with too many cycles after a lost link", "deadlock=drop",
		  with_lmc(generate("torus", "dims=3,3 parallel=2"), 1), 0);
	try_again("HyperX after a lost link", "mode=layers",
		  with_lmc(generate("hyperx", "dims=3,2 hosts=1"), 1), 0);
}

/* Property: with a policy that has everything. */
static void policies(void **state)
{
	struct hd_fabric *fabric = generate("xgft", TREE);
	uint64_t roots[8], hosts[8];
	uint32_t root_count = 0;

	(void)state;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level_named(fabric, sw) == 3)
			roots[root_count++] = fabric->node_guid[sw];
	for (uint32_t host = 0; host < fabric->host_count; host++)
		hosts[host] = host_guid(fabric, host);
	const struct hd_port_ref weights[] = {{roots[0], 1, 3}}, ignored[] = {{roots[1], 1, 0}};
	const struct hd_policy all = {.root_guids = roots,
				      .root_count = root_count,
				      .cn_guids = hosts,
				      .cn_count = 7,
				      .io_guids = hosts + 7,
				      .io_count = 1,
				      .order_guids = hosts + 3,
				      .order_count = 3,
				      .hop_weights = weights,
				      .hop_weight_count = 1,
				      .ignored_ports = ignored,
				      .ignored_port_count = 1,
				      .max_reverse_hops = 1},
			       order = {.order_guids = hosts + 3, .order_count = 3};
	try_engines("tree with a full policy", NULL,
		    &(struct hd_route_request){.fabric = fabric, .policy = &all});
	try_engines("tree with an order", NULL,
		    &(struct hd_route_request){.fabric = fabric, .policy = &order});
	hd_fabric_free(fabric);
}

/* Property: the workers of an engine allocate nothing, so it is enough to fail the allocations of
 * one thread. */
static void workers_allocate_nothing(void **state)
{
	struct hd_fabric *fabric = with_lmc(generate("xgft", "children=6,6,6 parents=1,6,6"), 1);
	unsigned count;

	(void)state;
	const struct hd_engine *const *engines = hd_engines(&count);
	for (unsigned i = 0; i < count; i++) {
		struct trial trial = {
		    .engine = engines[i],
		    .request = {.fabric = fabric, .threads = 4},
		};
		if (engines[i]->needs_grid)
			continue;
		short_memory_begin(0, SHORT_MEMORY_ONCE);
		int rc = route_call(&trial, NULL);
		struct short_memory_count allocations = short_memory_end();
		assert_int_equal(rc, 0);
		assert_true(allocations.own > 0);
		assert_int_equal(allocations.others, 0);
		hd_routes_free(trial.routes);
	}
	hd_fabric_free(fabric);
}

/* ---- cycles ---- */

struct cycling {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct hd_cycles *cycles;
	struct hd_path_table *tables; /* [switch_count] */
};

static int cycles_call(void *context, struct hd_error *err)
{
	struct cycling *cycling = context;

	cycling->cycles = NULL;
	int rc = hd_cycles_find(cycling->fabric, 0, 2, &cycling->cycles, err);
	return rc ? rc
		  : hd_path_tables_measure(cycling->fabric, cycling->cycles, cycling->routes,
					   cycling->tables, err);
}

static void cycles_settle(void *context, int rc)
{
	struct cycling *cycling = context;

	if (!rc)
		assert_int_equal(cycling->cycles->kept, 2);
	hd_cycles_free(cycling->cycles);
}

/* Property: finding cycles and measuring tables by them. */
static void cycles_and_path_tables(void **state)
{
	struct hd_fabric *fabric = with_lmc(generate("irregular", IRREGULAR), 2);
	struct hd_routes *routes = route("spf", "", fabric);
	struct cycling cycling = {fabric, routes, NULL,
				  calloc(fabric->switch_count, sizeof(struct hd_path_table))};

	(void)state;
	assert_non_null(cycling.tables);
	short_memory_try(
	    &(struct short_memory_case){"cycles", &cycling, cycles_call, cycles_settle, 0});
	free(cycling.tables);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* ---- multicast ---- */

struct planning {
	const struct hd_fabric *fabric;
	const struct hd_multicast_group *group;
	struct hd_multicast *planner;
	struct hd_multicast_tree *tree;
};

static int plan_call(void *context, struct hd_error *err)
{
	struct planning *planning = context;

	planning->planner = NULL;
	planning->tree = NULL;
	int rc = hd_multicast_new(planning->fabric, NULL, &planning->planner, err);
	return rc ? rc
		  : hd_multicast_plan(planning->planner, planning->group, &planning->tree, err);
}

/* A plan that lacked memory leaves the planner as it was: the next one finds the whole tree. */
static void plan_settle(void *context, int rc)
{
	struct planning *planning = context;

	if (rc && planning->planner)
		assert_int_equal(
		    hd_multicast_plan(planning->planner, planning->group, &planning->tree, NULL),
		    0);
	if (planning->planner) {
		assert_int_equal(planning->tree->left_out, 0);
		assert_true(planning->tree->branch_count > 0);
	}
	free(planning->tree);
	hd_multicast_free(planning->planner);
}

/* Property: planning multicast trees, with many senders and with one. */
static void multicast_plans(void **state)
{
	struct hd_fabric *fabric = generate("xgft", TREE);

	(void)state;
	for (int sole = 0; sole < 2; sole++) {
		struct hd_multicast_group group = {fabric->host_port, fabric->host_count,
						   sole ? fabric->host_port[1] : HD_NONE};
		struct planning planning = {.fabric = fabric, .group = &group};
		short_memory_try(
		    &(struct short_memory_case){"multicast", &planning, plan_call, plan_settle, 0});
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fabrics_of_all_kinds),	cmocka_unit_test(random_fabrics),
	    cmocka_unit_test(options_of_all_engines),	cmocka_unit_test(scarce_lanes),
	    cmocka_unit_test(tables_in_place),		cmocka_unit_test(policies),
	    cmocka_unit_test(workers_allocate_nothing), cmocka_unit_test(cycles_and_path_tables),
	    cmocka_unit_test(multicast_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
