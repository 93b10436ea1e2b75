/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dual-homed nodes in trees: the paths from a switch with hosts to the two ports of a node have no switch between in
 * common. In a tree of two leaves this is so for the paths between the leaves of a node, to the port at the other one.
 *
 * Every engine of trees or shortest paths, by the facts of the registry, routes each tree with the ports of nodes in
 * several places: intact; with a cable lost, afresh and from the tables before; with a spine that is new; and with twice
 * the LIDs. A slow oracle
 * walks the tables. Tables depend neither on the threads nor on the order of the description, heddle check counts what
 * the oracle does, and the tables are worth as much as those of the same tree with nodes of one port. Prints each fault.
 * Exit status 1 if there is one.
 */
#include "ebb_figure.h"
#include "generated.h"
#include "oracle_siblings.h"
#include "variants.h"

#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric/siblings.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS 6 /* cables that are lost, one at a time */

/* Trees that an engine may part. In those of two levels the oracle knows what a loss leaves. */
struct subject {
	const char *settings; /* of a XGFT */
	bool two_levels;
	double worth; /* at least so much of that of nodes with one port */
};

static const struct subject subjects[] = {
    {"children=4,2 parents=1,2 parallel=1,2", true, .995},
    {"children=6,4 parents=1,3 parallel=1,2", true, .995},
    {"children=8,6 parents=1,4", true, .995},
    {"children=5,4 parents=1,5", true, .995},
    {"children=4,4,4 parents=1,4,4", false, .995},
    {"children=8,4,4 parents=1,4,4 parallel=1,2,1", false, .995},
    /* 8 destinations for 3 spines: no balance is even, and another one is worth more or less */
    {"children=6,4,3 parents=1,3,3 parallel=1,2,1", false, .985},
};

/* Where the other port of a host's node is. */
enum homing {
	NEXT_PORT, /* of the same leaf */
	FAR_PORT, /* of the same leaf, half of its hosts away */
	NEXT_LEAF, /* at the same place there */
	FAR_LEAF,
	SOME, /* as NEXT_LEAF, but every third host is alone */
	ADAPTERS, /* as NEXT_LEAF, with two adapters of one port */
	HOMINGS
};

static const char *const homing_names[HOMINGS] = {"next port", "far port", "next leaf",
						  "far leaf",  "some",	   "two adapters"};

struct trial {
	const struct subject *subject;
	enum homing homing;
	const struct hd_engine *engine;
	const char *what;
};

static unsigned faults, checked;

static void stop(const struct hd_error *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static void fault(const struct trial *trial, const char *text, uint32_t count)
{
	printf("%s, %s, %s, %s: %u %s\n", trial->subject->settings, homing_names[trial->homing],
	       trial->engine->name, trial->what, count, text);
	faults++;
}

/* ---- trees of dual-homed nodes ---- */

/* The host of the other port; a host that has no other leads to itself. */
static uint32_t partner_of(const struct hd_fabric *fabric, enum homing homing, uint32_t host)
{
	const uint32_t leaf = fabric->host_switch[host];
	const uint32_t hosts = fabric->host_base[leaf + 1] - fabric->host_base[leaf];
	const uint32_t place = host - fabric->host_base[leaf], half = hosts / 2;
	const uint32_t number = fabric->host_base[leaf] / hosts;
	const uint32_t leaves = fabric->host_count / hosts;
	uint32_t other = place, at = number;

	if (homing == NEXT_PORT)
		other = (place ^ 1) < hosts ? place ^ 1 : place;
	else if (homing == FAR_PORT)
		other = place < half ? place + half : place < 2 * half ? place - half : place;
	else if (homing == FAR_LEAF)
		at = number < leaves / 2 ? number + leaves / 2 : number - leaves / 2;
	else if (homing != SOME || place % 3)
		at = number ^ 1;
	return fabric->host_base[leaf] - number * hosts + at * hosts + other;
}

static int add_switches(struct hd_builder *builder, const struct hd_fabric *fabric,
			struct hd_error *err)
{
	int rc = 0;

	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++) {
		const struct hd_node_spec spec = {.type = HD_SWITCH,
						  .guid = fabric->node_guid[sw],
						  .port_count = hd_node_ports(fabric, sw),
						  .name = fabric->node_name[sw]};
		uint32_t handle;

		rc = hd_builder_add_node(builder, &spec, &handle, err);
	}
	for (uint32_t link = 0; !rc && link < fabric->isl_count; link++)
		rc = hd_builder_link(builder, hd_isl_from(fabric, link), fabric->isl_port[link],
				     fabric->isl_to[link],
				     fabric->isl_port[fabric->isl_reverse[link]], 4, HD_SPEED_HDR,
				     err);
	return rc;
}

/* The node of a host and of its partner: two ports of an adapter, or two adapters. */
static int add_node(struct hd_builder *builder, const struct hd_fabric *fabric, enum homing homing,
		    uint32_t host, uint32_t partner, struct hd_error *err)
{
	const uint64_t guid = UINT64_C(0x98039b0000000000) + host * UINT64_C(16);
	struct hd_node_spec spec = {
	    .type = HD_CA, .guid = guid, .system_guid = guid, .port_count = 2, .name = "node"};
	uint32_t first, second;
	int rc = hd_builder_add_node(builder, &spec, &first, err);

	second = first;
	if (!rc && partner != host && homing == ADAPTERS) {
		spec.guid = guid + 8;
		rc = hd_builder_add_node(builder, &spec, &second, err);
	}
	if (!rc)
		rc = hd_builder_link(builder, first, 1, fabric->host_switch[host],
				     fabric->host_switch_port[host], 4, HD_SPEED_HDR, err);
	if (!rc && partner != host)
		rc = hd_builder_link(builder, second, 2, fabric->host_switch[partner],
				     fabric->host_switch_port[partner], 4, HD_SPEED_HDR, err);
	return rc;
}

/* The tree with dual-homed nodes in place of its hosts. alone: nodes of one port instead. */
static struct hd_fabric *make_tree(const struct hd_fabric *tree, enum homing homing, bool alone,
				   unsigned lmc)
{
	struct hd_builder *builder = hd_builder_new();
	struct hd_fabric *made = NULL;
	struct hd_error err = {""};
	int rc = builder ? add_switches(builder, tree, &err) : hd_error_no_memory(&err);

	for (uint32_t host = 0; !rc && host < tree->host_count; host++) {
		const uint32_t partner = alone ? host : partner_of(tree, homing, host);

		if (partner >= host)
			rc = add_node(builder, tree, homing, host, partner, &err);
	}
	if (!rc) {
		hd_builder_assign_lids(builder, lmc);
		rc = hd_builder_build(builder, &made, &err);
	}
	if (rc)
		stop(&err);
	hd_builder_free(builder);
	return made;
}

/* ---- tables ---- */

/* NULL: the engine refuses the fabric. */
static struct hd_routes *route(const struct hd_engine *engine, const struct hd_fabric *fabric,
			       const struct hd_routes *previous, unsigned threads)
{
	const struct hd_route_request request = {
	    .fabric = fabric, .previous = previous, .baseline = previous, .threads = threads};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	int rc = hd_engine_route(engine, &request, &routes, &err);

	if (rc && rc != -ENOTSUP)
		stop(&err);
	return routes;
}

/* Nodes for which the paths from some switch to both ports meet, by the slow way; by: offset of the LIDs. */
static uint32_t count_joined(const struct trial *trial, const struct hd_fabric *fabric,
			     const struct hd_routes *routes, uint32_t by, bool where_possible)
{
	uint32_t joined = 0, leaves = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		leaves += hd_has_hosts(fabric, sw);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const uint32_t other = oracle_siblings_other(fabric, host);
		bool meet = false;

		if (other == HD_NONE || other < host)
			continue;
		const uint32_t leaf[2] = {fabric->host_switch[host], fabric->host_switch[other]};
		const uint32_t lid[2] = {fabric->lid[fabric->host_port[host]] + by,
					 fabric->lid[fabric->host_port[other]] + by};
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			const uint32_t source[2] = {sw, sw == leaf[1] ? leaf[0] : sw};

			if (!hd_has_hosts(fabric, sw) || sw == leaf[0] ||
			    (sw == leaf[1] && leaves != 2) ||
			    !oracle_siblings_meet(fabric, routes, source, lid))
				continue;
			meet |= !where_possible || !trial->subject->two_levels ||
				oracle_siblings_can_part(fabric, source, leaf);
		}
		joined += meet;
		checked++;
	}
	return joined;
}

static void expect_apart(const struct trial *trial, const struct hd_fabric *fabric,
			 const struct hd_routes *routes)
{
	const uint32_t lids = hd_port_lid_count(fabric, fabric->host_port[0]);
	struct hd_siblings_report report;
	uint32_t joined = 0;

	for (uint32_t by = 0; by < lids; by++)
		joined += count_joined(trial, fabric, routes, by, true);
	if (joined)
		fault(trial, "nodes have both ports over one switch", joined);
	joined = count_joined(trial, fabric, routes, 0, false);
	if (hd_siblings_check(fabric, routes, &report) || report.joined != joined || !report.nodes)
		fault(trial, "such nodes by the oracle, and others by hd_siblings_check()", joined);
}

/* ---- trials ---- */

/* The entries of switches for LIDs are the same whatever the order and the threads are. */
static void expect_same(const struct trial *trial, const struct hd_fabric *fabric,
			const struct hd_routes *routes)
{
	struct hd_fabric *shuffled = NULL;
	struct hd_error err = {""};

	if (variants_shuffled(fabric, 7, &shuffled, &err))
		stop(&err);
	struct hd_routes *other = route(trial->engine, shuffled, NULL, 3);
	if (!other || !hd_routes_equal(routes, other))
		fault(trial, "thread does not give the tables of 3 and another order", 1);
	hd_routes_free(other);
	hd_fabric_free(shuffled);
}

static void try_losses(struct trial *trial, const struct hd_fabric *fabric,
		       const struct hd_routes *intact)
{
	for (uint32_t cut = 0; cut < CUTS; cut++) {
		const uint32_t link = (uint32_t)((uint64_t)fabric->isl_count * cut / CUTS);
		struct hd_fabric *damaged = NULL;
		struct hd_error err = {""};

		if (variants_without_link(fabric, link, &damaged, &err))
			stop(&err);
		struct hd_routes *afresh = route(trial->engine, damaged, NULL, 1);
		struct hd_routes *repaired = route(trial->engine, damaged, intact, 1);
		trial->what = "a cable lost, afresh";
		if (afresh)
			expect_apart(trial, damaged, afresh);
		trial->what = "a cable lost, repaired";
		if (repaired)
			expect_apart(trial, damaged, repaired);
		hd_routes_free(afresh);
		hd_routes_free(repaired);
		hd_fabric_free(damaged);
	}
}

/* A tree that was routed without its last spine gets it. Entries move to it, and columns are exchanged. */
static void try_growth(struct trial *trial, const struct hd_fabric *fabric)
{
	struct hd_fabric_change loss = {.lost = true};
	struct hd_fabric *smaller = NULL;
	struct hd_routes *previous = NULL;
	struct hd_error err = {""};

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (!hd_has_hosts(fabric, sw))
			loss.index = sw;
	if (hd_fabric_without(fabric, &loss, 1, HD_NONE, &smaller, &err))
		stop(&err);
	struct hd_routes *routes = route(trial->engine, smaller, NULL, 1);
	if (routes && hd_routes_rebase(smaller, routes, fabric, &previous, &err))
		stop(&err);
	struct hd_routes *grown = previous ? route(trial->engine, fabric, previous, 1) : NULL;
	trial->what = "a spine is new";
	if (grown)
		expect_apart(trial, fabric, grown);
	hd_routes_free(grown);
	hd_routes_free(previous);
	hd_routes_free(routes);
	hd_fabric_free(smaller);
}

static void try_worth(struct trial *trial, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, const struct hd_fabric *alone)
{
	struct hd_routes *single = route(trial->engine, alone, NULL, 2);

	trial->what = "intact";
	if (single &&
	    ebb_figure(fabric, routes) < trial->subject->worth * ebb_figure(alone, single))
		fault(trial, "of these tables is worth less than that of nodes with one port", 1);
	hd_routes_free(single);
}

static void try_engine(struct trial *trial, const struct hd_fabric *fabric,
		       const struct hd_fabric *twice, const struct hd_fabric *alone)
{
	struct hd_routes *routes = route(trial->engine, fabric, NULL, 1);

	if (!routes)
		return;
	trial->what = "intact";
	expect_apart(trial, fabric, routes);
	expect_same(trial, fabric, routes);
	if (trial->subject->two_levels) {
		try_losses(trial, fabric, routes);
		try_growth(trial, fabric);
	}
	try_worth(trial, fabric, routes, alone);
	hd_routes_free(routes);
	routes = route(trial->engine, twice, NULL, 2);
	trial->what = "two LIDs for each port";
	if (routes)
		expect_apart(trial, twice, routes);
	hd_routes_free(routes);
}

static void try_subject(const struct subject *subject)
{
	struct hd_fabric *tree = NULL;
	struct hd_error err = {""};
	unsigned count;
	const struct hd_engine *const *engines = hd_engines(&count);

	if (generated_fabric("xgft", subject->settings, &tree, &err))
		stop(&err);
	for (enum homing homing = 0; homing < HOMINGS; homing++) {
		struct hd_fabric *fabric = make_tree(tree, homing, false, 0);
		struct hd_fabric *twice = make_tree(tree, homing, false, 1);
		struct hd_fabric *alone = make_tree(tree, homing, true, 0);

		for (unsigned i = 0; i < count; i++) {
			struct trial trial = {subject, homing, engines[i], ""};

			if (engines[i]->one_lane || engines[i]->shortest_paths ||
			    engines[i]->delegates)
				try_engine(&trial, fabric, twice, alone);
		}
		hd_fabric_free(fabric);
		hd_fabric_free(twice);
		hd_fabric_free(alone);
	}
	hd_fabric_free(tree);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		try_subject(&subjects[i]);
	printf("%u nodes in tables, %u faults\n", checked, faults);
	return faults || !checked;
}
