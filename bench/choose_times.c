/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-choose [ALLOCATIONS [TRIES]]
 *
 * How many keys a job needs, and how many of its flows share a link, on the hosts that Slurm takes, on
 * the same ones with another order of ranks, and on those that hd_key_choose() takes. The tree is
 * XGFT(3; 12,12,12; 1,12,12) of 1,728 hosts with the tables of dmodk. In each allocation a share of
 * the hosts is busy (25, 50, 75 or 90%), one by one at random in every second one, and otherwise as
 * jobs of 1 to 48 hosts side by side. A job of 16 to 128 hosts, one rank on each, takes free ones.
 *
 * Slurm's choices, modelled on its plugin select/cons_tres, with nodes in the order of the leaves:
 *   consecutive	the smallest run of free nodes that is large enough; else the largest, and so on
 *   weights		a weight for each leaf: the first free nodes
 *   tree		topology/tree: the lowest switch with enough nodes, and of its leaves the smallest
 *			that is large enough; else the largest, and so on
 * Ranks are in the order of nodes, as with --distribution=block.
 *
 * Prints for each pattern and choice: mean keys a job, jobs that need none, the mean and the largest
 * of the most flows on a link, leaves, and the milliseconds of a choice.
 */
#include "stopwatch.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/keyd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS 1728u
#define OF_LEAF 12u
#define OF_POD 144u
#define LARGEST 128u

enum choice { CONSECUTIVE, WEIGHTS, TREE, REORDERED, CHOSEN, CHOICES };

static const char *const choice_names[CHOICES] = {"consecutive", "weights", "tree",
						  "tree, --reorder", "--choose"};
static const char *const pattern_names[] = {"ring", "stencil2d", "alltoall"};

#define PATTERNS (sizeof(pattern_names) / sizeof(pattern_names[0]))

struct sums {
	uint64_t keys, none, contention, leaves;
	uint32_t most;
	double ms;
};

struct bench {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	uint64_t random;
	uint32_t tries;
	bool busy[HOSTS];
	uint32_t free[HOSTS], free_count, size;
	uint32_t taken[LARGEST], count; /* by the present choice of Slurm */
	struct sums sums[PATTERNS][CHOICES];
	uint64_t phases[PATTERNS];
};

static uint32_t draw(struct bench *bench, uint32_t bound)
{
	return (uint32_t)hd_random_below(&bench->random, bound);
}

/* ---- busy hosts ---- */

static void make_busy(struct bench *bench, uint32_t wanted, bool jobs)
{
	uint32_t busy = 0;

	memset(bench->busy, 0, sizeof(bench->busy));
	while (busy < wanted) {
		uint32_t at = draw(bench, HOSTS), length = jobs ? 1 + draw(bench, 48) : 1;
		for (uint32_t i = 0; i < length && at + i < HOSTS && busy < wanted; i++) {
			busy += !bench->busy[at + i];
			bench->busy[at + i] = true;
		}
	}
	bench->free_count = 0;
	for (uint32_t host = 0; host < HOSTS; host++)
		if (!bench->busy[host])
			bench->free[bench->free_count++] = host;
}

/* ---- Slurm ---- */

static void take(struct bench *bench, uint32_t begin, uint32_t end)
{
	for (uint32_t host = begin; host < end && bench->count < bench->size; host++)
		if (!bench->busy[host])
			bench->taken[bench->count++] = host;
}

/* Whether a set is a better fit for `need` nodes than the best so far, which has `best` nodes. */
static bool fits_better(uint32_t nodes, uint32_t best, uint32_t need)
{
	if (!best)
		return nodes > 0;
	return nodes >= need ? best < need || nodes < best : best < need && nodes > best;
}

static void slurm_consecutive(struct bench *bench)
{
	bool used[HOSTS] = {false};

	while (bench->count < bench->size) {
		uint32_t best = 0, best_at = 0;
		for (uint32_t at = 0, end; at < HOSTS; at = end + 1) {
			for (end = at; end < HOSTS && !bench->busy[end];)
				end++;
			if (end > at && !used[at] &&
			    fits_better(end - at, best, bench->size - bench->count)) {
				best = end - at;
				best_at = at;
			}
		}
		used[best_at] = true;
		take(bench, best_at, best_at + best);
	}
}

static uint32_t free_between(const struct bench *bench, uint32_t begin, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t host = begin; host < end; host++)
		count += !bench->busy[host];
	return count;
}

/* The leaves from begin to end. */
static void take_leaves(struct bench *bench, uint32_t begin, uint32_t end)
{
	bool used[HOSTS / OF_LEAF] = {false};

	while (bench->count < bench->size) {
		uint32_t best = 0, best_at = 0;
		for (uint32_t at = begin; at < end; at += OF_LEAF) {
			uint32_t nodes = free_between(bench, at, at + OF_LEAF);
			if (!used[at / OF_LEAF] &&
			    fits_better(nodes, best, bench->size - bench->count)) {
				best = nodes;
				best_at = at;
			}
		}
		used[best_at / OF_LEAF] = true;
		take(bench, best_at, best_at + OF_LEAF);
	}
}

static void slurm_tree(struct bench *bench)
{
	static const uint32_t sizes[] = {OF_LEAF, OF_POD, HOSTS};

	for (unsigned level = 0; level < 3; level++) {
		uint32_t best = 0, best_at = 0;
		for (uint32_t at = 0; at < HOSTS; at += sizes[level]) {
			uint32_t nodes = free_between(bench, at, at + sizes[level]);
			if (nodes >= bench->size && (!best || nodes < best)) {
				best = nodes;
				best_at = at;
			}
		}
		if (best) {
			take_leaves(bench, best_at, best_at + sizes[level]);
			return;
		}
	}
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static void slurm(struct bench *bench, enum choice choice)
{
	bench->count = 0;
	if (choice == CONSECUTIVE)
		slurm_consecutive(bench);
	else if (choice == WEIGHTS)
		take(bench, 0, HOSTS);
	else
		slurm_tree(bench);
	qsort(bench->taken, bench->size, sizeof(*bench->taken), by_number);
}

/* ---- what a choice is worth ---- */

static int measure(struct bench *bench, struct hd_key_choose_request *request, enum choice choice,
		   struct hd_key_worth *worth, struct hd_error *err)
{
	struct hd_key_choice *chosen = NULL;

	if (choice <= REORDERED)
		slurm(bench, choice);
	if (choice < REORDERED)
		return hd_key_worth_of(request, bench->taken, worth, err);
	request->free = choice == REORDERED ? bench->taken : bench->free;
	request->free_count = choice == REORDERED ? bench->size : bench->free_count;
	int rc = hd_key_choose(request, &chosen, err);
	if (!rc)
		*worth = chosen->chosen;
	hd_key_choice_free(chosen);
	return rc;
}

static void add(struct sums *sums, const struct hd_key_worth *worth, double ms)
{
	sums->keys += worth->keys;
	sums->none += !worth->keys;
	sums->contention += worth->contention;
	sums->most = sums->most < worth->contention ? worth->contention : sums->most;
	sums->leaves += worth->leaves;
	sums->ms += ms;
}

static int run_pattern(struct bench *bench, unsigned number, struct hd_error *err)
{
	struct hd_key_pattern *pattern = NULL;
	int rc = hd_key_pattern_new(pattern_names[number], bench->size, &pattern, err);

	for (unsigned choice = 0; !rc && choice < CHOICES; choice++) {
		struct hd_key_choose_request request = {.fabric = bench->fabric,
							.routes = bench->routes,
							.pattern = pattern,
							.host_count = bench->size,
							.tries = bench->tries};
		struct hd_key_worth worth;
		double begin = stopwatch_now();
		rc = measure(bench, &request, choice, &worth, err);
		if (!rc)
			add(&bench->sums[number][choice], &worth, stopwatch_now() - begin);
	}
	if (!rc)
		bench->phases[number] += pattern->phase_count;
	hd_key_pattern_free(pattern);
	return rc;
}

/* ---- the run ---- */

static int set_up(struct bench *bench, struct hd_error *err)
{
	const struct hd_generator *generator = hd_generator_find("xgft");
	struct hd_options *options = hd_options_new(generator->options, generator->option_count);
	struct hd_fabric *plain = NULL;
	int rc = options ? 0 : hd_error_no_memory(err);

	if (!rc)
		rc = hd_options_set(options, "children", "12,12,12", err);
	if (!rc)
		rc = hd_options_set(options, "parents", "1,12,12", err);
	if (!rc)
		rc = generator->generate(options, &plain, err);
	if (!rc)
		rc = hd_fabric_assign_lids(plain, 0, &bench->fabric, err);
	hd_fabric_free(plain);
	hd_options_free(options);
	if (rc)
		return rc;
	const struct hd_route_request request = {.fabric = bench->fabric, .threads = 1};
	return hd_engine_route(hd_engine_find("dmodk"), &request, &bench->routes, err);
}

static void print(const struct bench *bench, uint32_t allocations)
{
	for (unsigned number = 0; number < PATTERNS; number++) {
		printf("%s: %.1f phases a job\n", pattern_names[number],
		       (double)bench->phases[number] / allocations);
		printf("%-18s %8s %10s %10s %6s %8s %8s\n", "hosts and order", "keys", "no key",
		       "contention", "most", "leaves", "ms");
		for (unsigned choice = 0; choice < CHOICES; choice++) {
			const struct sums *sums = &bench->sums[number][choice];
			printf("%-18s %8.2f %9.1f%% %10.2f %6u %8.1f %8.2f\n", choice_names[choice],
			       (double)sums->keys / allocations,
			       100.0 * (double)sums->none / allocations,
			       (double)sums->contention / allocations, sums->most,
			       (double)sums->leaves / allocations, sums->ms / allocations);
		}
	}
}

int main(int argc, char **argv)
{
	static const uint32_t loads[] = {25, 50, 75, 90};
	static const uint32_t sizes[] = {16, 24, 32, 36, 48, 64, 96, 128};
	static struct bench bench = {.random = 1};
	uint32_t allocations = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
	struct hd_error err = {""};
	int rc = set_up(&bench, &err);

	bench.tries = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : HD_KEY_CHOOSE_TRIES;
	for (uint32_t i = 0; !rc && i < allocations; i++) {
		make_busy(&bench, HOSTS * loads[i / 2 % 4] / 100, i % 2);
		bench.size = sizes[draw(&bench, 8)];
		for (unsigned number = 0; !rc && number < PATTERNS; number++)
			rc = run_pattern(&bench, number, &err);
	}
	if (rc)
		fprintf(stderr, "heddle-bench-choose: %s\n", err.text);
	else
		print(&bench, allocations);
	hd_routes_free(bench.routes);
	hd_fabric_free(bench.fabric);
	return rc != 0;
}
