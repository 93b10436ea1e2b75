/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The channel dependency graph against the slow one, on random dependencies of random fabrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cases.h"
#include "generate_testing.h"
#include "oracle_dependencies.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/fabric/dependencies.h>

#define ROUNDS CASES(40u, 10u)

static const struct {
	const char *kind, *settings;
} fabrics[] = {
    {"torus", "dims=4 hosts=1"},
    {"torus", "dims=3,3 hosts=1"},
    {"hypercube", "dimensions=3 hosts=1"},
    {"xgft", "children=2,3 parents=1,2 parallel=1,2"},
    {"irregular", "switches=12 radix=6 seed=5 hosts=1"},
    /* more than 64 links at a switch: rows of two words */
    {"xgft", "children=1,3 parents=1,1 parallel=1,35"},
};

#define FABRICS (sizeof(fabrics) / sizeof(fabrics[0]))

struct trial {
	struct hd_fabric *fabric;
	struct hd_arena arena;
	uint64_t random;
	struct oracle_dependencies slow, kept;
};

static void begin(struct trial *trial, uint64_t number)
{
	*trial = (struct trial){.random = number + 1};
	trial->fabric =
	    generate(fabrics[number % FABRICS].kind, fabrics[number % FABRICS].settings);
	assert_true(oracle_dependencies_init(&trial->slow, trial->fabric->isl_count));
	assert_true(oracle_dependencies_init(&trial->kept, trial->fabric->isl_count));
}

static void end(struct trial *trial)
{
	oracle_dependencies_free(&trial->slow);
	oracle_dependencies_free(&trial->kept);
	hd_arena_release(&trial->arena);
	hd_fabric_free(trial->fabric);
}

static uint32_t below(struct trial *trial, uint32_t limit)
{
	return (uint32_t)hd_random_below(&trial->random, limit);
}

/* A random link, and a random one that leaves the switch to which it leads. */
static void draw(struct trial *trial, uint32_t *link, uint32_t *next)
{
	const struct hd_fabric *fabric = trial->fabric;

	*link = below(trial, fabric->isl_count);
	uint32_t sw = fabric->isl_to[*link];
	*next =
	    fabric->isl_base[sw] + below(trial, fabric->isl_base[sw + 1] - fabric->isl_base[sw]);
}

static void assert_same(const struct trial *trial, const struct hd_dependencies *graph)
{
	const struct hd_fabric *fabric = trial->fabric;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t sw = fabric->isl_to[link];
		for (uint32_t next = fabric->isl_base[sw]; next < fabric->isl_base[sw + 1]; next++)
			assert_int_equal(hd_dependencies_has(graph, link, next),
					 oracle_dependencies_has(&trial->slow, link, next));
	}
}

/* A cycle without a shorter one through its first link, or none where the slow graph has none. */
static void assert_cycle(const struct trial *trial, const struct hd_dependencies *graph)
{
	uint32_t links = trial->fabric->isl_count, length = 0, cyclic = 0;
	uint32_t *cycle = calloc(links, sizeof(*cycle));

	assert_int_equal(hd_dependencies_find_cycle(graph, cycle, &length), 0);
	for (uint32_t link = 0; link < links; link++)
		cyclic += oracle_dependencies_cycle_length(&trial->slow, link) > 0;
	assert_int_equal(length > 0, cyclic > 0);
	for (uint32_t i = 0; i < length; i++)
		assert_true(
		    oracle_dependencies_has(&trial->slow, cycle[i], cycle[(i + 1) % length]));
	if (length)
		assert_int_equal(length, oracle_dependencies_cycle_length(&trial->slow, cycle[0]));
	free(cycle);
}

/* Every dependency leads to a later place, and both directions of the graph agree. */
static void assert_ordered(const struct hd_dependencies *graph)
{
	const struct hd_fabric *fabric = graph->fabric;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t sw = fabric->isl_to[link];
		uint32_t in = fabric->isl_reverse[link] - fabric->isl_base[sw];
		assert_int_equal(graph->link_at[graph->order[link]], link);
		for (uint32_t next = fabric->isl_base[sw]; next < fabric->isl_base[sw + 1];
		     next++) {
			uint64_t word = graph->blocks[(size_t)next * graph->words + in / 64];
			bool has = hd_dependencies_has(graph, link, next);
			assert_int_equal(word >> (in % 64) & 1, has);
			if (has)
				assert_true(graph->order[link] < graph->order[next]);
		}
	}
}

/* ---- collected graphs ---- */

/* What several graphs collected is in the one they are merged into, and its cycle is found. */
static void test_collected_graphs_add_up(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < ROUNDS * FABRICS; number++) {
		struct trial trial;
		struct hd_dependencies graphs[3];
		begin(&trial, number);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(
			    hd_dependencies_init(&graphs[i], trial.fabric, &trial.arena), 0);
		uint32_t count = below(&trial, 3 * trial.fabric->isl_count);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t link, next;
			draw(&trial, &link, &next);
			hd_dependencies_collect(&graphs[below(&trial, 3)], link, next);
			oracle_dependencies_collect(&trial.slow, link, next);
		}
		hd_dependencies_merge(&graphs[0], &graphs[1]);
		hd_dependencies_merge(&graphs[0], &graphs[2]);
		assert_same(&trial, &graphs[0]);
		assert_cycle(&trial, &graphs[0]);
		end(&trial);
	}
}

/* A set of next hops adds what its members would add one by one. */
static void test_a_set_of_next_hops_adds_each_member(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < ROUNDS * FABRICS; number++) {
		struct trial trial;
		struct hd_dependencies graph;
		uint64_t next_hops[4];
		begin(&trial, number);
		assert_int_equal(hd_dependencies_init(&graph, trial.fabric, &trial.arena), 0);
		for (uint32_t i = 0; i < trial.fabric->isl_count / 2; i++) {
			uint32_t link, next;
			memset(next_hops, 0, sizeof(next_hops));
			draw(&trial, &link, &next);
			uint32_t sw = trial.fabric->isl_to[link];
			for (uint32_t out = trial.fabric->isl_base[sw];
			     out < trial.fabric->isl_base[sw + 1]; out++) {
				uint32_t bit = out - trial.fabric->isl_base[sw];
				if (below(&trial, 4))
					continue;
				next_hops[bit / 64] |= UINT64_C(1) << (bit % 64);
				oracle_dependencies_collect(&trial.slow, link, out);
			}
			hd_dependencies_collect_set(&graph, link, next_hops);
		}
		assert_same(&trial, &graph);
		end(&trial);
	}
}

/* ---- ordered graphs ---- */

/* Adds random dependencies to both graphs and demands the same answers. */
static void add_some(struct trial *trial, struct hd_dependencies *graph, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t link, next;
		draw(trial, &link, &next);
		assert_int_equal(hd_dependencies_add(graph, link, next),
				 oracle_dependencies_add(&trial->slow, link, next));
	}
}

static struct hd_dependencies ordered(struct trial *trial,
				      struct hd_dependency_workspace *workspace)
{
	struct hd_dependencies graph;

	assert_int_equal(hd_dependency_workspace_init(workspace, trial->fabric, &trial->arena), 0);
	assert_int_equal(
	    hd_dependencies_init_ordered(&graph, trial->fabric, workspace, &trial->arena), 0);
	return graph;
}

/* A dependency is refused exactly when it would close a cycle; a cleared graph is a new one. */
static void test_refuses_what_closes_a_cycle(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < ROUNDS * FABRICS; number++) {
		struct trial trial;
		struct hd_dependency_workspace workspace;
		begin(&trial, number);
		struct hd_dependencies graph = ordered(&trial, &workspace);
		for (unsigned round = 0; round < 2; round++) {
			add_some(&trial, &graph, 4 * trial.fabric->isl_count);
			assert_same(&trial, &graph);
			assert_ordered(&graph);
			hd_dependencies_clear(&graph);
			oracle_dependencies_copy(&trial.slow, &trial.kept);
		}
		end(&trial);
	}
}

/* A batch that is undone leaves no trace: not what it added, and not what it refused. */
static void test_a_batch_can_be_undone(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < ROUNDS * FABRICS; number++) {
		struct trial trial;
		struct hd_dependency_workspace workspace;
		begin(&trial, number);
		struct hd_dependencies graph = ordered(&trial, &workspace);
		assert_int_equal(hd_dependencies_init_batches(&graph, &trial.arena), 0);
		add_some(&trial, &graph, below(&trial, trial.fabric->isl_count));
		for (unsigned batch = 0; batch < 8; batch++) {
			oracle_dependencies_copy(&trial.kept, &trial.slow);
			hd_dependencies_begin_batch(&graph);
			add_some(&trial, &graph, below(&trial, trial.fabric->isl_count));
			if (below(&trial, 2)) {
				hd_dependencies_keep_batch(&graph);
			} else {
				hd_dependencies_undo_batch(&graph);
				oracle_dependencies_copy(&trial.slow, &trial.kept);
			}
			assert_same(&trial, &graph);
			assert_ordered(&graph);
		}
		end(&trial);
	}
}

/* A collected graph becomes an ordered one where it has no cycle, and stays as it is otherwise. */
static void test_a_collected_graph_can_be_ordered(void **state)
{
	unsigned orders = 0, loops = 0;

	(void)state;
	for (uint64_t number = 0; number < ROUNDS * FABRICS; number++) {
		struct trial trial;
		struct hd_dependency_workspace workspace;
		struct hd_dependencies graph;
		begin(&trial, number);
		assert_int_equal(
		    hd_dependency_workspace_init(&workspace, trial.fabric, &trial.arena), 0);
		assert_int_equal(hd_dependencies_init(&graph, trial.fabric, &trial.arena), 0);
		bool cycle = false;
		for (uint32_t i = below(&trial, trial.fabric->isl_count); i--;) {
			uint32_t link, next;
			draw(&trial, &link, &next);
			hd_dependencies_collect(&graph, link, next);
			cycle |= !oracle_dependencies_add(&trial.slow, link, next);
			oracle_dependencies_collect(&trial.slow, link, next);
		}
		int rc = hd_dependencies_order(&graph, &workspace, &trial.arena);
		assert_int_equal(rc, cycle ? -ELOOP : 0);
		assert_same(&trial, &graph);
		if (!rc) {
			assert_ordered(&graph);
			add_some(&trial, &graph, 2 * trial.fabric->isl_count);
			assert_same(&trial, &graph);
			assert_ordered(&graph);
		} else {
			assert_null(graph.workspace);
		}
		orders += !rc;
		loops += rc == -ELOOP;
		end(&trial);
	}
	assert_true(orders > 10 && loops > 10);
}

/* Paths that climb, then descend, never make a search necessary. */
static void test_paths_up_and_down_need_no_search(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3,2 parents=1,2,2");
	struct hd_dependency_workspace workspace;
	struct hd_dependencies graph;
	struct hd_arena arena = {0};
	uint32_t *level = calloc(fabric->switch_count, sizeof(*level)), count = 0;

	(void)state;
	assert_int_equal(hd_fabric_levels(fabric, level, NULL), 0);
	assert_int_equal(hd_dependency_workspace_init(&workspace, fabric, &arena), 0);
	assert_int_equal(hd_dependencies_init_ordered(&graph, fabric, &workspace, &arena), 0);
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t from = hd_isl_from(fabric, link), via = fabric->isl_to[link];
		for (uint32_t next = fabric->isl_base[via]; next < fabric->isl_base[via + 1];
		     next++) {
			bool descends = level[via] < level[from];
			if (descends && level[fabric->isl_to[next]] > level[via])
				continue;
			assert_true(hd_dependencies_add(&graph, link, next));
			count++;
		}
	}
	assert_true(count > fabric->isl_count);
	assert_int_equal(workspace.searched, 0);
	free(level);
	hd_arena_release(&arena);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_collected_graphs_add_up),
	    cmocka_unit_test(test_a_set_of_next_hops_adds_each_member),
	    cmocka_unit_test(test_refuses_what_closes_a_cycle),
	    cmocka_unit_test(test_a_batch_can_be_undone),
	    cmocka_unit_test(test_a_collected_graph_can_be_ordered),
	    cmocka_unit_test(test_paths_up_and_down_need_no_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
