/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cables and switches fail and return, one at a time, and auto routes each time from the tables in place
 * and the baseline. It changes its engine only with need: the engine refuses, or another one is better by
 * more than .02. When all is back, the engine is that of the beginning, and so are its tables.
 *
 *	auto_flaps [FLAPS]
 *
 * Prints each engine that changed without need. Exit status 1 if there is one.
 */
#include "ebb_figure.h"
#include "uneven.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAPS_DEFAULT 60u
#define FLAPS_EACH 10u /* of one fabric */
#define GAIN .018 /* .02, and what the two measurements differ by */

struct tally {
	unsigned flaps, changes, needless, astray;
};

static void demand(int rc, const struct hd_error *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(2);
}

static struct hd_routes *carry(const struct hd_fabric *from, const struct hd_routes *routes,
			       const struct hd_fabric *to)
{
	struct hd_routes *carried = NULL;
	struct hd_error err = {""};

	demand(hd_routes_rebase(from, routes, to, &carried, &err), &err);
	return carried;
}

/* NULL: refused. */
static struct hd_routes *route(const char *engine, const struct hd_fabric *fabric,
			       const struct hd_routes *previous, const struct hd_routes *baseline)
{
	const struct hd_route_request request = {
	    .fabric = fabric, .previous = previous, .baseline = baseline, .threads = 2};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	return hd_engine_route(hd_engine_find(engine), &request, &routes, &err) ? NULL : routes;
}

static struct hd_fabric *fail_something(const struct hd_fabric *fabric, uint64_t *random)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	uint32_t sw = (uint32_t)hd_random_below(random, fabric->switch_count);
	bool whole = hd_random_below(random, 5) == 0;
	struct hd_fabric *less = NULL;
	struct hd_error err = {""};

	if (whole)
		for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
			hd_builder_unlink(builder, sw, port);
	else if (fabric->isl_base[sw] < fabric->isl_base[sw + 1])
		hd_builder_unlink(builder, sw, fabric->isl_port[fabric->isl_base[sw]]);
	demand(hd_builder_build(builder, &less, &err), &err);
	hd_builder_free(builder);
	return less;
}

/* Whether `now` had to leave the engine of `before`. */
static bool had_to_change(const struct hd_fabric *fabric, const struct hd_routes *before,
			  const struct hd_routes *baseline, const struct hd_routes *now)
{
	struct hd_routes *kept = route(before->chosen, fabric, before, baseline);
	bool needed = !kept || ebb_figure(fabric, now) > ebb_figure(fabric, kept) + GAIN;

	hd_routes_free(kept);
	return needed;
}

static void flap(const char *name, const struct hd_fabric *fabric, const struct hd_routes *home,
		 uint64_t *random, struct tally *tally)
{
	struct hd_fabric *less = fail_something(fabric, random);
	struct hd_routes *before = carry(fabric, home, less);
	struct hd_routes *damaged = route("auto", less, before, before);
	bool changed = !damaged || strcmp(damaged->chosen, home->chosen) != 0;

	tally->flaps++;
	tally->changes += changed;
	if (changed && (!damaged || !had_to_change(less, before, before, damaged))) {
		tally->needless++;
		printf("%s: %s to %s without need\n", name, home->chosen,
		       damaged ? damaged->chosen : "nothing");
	}
	if (damaged) {
		struct hd_routes *carried = carry(less, damaged, fabric);
		struct hd_routes *back = route("auto", fabric, carried, home);
		if (!back || strcmp(back->chosen, home->chosen) != 0) {
			tally->astray++;
			printf("%s: not back at %s but at %s\n", name, home->chosen,
			       back ? back->chosen : "nothing");
		}
		hd_routes_free(carried);
		hd_routes_free(back);
	}
	hd_routes_free(damaged);
	hd_routes_free(before);
	hd_fabric_free(less);
}

int main(int argc, char **argv)
{
	unsigned flaps = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : FLAPS_DEFAULT;
	struct tally tally = {0};
	uint64_t random = 1;

	for (uint64_t number = 0; tally.flaps < flaps; number++) {
		char name[UNEVEN_NAME];
		struct hd_fabric *fabric = uneven_fabric(number, name);
		struct hd_routes *home = route("auto", fabric, NULL, NULL);
		for (unsigned i = 0; home && i < FLAPS_EACH && tally.flaps < flaps; i++)
			flap(name, fabric, home, &random, &tally);
		if (!home) {
			printf("%s: refused\n", name);
			tally.astray++;
		}
		hd_routes_free(home);
		hd_fabric_free(fabric);
	}
	printf(
	    "%u flaps, %u with another engine meanwhile, %u of these without need, %u not back\n",
	    tally.flaps, tally.changes, tally.needless, tally.astray);
	return tally.needless || tally.astray;
}
