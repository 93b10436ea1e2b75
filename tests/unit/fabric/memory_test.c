/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Making, changing, measuring, checking and writing fabrics and tables, with each allocation
 * failing in turn: always -ENOMEM, and nothing half done.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check_samples.h"
#include "generate_testing.h"
#include "short_memory.h"

#include <heddle/fabric/dependencies.h>
#include <heddle/fabric/regular_tree.h>

/* ---- fabrics ---- */

/* A call that makes a fabric. */
struct making {
	const struct hd_generator *generator;
	const struct hd_options *options;
	const struct hd_fabric *from;
	struct hd_fabric *expected, *made;
};

static void making_settle(void *context, int rc)
{
	struct making *making = context;

	assert_int_equal(!rc, making->made != NULL);
	if (!rc && making->expected)
		assert_true(same_fabric(making->made, making->expected));
	hd_fabric_free(making->made);
}

static void try_making(const char *what, struct making *making,
		       int (*call)(void *context, struct hd_error *err))
{
	making->expected = NULL;
	assert_int_equal(call(making, NULL), 0);
	making->expected = making->made;
	assert_true(short_memory_try(
			&(struct short_memory_case){what, making, call, making_settle, 0}) > 1);
	hd_fabric_free(making->expected);
}

static int generate_call(void *context, struct hd_error *err)
{
	struct making *making = context;

	making->made = NULL;
	return making->generator->generate(making->options, &making->made, err);
}

/* The smallest that has all that the generator can do. */
static const struct {
	const char *name, *settings;
} sizes[] = {
    {"xgft", "children=2,2 parents=1,2"},
    {"kary-ntree", "k=2 n=2"},
    {"rlft", "radix=4"},
    {"torus", "dims=3,3"},
    {"mesh", "dims=3,2"},
    {"hypercube", "dimensions=3"},
    {"hyperx", "dims=3,2"},
    {"slim-fly", "q=3 hosts=1"},
    {"dragonfly", "switches=2 global-links=1 hosts=1"},
    {"jellyfish", "switches=8 degree=2"},
    {"irregular", "switches=6 radix=6"},
    {"dragonfly-plus", "islands=3 leaves=2 spines=2 hosts=1"},
    {"directors", "leaves=4 hosts=1 directors=1 uplinks=1 line-chips=2 outside=2 spine-chips=2"},
    {"rail-tree", "machines=2 adapters=2 spines=1"},
    {"interconnect", "leaves=2 hosts=1 middles=1 uplinks=1 routers=1 sideways=1"},
};

static const char *settings_of(const char *generator)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (!strcmp(sizes[i].name, generator))
			return sizes[i].settings;
	fail_msg("no small size for generator %s is known here", generator);
	return NULL;
}

/* Property: every generator. */
static void generators(void **state)
{
	unsigned count;

	(void)state;
	const struct hd_generator *const *all = hd_generators(&count);
	for (unsigned i = 0; i < count; i++) {
		struct hd_options *options = hd_options_new(all[i]->options, all[i]->option_count);
		char *copy = strdup(settings_of(all[i]->name)), *rest = copy;
		for (char *pair; (pair = strsep(&rest, " "));)
			assert_int_equal(hd_options_set_pair(options, pair, NULL), 0);
		struct making making = {.generator = all[i], .options = options};
		try_making(all[i]->name, &making, generate_call);
		free(copy);
		hd_options_free(options);
	}
}

static int remove_links_call(void *context, struct hd_error *err)
{
	struct making *making = context;

	making->made = NULL;
	return hd_fabric_remove_links(making->from, 20, 1, &making->made, err);
}

static int assign_lids_call(void *context, struct hd_error *err)
{
	struct making *making = context;

	making->made = NULL;
	return hd_fabric_assign_lids(making->from, 2, &making->made, err);
}

/* Places are copied: that such a copy fails is found in the end. */
static int build_call(void *context, struct hd_error *err)
{
	struct making *making = context;
	struct hd_builder *builder = hd_builder_new();
	struct hd_node_spec spec = {.type = HD_SWITCH, .guid = 1, .port_count = 2};
	uint32_t handle;

	making->made = NULL;
	if (!builder)
		return hd_error_no_memory(err);
	hd_builder_at(builder, "first", 1);
	int rc = hd_builder_add_node(builder, &spec, &handle, err);
	hd_builder_at(builder, "second", 2);
	if (!rc)
		rc = hd_builder_build(builder, &making->made, err);
	hd_builder_free(builder);
	return rc;
}

/* Property: fabrics made from others, and new ones with the places of their nodes. */
static void changed_fabrics(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,2 parents=1,2");
	struct making making = {.from = fabric};

	(void)state;
	try_making("removing links", &making, remove_links_call);
	try_making("assigning LIDs", &making, assign_lids_call);
	try_making("building", &making, build_call);
	hd_fabric_free(fabric);
}

/* ---- measures ---- */

struct measuring {
	const struct hd_fabric *fabric;
	const struct hd_routes *tables;
	const struct hd_routes *rebased; /* when memory is plenty */
	void *numbers; /* of the caller, long enough for any measure */
	struct hd_routes *routes;
	struct hd_path_set *paths;
	bool regular;
};

static void measuring_settle(void *context, int rc)
{
	struct measuring *measuring = context;

	if (measuring->routes && !rc)
		assert_true(hd_routes_equal(measuring->routes, measuring->rebased));
	hd_routes_free(measuring->routes);
	hd_path_set_free(measuring->paths);
	measuring->routes = NULL;
	measuring->paths = NULL;
}

static int distances_call(void *context, struct hd_error *err)
{
	struct measuring *measuring = context;

	return hd_fabric_distances(measuring->fabric, 1, measuring->numbers, err);
}

static int levels_call(void *context, struct hd_error *err)
{
	struct measuring *measuring = context;

	return hd_fabric_levels(measuring->fabric, measuring->numbers, err);
}

static int components_call(void *context, struct hd_error *err)
{
	struct measuring *measuring = context;

	return hd_tree_components(measuring->fabric, measuring->numbers) ? hd_error_no_memory(err)
									 : 0;
}

static int rebase_call(void *context, struct hd_error *err)
{
	struct measuring *measuring = context;

	return hd_routes_rebase(measuring->fabric, measuring->tables, measuring->fabric,
				&measuring->routes, err);
}

static int paths_call(void *context, struct hd_error *err)
{
	struct measuring *measuring = context;
	const struct hd_fabric *fabric = measuring->fabric;

	return hd_path_set_new(fabric, measuring->tables, fabric->host_port[0],
			       fabric->host_port[fabric->host_count - 1], &measuring->paths, err);
}

/* The levels of a tree, and the labels of a regular one. */
static int label_call(void *context, struct hd_error *err)
{
	struct measuring *measuring = context;
	const struct hd_tree_facts facts = {NULL, NULL};
	struct hd_arena arena = {0};
	struct hd_tree tree;
	struct hd_regular_tree labels;
	int rc = hd_tree_find(measuring->fabric, &facts, 1, &arena, &tree, err);

	if (!rc) {
		rc = hd_regular_tree_label(measuring->fabric, &tree, &arena, &labels);
		if (rc == -ENOMEM)
			hd_error_no_memory(err);
		else
			assert_int_equal(rc, measuring->regular ? 0 : HD_TREE_IRREGULAR);
	}
	hd_arena_release(&arena);
	return rc;
}

/* An empty graph of dependencies that becomes an ordered one, with batches. */
static int ordering_call(void *context, struct hd_error *err)
{
	struct measuring *measuring = context;
	struct hd_arena arena = {0};
	struct hd_dependency_workspace workspace;
	struct hd_dependencies graph;
	int rc = hd_dependency_workspace_init(&workspace, measuring->fabric, &arena);

	if (!rc)
		rc = hd_dependencies_init(&graph, measuring->fabric, &arena);
	if (!rc)
		rc = hd_dependencies_order(&graph, &workspace, &arena);
	if (!rc)
		rc = hd_dependencies_init_batches(&graph, &arena);
	hd_arena_release(&arena);
	return rc == -ENOMEM ? hd_error_no_memory(err) : rc;
}

static void try_measures(struct hd_fabric *fabric, bool regular)
{
	uint64_t random = 1;
	struct hd_routes *tables = sample_shortest(fabric, &random);
	struct measuring measuring = {
	    .fabric = fabric,
	    .tables = tables,
	    .numbers = calloc(fabric->switch_count, fabric->switch_count * sizeof(uint32_t)),
	    .regular = regular};

	const struct {
		const char *what;
		int (*call)(void *context, struct hd_error *err);
		int expected;
	} measures[] = {
	    {"distances", distances_call, 0},
	    {"levels", levels_call, 0},
	    {"components", components_call, 0},
	    {"rebasing", rebase_call, 0},
	    {"paths", paths_call, 0},
	    {"ordering dependencies", ordering_call, 0},
	    {"labels", label_call, regular ? 0 : HD_TREE_IRREGULAR},
	};

	struct hd_routes *rebased = NULL;

	sample_service_levels(tables, 3, &random);
	assert_int_equal(hd_routes_rebase(fabric, tables, fabric, &rebased, NULL), 0);
	measuring.rebased = rebased;
	assert_non_null(measuring.numbers);
	for (size_t i = 0; i < sizeof(measures) / sizeof(*measures); i++) {
		struct short_memory_case measure = {measures[i].what, &measuring, measures[i].call,
						    measuring_settle, measures[i].expected};
		assert_true(short_memory_try(&measure) > 0);
	}
	free(measuring.numbers);
	hd_routes_free(rebased);
	hd_routes_free(tables);
	hd_fabric_free(fabric);
}

/* Property: whatever is measured; an irregular tree is never taken for short memory. */
static void measures(void **state)
{
	struct hd_fabric *fabric = NULL, *whole = sample_tree(4, 2, 2);

	(void)state;
	assert_int_equal(hd_fabric_remove_links(whole, 40, 1, &fabric, NULL), 0);
	hd_fabric_free(whole);
	try_measures(fabric, false);
	try_measures(sample_tree(4, 2, 2), true);
}

/* ---- the checker ---- */

struct checking {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	struct hd_check_options options;
	struct hd_check_report *expected, *report;
};

static int check_call(void *context, struct hd_error *err)
{
	struct checking *checking = context;

	checking->report = NULL;
	return hd_check(checking->fabric, checking->routes, &checking->options, &checking->report,
			err);
}

static void check_settle(void *context, int rc)
{
	struct checking *checking = context;
	const struct hd_check_report *now = checking->report, *before = checking->expected;

	assert_int_equal(!rc, now != NULL);
	if (!rc) {
		assert_int_equal(now->fault_count, before->fault_count);
		assert_int_equal(now->credit_loops, before->credit_loops);
		assert_int_equal(now->paths, before->paths);
		assert_int_equal(now->flows_max, before->flows_max);
	}
	hd_check_report_free(checking->report);
}

/* Consumes fabric and tables. */
static void try_check(const char *what, struct hd_fabric *fabric, struct hd_routes *routes)
{
	struct checking checking = {.fabric = fabric, .routes = routes};
	struct hd_check_report *expected = NULL;

	assert_int_equal(check_call(&checking, NULL), 0);
	checking.expected = expected = checking.report;
	assert_true(short_memory_try(&(struct short_memory_case){what, &checking, check_call,
								 check_settle, 0}) > 1);
	checking.options.threads = 3;
	short_memory_begin(0, SHORT_MEMORY_ONCE);
	int rc = check_call(&checking, NULL);
	struct short_memory_count allocations = short_memory_end();
	check_settle(&checking, rc);
	assert_int_equal(allocations.others, 0);
	hd_check_report_free(expected);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: the check, of tables with credit loops on several lanes and of nonsense; its workers
 * allocate nothing. */
static void checks(void **state)
{
	uint64_t random = 1;

	(void)state;
	struct hd_fabric *fabric = sample_ring(5);
	struct hd_routes *routes = sample_shortest(fabric, &random);
	try_check("credit loop", fabric, routes);
	fabric = sample_torus(4, 4);
	routes = sample_shortest(fabric, &random);
	sample_service_levels(routes, 2, &random);
	try_check("credit loops on lanes", fabric, routes);
	fabric = sample_tree(4, 2, 2);
	routes = sample_nonsense(fabric, &random);
	try_check("nonsense", fabric, routes);
}

struct mft_checking {
	const struct hd_fabric *fabric;
	struct hd_mft_group group;
	uint32_t fault_count;
	struct hd_mft_report *report;
};

static int mft_call(void *context, struct hd_error *err)
{
	struct mft_checking *checking = context;

	checking->report = NULL;
	return hd_mft_check(checking->fabric, &checking->group, &checking->report, err);
}

static void mft_settle(void *context, int rc)
{
	struct mft_checking *checking = context;

	assert_int_equal(!rc, checking->report != NULL);
	if (!rc)
		assert_int_equal(checking->report->fault_count, checking->fault_count);
	hd_mft_report_free(checking->report);
}

/* Property: the check of multicast tables that are all wrong, so that its list of faults grows. */
static void multicast_checks(void **state)
{
	struct hd_fabric *fabric = sample_tree(4, 2, 2);
	struct hd_mft_entry entries[6] = {{0}};
	struct mft_checking checking = {
	    .fabric = fabric, .group = {.entries = entries, .entry_count = 6, .source = HD_NONE}};

	(void)state;
	assert_int_equal(fabric->switch_count, 6);
	for (uint32_t sw = 0; sw < 6; sw++)
		entries[sw] = (struct hd_mft_entry){.mlid = 0xC000, .sw = sw, .ports = {{0x1E}}};
	assert_int_equal(mft_call(&checking, NULL), 0);
	checking.fault_count = checking.report->fault_count;
	hd_mft_report_free(checking.report);
	assert_true(checking.fault_count > 0);
	struct short_memory_case check = {"multicast", &checking, mft_call, mft_settle, 0};
	assert_true(short_memory_try(&check) > 1);
	hd_fabric_free(fabric);
}

/* ---- writers ---- */

typedef int write_fn(const struct hd_fabric *fabric, const struct hd_routes *routes, FILE *stream,
		     struct hd_error *err);

struct writing {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	write_fn *write;
	FILE *stream;
};

static int write_call(void *context, struct hd_error *err)
{
	struct writing *writing = context;

	return writing->write(writing->fabric, writing->routes, writing->stream, err);
}

static void write_settle(void *context, int rc)
{
	(void)context;
	(void)rc;
}

static int write_dot(const struct hd_fabric *fabric, const struct hd_routes *routes, FILE *stream,
		     struct hd_error *err)
{
	(void)routes;
	return hd_fabric_write_dot(fabric, stream, err);
}

/* Property: all writers that allocate. */
static void writers(void **state)
{
	static write_fn *const functions[] = {write_dot, hd_routes_write_dump,
					      hd_routes_write_levels, hd_routes_write_psl};
	uint64_t random = 1;
	struct hd_fabric *fabric = sample_tree(4, 2, 2);
	struct hd_routes *routes = sample_shortest(fabric, &random);
	struct writing writing = {fabric, routes, NULL, fopen("/dev/null", "w")};

	(void)state;
	assert_non_null(writing.stream);
	sample_service_levels(routes, 3, &random);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		writing.write = functions[i];
		assert_true(short_memory_try(&(struct short_memory_case){
				"writer", &writing, write_call, write_settle, 0}) > 0);
	}
	fclose(writing.stream);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(generators),	cmocka_unit_test(changed_fabrics),
	    cmocka_unit_test(measures),		cmocka_unit_test(checks),
	    cmocka_unit_test(multicast_checks), cmocka_unit_test(writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
