/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repairs of random losses on random fabrics, with every engine that routes them.
 *
 *	repairs [COUNT [FIRST]]
 *
 * Each fabric, intact or damaged, loses cables, switches and hosts up to three times in a row. Each
 * plan is followed step by step by a slow oracle: no entry loops, no credit loop closes, and what
 * arrived goes on to arrive. Prints each fault, and a summary. Exit status 1 if there is one.
 */
#include "oracle_repair.h"
#include "sample.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BURSTS 3
#define LOSSES_MOST 4
#define SWITCHES_MOST 70 /* the oracle is slow */
#define LIDS_MOST 700

struct tally {
	unsigned repairs, plans, refused, unproved, left, faults;
	uint64_t entries, writes, holes;
	unsigned steps_most;
};

/* What is in place: the fabric of the base, and tables of its shape. */
struct subject {
	const struct hd_options *options; /* of the engine; NULL: the defaults */
	struct hd_fabric *fabric;
	struct hd_routes *in_place, *last; /* `last` has the shape of the damaged fabric */
	struct hd_fabric *damaged;
	struct hd_repair_base *base;
	struct hd_fabric_change losses[BURSTS * LOSSES_MOST];
	uint32_t count;
};

static void draw_losses(struct subject *subject, uint64_t *random)
{
	const struct hd_fabric *fabric = subject->fabric;
	uint32_t more = 1 + (uint32_t)hd_random_below(random, LOSSES_MOST);

	for (; more; more--) {
		struct hd_fabric_change loss = {.lost = true};
		uint64_t kind = hd_random_below(random, 10);
		if (kind < 7 && fabric->isl_count) {
			uint32_t link = (uint32_t)hd_random_below(random, fabric->isl_count);
			loss.cable = true;
			loss.index = hd_port_index(fabric, hd_isl_from(fabric, link),
						   fabric->isl_port[link]);
		} else if (kind < 8) {
			loss.index = (uint32_t)hd_random_below(random, fabric->node_count);
		} else if (kind < 9 && fabric->host_count) {
			loss.cable = true;
			loss.index = fabric->host_port[hd_random_below(random, fabric->host_count)];
		} else {
			loss.index = (uint32_t)hd_random_below(random, fabric->switch_count);
		}
		subject->losses[subject->count++] = loss;
	}
}

static void apply(struct hd_routes *in_place, const struct hd_repair_plan *plan)
{
	for (uint32_t i = 0; i < plan->write_count; i++)
		memcpy(hd_routes_row(in_place, plan->writes[i].sw) +
			   (size_t)plan->writes[i].block * HD_LFT_BLOCK,
		       plan->writes[i].ports, HD_LFT_BLOCK);
}

/* Tables by the engine for the damaged fabric, from those before. */
static int repair(const struct subject *subject, const struct hd_engine *engine,
		  const struct hd_fabric *from_fabric, const struct hd_fabric *damaged,
		  struct hd_routes **out, struct hd_error *err)
{
	struct hd_routes *previous = NULL;
	int rc = hd_routes_rebase(from_fabric, subject->last, damaged, &previous, err);
	const struct hd_route_request request = {
	    .fabric = damaged, .options = subject->options, .previous = previous};

	if (!rc)
		rc = hd_engine_route(engine, &request, out, err);
	hd_routes_free(previous);
	return rc;
}

static int burst(struct subject *subject, const struct hd_engine *engine, uint64_t *random,
		 struct tally *tally, struct hd_error *err)
{
	struct hd_fabric *damaged = NULL;
	struct hd_routes *repaired = NULL;
	struct hd_repair_plan *plan = NULL;
	char text[256];
	uint32_t own = hd_random_below(random, 2)
			   ? HD_NONE
			   : (uint32_t)hd_random_below(random, subject->fabric->node_count);

	draw_losses(subject, random);
	int rc =
	    hd_fabric_without(subject->fabric, subject->losses, subject->count, own, &damaged, err);
	if (rc)
		return rc;
	rc = repair(subject, engine, subject->damaged ? subject->damaged : subject->fabric, damaged,
		    &repaired, err);
	tally->refused += rc != 0;
	if (!rc) {
		rc = hd_repair_plan_new(subject->base, subject->in_place, damaged, repaired, NULL,
					&plan, err);
		tally->unproved += rc == -EINVAL;
	}
	if (rc == -EINVAL)
		printf("%s: %s\n", engine->name, err->text);
	if (!rc) {
		tally->plans++;
		tally->left += plan->left;
		tally->entries += plan->entries;
		tally->holes += plan->holes;
		tally->writes += plan->write_count;
		if (plan->steps > tally->steps_most)
			tally->steps_most = plan->steps;
		if (!oracle_repair_is_sound(subject->fabric, subject->in_place, damaged, repaired,
					    plan, text, sizeof(text))) {
			printf("FAULT %s: %s\n", engine->name, text);
			tally->faults++;
		}
		uint32_t loop;
		if (hd_repair_find_loop(subject->fabric, subject->in_place, damaged, plan, &loop,
					err) ||
		    loop) {
			printf("FAULT %s: the checker finds a loop for LID %u\n", engine->name,
			       loop);
			tally->faults++;
		}
		apply(subject->in_place, plan);
	}
	hd_repair_plan_free(plan);
	if (rc) {
		hd_fabric_free(damaged);
		hd_routes_free(repaired);
		return rc;
	}
	hd_routes_free(subject->last);
	hd_fabric_free(subject->damaged);
	subject->last = repaired;
	subject->damaged = damaged;
	return 0;
}

static void try_engine(const struct sample *sample, const struct hd_engine *engine,
		       const struct hd_options *options, uint64_t seed, struct tally *tally)
{
	struct subject subject = {.options = options, .fabric = sample->fabric};
	struct hd_error err = {""};
	const struct hd_route_request request = {.fabric = sample->fabric, .options = options};
	uint64_t random = seed;

	if (hd_engine_route(engine, &request, &subject.last, &err))
		return;
	subject.in_place = hd_routes_copy(subject.last);
	if (!hd_repair_base_new(sample->fabric, subject.in_place, 2, NULL, &subject.base, &err)) {
		tally->repairs++;
		for (unsigned i = 0; i < BURSTS; i++)
			if (burst(&subject, engine, &random, tally, &err))
				break;
	}
	hd_repair_base_free(subject.base);
	hd_routes_free(subject.in_place);
	hd_routes_free(subject.last);
	hd_fabric_free(subject.damaged);
}

/* All engines, and longer paths in layers. */
static void try_engines(const struct sample *sample, uint64_t number, struct tally *tally)
{
	const struct hd_engine *multipath = hd_engine_find("multipath");
	struct hd_options *layers = hd_engine_options(multipath);
	unsigned engines;
	const struct hd_engine *const *all = hd_engines(&engines);

	if (!layers || hd_options_set(layers, "mode", "layers", NULL))
		abort();
	if (sample->fabric->switch_count <= SWITCHES_MOST &&
	    sample->fabric->lid_count <= LIDS_MOST) {
		for (unsigned i = 0; i < engines; i++)
			try_engine(sample, all[i], NULL, number * 1000 + i, tally);
		try_engine(sample, multipath, layers, number * 1000 + engines, tally);
	}
	hd_options_free(layers);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 150;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	struct tally tally = {0};

	for (uint64_t number = first; number < first + count; number++) {
		struct sample sample;
		struct hd_error err = {""};
		unsigned before = tally.faults + tally.unproved;

		if (sample_draw(number, &sample, &err)) {
			printf("%s\n", err.text);
			return 1;
		}
		try_engines(&sample, number, &tally);
		if (tally.faults + tally.unproved > before)
			printf("fabric %llu: %s\n", (unsigned long long)number, sample.recipe);
		sample_release(&sample);
	}
	printf("%u tables, %u plans: %llu entries, %llu of them holes, %llu writes, at most %u "
	       "steps; %u LIDs left to the sweep, %u engines refused, %u unproved, %u faults\n",
	       tally.repairs, tally.plans, (unsigned long long)tally.entries,
	       (unsigned long long)tally.holes, (unsigned long long)tally.writes, tally.steps_most,
	       tally.left, tally.refused, tally.unproved, tally.faults);
	return tally.faults || !tally.plans;
}
