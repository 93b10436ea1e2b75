/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Certificates of all engines on random fabrics, and of broken tables.
 *
 *	certificates [COUNT [FIRST [MUTATIONS]]]
 *
 * Fabrics number FIRST .. FIRST + COUNT - 1, the tables of all engines, and plans of adaptive routing
 * over them. tools/verify_certificate must accept each certificate. Then, MUTATIONS times for each, one
 * number is changed at random: in the tables, service levels, plan or certificate. The program must
 * accept what a slow oracle accepts, and refuse all else. Changes from the tables of one engine to
 * those of another are certified and changed, too. The oracle walks every path of every packet;
 * it shares nothing with the program, nor with what made the certificate. Exit status 1 if something
 * fails.
 */
#include "certificate_oracle.h"
#include "sample.h"
#include "verifier.h"

#include <errno.h>
#include <heddle/ar_manager.h>
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	ENTRY,
	LEVEL,
	LANE,
	GROUP,
	GROUP_PORT,
	ABOVE, /* whether packets by a port come from above */
	RANK,
	DISTANCE,
	ROW,
	UNREACHED,
	BEFORE, /* an entry before a change */
	STEP, /* the switch or LID of an entry of a step */
	KINDS
};

static const char *const kind_names[KINDS] = {
    "entry", "level",	 "lane", "group",     "group port",   "above",
    "rank",  "distance", "row",	 "unreached", "entry before", "entry of a step"};

struct run {
	uint64_t random;
	unsigned certificates, with_plan, no_plan, refused_engines, failed, mutations, lanes;
	unsigned changes, in_steps, no_change, with_private, of_groups, narrowed;
	unsigned changed[KINDS], broken[KINDS];
};

/* ---- the program ---- */

static FILE *open_text(char **bytes, size_t *length)
{
	FILE *stream = open_memstream(bytes, length);

	if (!stream) {
		perror("certificates");
		exit(2);
	}
	return stream;
}

static int verify(const struct certificate_world *world, const char **reason)
{
	char *bytes[VERIFIER_FILES] = {NULL};
	size_t lengths[VERIFIER_FILES] = {0};
	struct verifier_text texts[VERIFIER_FILES];
	int rc = 0;

	for (int file = 0; file < VERIFIER_FILES; file++) {
		if (file == VERIFIER_TOPOLOGY || (file == VERIFIER_PLAN && !world->plan) ||
		    (file == VERIFIER_BEFORE && !world->before) ||
		    (file == VERIFIER_PLAN_BEFORE && !world->held))
			continue;
		FILE *stream = open_text(&bytes[file], &lengths[file]);
		if (file == VERIFIER_BEFORE)
			rc |= hd_routes_write_dump(world->fabric, world->before, stream, NULL);
		else if (file == VERIFIER_CERTIFICATE && world->change)
			rc |=
			    hd_certificate_change_write(world->change, world->fabric, stream, NULL);
		else if (file == VERIFIER_CERTIFICATE)
			rc |= hd_certificate_write(world->certificate, world->fabric, stream, NULL);
		else if (file == VERIFIER_TABLES)
			rc |= hd_routes_write_dump(world->fabric, world->routes, stream, NULL);
		else if (file == VERIFIER_LEVELS)
			rc |= hd_routes_write_levels(world->fabric, world->routes, stream, NULL);
		else
			rc |= hd_ar_write_far(file == VERIFIER_PLAN ? world->plan : world->held,
					      world->fabric, stream, NULL);
		fclose(stream);
	}
	for (int file = 0; file < VERIFIER_FILES; file++)
		texts[file] = (struct verifier_text){bytes[file], lengths[file]};
	texts[VERIFIER_TOPOLOGY] = (struct verifier_text){world->topology, world->topology_length};
	rc = rc ? 2 : verifier_run(texts, reason);
	for (int file = 0; file < VERIFIER_FILES; file++)
		free(bytes[file]);
	return rc;
}

/* ---- mutations ---- */

static uint32_t below(struct run *run, uint64_t limit)
{
	return (uint32_t)hd_random_below(&run->random, limit ? limit : 1);
}

/* Mostly a number near the old one. */
static uint32_t other_number(struct run *run, uint32_t old)
{
	if (old == HD_CERTIFICATE_NONE || below(run, 8) == 0)
		return below(run, 2) ? below(run, 4) : HD_CERTIFICATE_NONE;
	return below(run, 2) || !old ? old + 1 + below(run, 2) : old - 1;
}

/* The LID of a host, mostly. */
static uint32_t any_lid(struct run *run, const struct hd_fabric *fabric)
{
	uint32_t lid = 0;

	for (unsigned tries = 0; tries < 20 && (!lid || fabric->lid_owner[lid] == HD_NONE); tries++)
		lid = below(run, fabric->lid_count);
	return lid;
}

/* Saves what a mutation changes, so that it can be taken back. */
struct saved {
	void *place;
	size_t size;
	char bytes[sizeof(struct hd_ar_group)];
};

static void *save(struct saved *saved, const void *place, size_t size)
{
	saved->place = (void *)(size_t)place;
	saved->size = size;
	memcpy(saved->bytes, place, size);
	return saved->place;
}

static bool change_tables(struct run *run, struct certificate_world *world, enum kind kind,
			  struct saved *saved)
{
	struct hd_routes *routes = world->routes;
	uint32_t sw = below(run, routes->switch_count), lid = any_lid(run, world->fabric);
	uint8_t *lane = &routes->sl2vl[below(run, 16)];

	if (kind == ENTRY) {
		uint8_t *port = save(saved, &hd_routes_row(routes, sw)[lid], 1);
		uint32_t ports = hd_node_ports(world->fabric, sw);
		*port = below(run, 8) ? (uint8_t)below(run, ports + 1) : HD_NO_PORT;
	} else if (kind == LEVEL && routes->sl) {
		uint8_t *level = save(saved, &routes->sl[(size_t)sw * routes->stride + lid], 1);
		*level = (uint8_t)below(run, 8);
	} else if (kind == LANE && routes->sl) {
		save(saved, lane, 1);
		*lane = (uint8_t)below(run, 8);
	} else {
		return false;
	}
	return true;
}

static bool change_plan(struct run *run, struct certificate_world *world, enum kind kind,
			struct saved *saved)
{
	const struct hd_ar_plan *plan = world->held && below(run, 2) ? world->held : world->plan;
	uint32_t sw = plan ? below(run, plan->switch_count) : 0;
	uint32_t lid = any_lid(run, world->fabric);
	const struct hd_ar_switch *row = plan ? &plan->switches[sw] : NULL;

	if (!row || !row->used || !lid)
		return false;
	uint32_t number = below(run, row->group_count), table = below(run, plan->table_count);
	if (hd_ar_group_is_empty(&row->groups[number]))
		return false;
	if (kind == ABOVE) {
		if (!world->certificate->above)
			return false;
		struct hd_port_set *above =
		    save(saved, &world->certificate->above[sw], sizeof(*above));
		uint32_t changed = 1 + below(run, hd_node_ports(world->fabric, sw));
		if (hd_port_set_has(above, changed))
			hd_port_set_remove(above, changed);
		else
			hd_port_set_add(above, changed);
		return true;
	}
	if (kind == GROUP) {
		uint16_t *group = save(saved, &row->lid_group[table][lid], sizeof(*group));
		if (row->lid_port[table][lid] == HD_NO_PORT)
			return false;
		*group = below(run, 4) ? (uint16_t)number : HD_AR_NO_GROUP;
		return true;
	}
	struct hd_ar_group *group = save(saved, &row->groups[number], sizeof(*group));
	uint32_t port = 1 + below(run, hd_node_ports(world->fabric, sw));
	if (!hd_port_set_has(&group->ports[0], port))
		hd_port_set_add(&group->ports[0], port);
	else if (hd_port_set_count(&group->ports[0]) > 1)
		hd_port_set_remove(&group->ports[0], port);
	return true;
}

static bool change_certificate(struct run *run, struct certificate_world *world, enum kind kind,
			       struct saved *saved)
{
	struct hd_certificate *certificate = world->certificate;
	uint32_t lane = below(run, HD_CERTIFICATE_LANES), lid = any_lid(run, world->fabric);
	uint32_t *number = NULL;

	if (kind == RANK && certificate->rank[lane])
		number = &certificate->rank[lane][below(run, certificate->link_count)];
	else if (kind == RANK && certificate->rank[0])
		number = &certificate->rank[0][below(run, certificate->link_count)];
	else if (kind == DISTANCE)
		number = &certificate->distance[below(run, (uint64_t)certificate->row_count *
							       certificate->switch_count)];
	if (number) {
		save(saved, number, sizeof(*number));
		*number = other_number(run, *number);
	} else if (kind == ROW && certificate->row_of_lid[lid] != HD_NONE) {
		number = save(saved, &certificate->row_of_lid[lid], sizeof(*number));
		*number = below(run, certificate->row_count);
	} else if (kind == UNREACHED) {
		save(saved, &certificate->unreached, sizeof(certificate->unreached));
		certificate->unreached += below(run, 2);
	}
	return number || kind == UNREACHED;
}

static bool change_steps(struct run *run, struct certificate_world *world, enum kind kind,
			 struct saved *saved)
{
	const struct hd_certificate_change *change = world->change;
	const struct hd_fabric *fabric = world->fabric;

	if (kind == BEFORE) {
		uint32_t sw = below(run, fabric->switch_count), lid = any_lid(run, fabric);
		uint8_t *port = save(saved, &hd_routes_row(world->before, sw)[lid], 1);
		*port =
		    below(run, 8) ? (uint8_t)below(run, hd_node_ports(fabric, sw) + 1) : HD_NO_PORT;
	} else {
		uint32_t entries = change->step_base[change->step_count];
		if (!entries)
			return false;
		struct hd_certificate_entry *entry = &change->entries[below(run, entries)];
		save(saved, entry, sizeof(*entry));
		if (below(run, 3) == 0 && (world->plan || world->held))
			entry->becomes = (enum hd_certificate_held)(1 + below(run, 3));
		else if (below(run, 2))
			entry->sw = below(run, fabric->switch_count);
		else
			entry->lid = any_lid(run, fabric);
	}
	return true;
}

/* One number of the certificate, or of one of a step. */
static bool change_proof(struct run *run, struct certificate_world *world, enum kind kind,
			 struct saved *saved)
{
	struct hd_certificate *whole = world->certificate;
	uint32_t step = world->change ? below(run, world->change->step_count + 1) : 0;

	if (step)
		world->certificate = world->change->mixture[step - 1];
	bool done = (kind != UNREACHED || !step) && change_certificate(run, world, kind, saved);
	world->certificate = whole;
	return done;
}

static void mutate(struct run *run, struct certificate_world *world, const char *what)
{
	enum kind kind = (enum kind)below(run, world->change ? KINDS : BEFORE);
	struct saved saved = {0};
	const char *reason = "";
	bool done = kind <= LANE     ? change_tables(run, world, kind, &saved)
		    : kind <= ABOVE  ? change_plan(run, world, kind, &saved)
		    : kind >= BEFORE ? change_steps(run, world, kind, &saved)
				     : change_proof(run, world, kind, &saved);

	if (!done)
		return;
	bool right = world->change ? certificate_oracle_change(world) : certificate_oracle(world);
	int status = verify(world, &reason);
	run->mutations++;
	run->changed[kind]++;
	run->broken[kind] += !right;
	if (status != !right) {
		run->failed++;
		printf("FAILED %s: another %s: oracle %d, program %d: %s\n", what, kind_names[kind],
		       right, status, reason);
	}
	memcpy(saved.place, saved.bytes, saved.size);
}

/* ---- certificates ---- */

#define WALKED_MAX 40u /* switches of fabrics that the oracle walks */

static void try_plan(struct run *run, struct certificate_world *world, const char *what,
		     unsigned mutations)
{
	const char *reason = "";
	struct hd_error err = {""};
	int rc = hd_ar_certify(world->fabric, world->routes, world->plan, NULL, &world->certificate,
			       &err);

	if (rc == -ENOTSUP &&
	    (world->routes->maps || (world->plan && world->plan->table_count > 1))) {
		run->no_plan++;
		return;
	}
	if (rc) {
		run->failed++;
		printf("FAILED %s: no certificate: error %d: %s\n", what, rc, err.text);
		return;
	}
	run->certificates++;
	run->with_plan += world->plan != NULL;
	run->with_private += world->plan && world->plan->table_count > 1;
	run->lanes += __builtin_popcount(world->certificate->lanes) > 1;
	if (verify(world, &reason)) {
		run->failed++;
		printf("FAILED %s: refused: %s\n", what, reason);
	}
	for (unsigned i = 0; i < mutations && world->fabric->switch_count <= WALKED_MAX; i++)
		mutate(run, world, what);
	hd_certificate_free(world->certificate);
}

/* Tables of an engine, and a plan on them or NULL. */
struct tables {
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
};

static void release(struct tables *tables)
{
	hd_routes_free(tables->routes);
	hd_ar_plan_free(tables->plan);
	*tables = (struct tables){0};
}

static bool narrows(const struct hd_certificate_change *change)
{
	for (uint32_t i = 0; i < change->step_base[change->step_count]; i++)
		if (change->entries[i].becomes != HD_CERTIFICATE_AFTER)
			return true;
	return false;
}

/* From what `before` has, with the plan `held`, to the tables of the world, with the plan `next`; NULL: no groups. */
static void try_change(struct run *run, struct certificate_world *world,
		       const struct hd_routes *before, const struct hd_ar_plan *held,
		       struct hd_ar_plan *next, const char *what, unsigned mutations)
{
	const struct hd_ar_certify_change request = {.fabric = world->fabric,
						     .before = before,
						     .after = world->routes,
						     .held = held,
						     .next = next};
	const char *reason = "";

	if (before->lid_count != world->routes->lid_count ||
	    hd_ar_certify_change(&request, &world->change, NULL)) {
		run->no_change++;
		return;
	}
	run->changes++;
	run->in_steps += world->change->step_count > 1;
	run->of_groups += held || next;
	run->narrowed += narrows(world->change);
	world->certificate = world->change->after;
	world->before = hd_routes_copy(before);
	world->held = (struct hd_ar_plan *)(size_t)held;
	world->plan = next;
	if (verify(world, &reason)) {
		run->failed++;
		printf("FAILED %s: change refused: %s\n", what, reason);
	}
	for (unsigned i = 0; i < mutations && world->fabric->switch_count <= WALKED_MAX; i++)
		mutate(run, world, what);
	hd_certificate_change_free(world->change);
	hd_routes_free(world->before);
	world->change = NULL;
	world->before = NULL;
	world->held = world->plan = NULL;
	world->certificate = NULL;
}

/* Returns the plan on the tables, or NULL. */
static struct hd_ar_plan *try_tables(struct run *run, struct certificate_world *world,
				     const char *what, unsigned mutations)
{
	const struct hd_ar_request request = {
	    .fabric = world->fabric, .routes = world->routes, .mode = HD_AR_FREE};
	struct hd_ar_plan *plan = NULL;

	try_plan(run, world, what, mutations);
	if (hd_ar_plan_new(&request, &plan, NULL, NULL)) {
		run->no_plan++;
		return NULL;
	}
	world->plan = plan;
	try_plan(run, world, what, mutations);
	world->plan = NULL;
	return plan;
}

/* The tables alone, and with groups before, after, or both. */
static void try_changes(struct run *run, struct certificate_world *world,
			const struct tables *before, struct hd_ar_plan *plan, const char *what,
			unsigned mutations)
{
	const bool held = before->plan && before->plan->table_count == 1;

	try_change(run, world, before->routes, NULL, NULL, what, mutations);
	if (plan && plan->table_count > 1)
		return;
	if (held && plan)
		try_change(run, world, before->routes, before->plan, plan, what, mutations);
	else if (held || plan)
		try_change(run, world, before->routes, held ? before->plan : NULL, plan, what,
			   mutations);
}

static void try_fabric(struct run *run, uint64_t number, unsigned mutations)
{
	struct sample sample;
	unsigned engine_count;
	const struct hd_engine *const *engines = hd_engines(&engine_count);
	struct tables before = {0}; /* of the engine before */
	char what[600];

	if (sample_draw(number, &sample, NULL)) {
		run->failed++;
		return;
	}
	struct certificate_world world = {.fabric = sample.fabric};
	FILE *stream = open_text(&world.topology, &world.topology_length);
	hd_fabric_write_netlist(sample.fabric, stream, NULL);
	fclose(stream);
	run->random = number * 977 + 1;
	for (unsigned i = 0; i < engine_count; i++) {
		const struct hd_route_request request = {.fabric = sample.fabric};
		snprintf(what, sizeof(what), "number %" PRIu64 ": %s %s: %s", number, sample.kind,
			 sample.recipe, engines[i]->name);
		if (hd_engine_route(engines[i], &request, &world.routes, NULL)) {
			run->refused_engines++;
			continue;
		}
		struct hd_ar_plan *plan = try_tables(run, &world, what, mutations);
		if (before.routes)
			try_changes(run, &world, &before, plan, what, mutations);
		release(&before);
		before = (struct tables){world.routes, plan};
	}
	release(&before);
	free(world.topology);
	sample_release(&sample);
}

int main(int argc, char **argv)
{
	unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;
	unsigned long long first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	unsigned mutations = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 0) : 4;
	struct run run = {0};

	for (unsigned long long i = 0; i < count; i++)
		try_fabric(&run, first + i, mutations);
	printf("%llu fabrics: %u certificates, %u with a plan, %u of these with private tables, %u "
	       "with "
	       "several lanes; %u tables without a plan; engines refused %u times\n",
	       count, run.certificates, run.with_plan, run.with_private, run.lanes, run.no_plan,
	       run.refused_engines);
	printf("%u changes, %u of them in several steps, %u with groups, %u of these narrowed; %u "
	       "without a certificate\n",
	       run.changes, run.in_steps, run.of_groups, run.narrowed, run.no_change);
	printf("%u mutations:", run.mutations);
	for (unsigned kind = 0; kind < KINDS; kind++)
		printf(" %s %u of %u%s", kind_names[kind], run.broken[kind], run.changed[kind],
		       kind + 1 < KINDS ? "," : " broke a property\n");
	printf("%u failed\n", run.failed);
	return run.failed ? 1 : 0;
}
