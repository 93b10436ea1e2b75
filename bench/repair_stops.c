/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-stops ENGINE CHILDREN PARENTS [ar]
 *
 *	heddle-bench-stops dmodk 18,18,36 1,18,18 ar
 *
 * How soon a repair can be stopped. A switch of an XGFT is lost. For each computation the bench prints the
 * processor time that it takes, the number of questions whether to go on, and the longest time between two of
 * them.
 */
#include "tree_fabric.h"

#include <heddle/ar_manager.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/change/ar_graph.h>
#include <heddle/change/repair.h>
#include <heddle/change/steps.h>
#include <heddle/engines.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
	double begin, last, longest;
	unsigned long asked;
} watch;

/* ms of the processor: other programs that run at the same time do not count. */
static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1e6;
}

static void note(void)
{
	const double now = now_ms();

	if (now - watch.last > watch.longest)
		watch.longest = now - watch.last;
	watch.last = now;
}

/* For one thread. */
static bool ask(void *context)
{
	(void)context;
	note();
	watch.asked++;
	return true;
}

static const struct hd_go_on go_on = {ask, NULL};

static void begin(void)
{
	watch.begin = watch.last = now_ms();
	watch.longest = 0;
	watch.asked = 0;
}

static void end(const char *what, int rc, const struct hd_error *err)
{
	note();
	if (rc)
		tree_fabric_stop(err);
	printf("%-22s %9.1f %9lu %9.1f\n", what, watch.last - watch.begin, watch.asked,
	       watch.longest);
	fflush(stdout);
}

/* A fabric, and what is left of it. */
struct change {
	const struct hd_engine *engine;
	struct hd_fabric *was, *is;
	struct hd_routes *in_place, *before, *after; /* before: in place, in the shape of `is` */
};

/* The last switch above the leaves is lost. */
static void lose_switch(struct change *change)
{
	struct hd_fabric_change loss = {.lost = true, .index = change->was->switch_count - 1};
	struct hd_error err = {""};

	while (hd_has_adapters(change->was, loss.index))
		loss.index--;
	begin();
	int rc = hd_fabric_without(change->was, &loss, 1, HD_NONE, &change->is, &err);
	end("what is left", rc, &err);
	begin();
	rc = hd_routes_rebase(change->was, change->in_place, change->is, &change->before, &err);
	end("tables carried over", rc, &err);
}

static void repair(struct change *change)
{
	const struct hd_route_request request = {
	    .fabric = change->is, .previous = change->before, .go_on = go_on};
	struct hd_repair_base *base;
	struct hd_repair_plan *plan;
	struct hd_error err = {""};

	begin();
	int rc = hd_repair_base_new(change->was, change->in_place, 1, &go_on, &base, &err);
	end("base", rc, &err);
	begin();
	rc = hd_engine_route(change->engine, &request, &change->after, &err);
	end("engine", rc, &err);
	begin();
	rc = hd_repair_plan_new(base, change->in_place, change->is, change->after, &go_on, &plan,
				&err);
	end("proof and order", rc, &err);
	hd_repair_plan_free(plan);
	hd_repair_base_free(base);
}

static void repair_adaptive(const struct change *change)
{
	struct hd_ar_request request = {.fabric = change->was,
					.routes = change->in_place,
					.algorithm = HD_AR_TREE,
					.mode = HD_AR_FREE};
	struct hd_ar_plan *held, *next, *state;
	struct hd_ar_graph *graph = NULL;
	struct hd_ar_steps *steps;
	struct hd_error err = {""};
	uint64_t wrong;

	if (hd_ar_plan_new(&request, &held, NULL, &err))
		tree_fabric_stop(&err);
	request.fabric = change->is;
	request.routes = change->after;
	request.previous = held;
	request.unproved = true;
	request.go_on = go_on;
	begin();
	int rc = hd_ar_plan_new(&request, &next, NULL, &err);
	end("AR: plan", rc, &err);
	begin();
	rc = hd_ar_plan_check(next, change->is, change->after, &go_on, &wrong, &err);
	end("AR: check of the plan", rc, &err);
	begin();
	rc = hd_ar_graph_new(change->was, change->in_place, held, &go_on, &graph, &err);
	end("AR: graph in force", rc, &err);
	const struct hd_ar_steps_request wanted = {.fabric = change->is,
						   .before = change->before,
						   .after = change->after,
						   .held = held,
						   .next = next,
						   .graph = &graph,
						   .go_on = go_on};
	begin();
	rc = hd_ar_steps_new(&wanted, &steps, &err);
	end("AR: steps", rc, &err);
	begin();
	rc = hd_ar_steps_prove(steps, &err);
	end("AR: proof of the steps", rc, &err);
	begin();
	rc = hd_ar_steps_plan(steps, 0, &state);
	end("AR: plan of a step", rc, &err);
	hd_ar_plan_free(state);
	hd_ar_steps_free(steps);
	hd_ar_graph_free(graph);
	hd_ar_plan_free(next);
	hd_ar_plan_free(held);
}

int main(int argc, char **argv)
{
	struct hd_error err = {""};
	struct change change = {0};

	if (argc < 4 || !(change.engine = hd_engine_find(argv[1]))) {
		fprintf(stderr, "usage: %s ENGINE CHILDREN PARENTS [ar]\n", argv[0]);
		return 2;
	}
	change.was = tree_fabric(argv[2], argv[3]);
	const struct hd_route_request request = {.fabric = change.was};
	if (hd_engine_route(change.engine, &request, &change.in_place, &err))
		tree_fabric_stop(&err);
	printf("%s, %u hosts, %u switches, one of which is lost; one thread\n", change.engine->name,
	       change.was->host_count, change.was->switch_count);
	printf("%-22s %9s %9s %9s\n", "", "ms", "questions", "most, ms");
	lose_switch(&change);
	repair(&change);
	if (argc > 4)
		repair_adaptive(&change);
	hd_routes_free(change.after);
	hd_routes_free(change.before);
	hd_routes_free(change.in_place);
	hd_fabric_free(change.is);
	hd_fabric_free(change.was);
	return 0;
}
