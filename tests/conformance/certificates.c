/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Certificates of all engines on random fabrics, and of broken tables.
 *
 *	certificates [COUNT [FIRST [MUTATIONS]]]
 *
 * Fabrics number FIRST .. FIRST + COUNT - 1, the tables of all engines, and plans of adaptive routing
 * over them. tools/verify_certificate must accept each certificate. Then, MUTATIONS times for each, one
 * number is changed at random: in the tables, service levels, plan or certificate. The program must
 * accept what a slow oracle accepts, and refuse all else. The oracle walks every path of every packet;
 * it shares nothing with the program, nor with what made the certificate. Exit status 1 if something
 * fails.
 */
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

enum kind { ENTRY, LEVEL, LANE, GROUP, GROUP_PORT, RANK, DISTANCE, ROW, UNREACHED, KINDS };

static const char *const kind_names[KINDS] = {"entry", "level",	   "lane", "group",    "group port",
					      "rank",  "distance", "row",  "unreached"};

/* Everything that the program reads. It may be changed. */
struct world {
	const struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan; /* NULL: none */
	struct hd_certificate *certificate;
	char *topology;
	size_t topology_length;
};

struct run {
	uint64_t random;
	unsigned certificates, with_plan, no_plan, refused_engines, failed, mutations, lanes;
	unsigned changed[KINDS], broken[KINDS];
};

/* ---- the oracle ---- */

struct packet {
	uint32_t lid, to, steps;
	uint8_t port;
	unsigned lane;
	const struct world *world;
	bool counts;
	bool *busy; /* [switch_count] packets of adapters to the LID pass the switch */
};

static bool may_leave(const struct world *world, uint32_t sw, uint32_t lid, uint32_t port,
		      bool groups)
{
	if (hd_routes_port(world->routes, sw, lid) == port)
		return port != HD_NO_PORT;
	uint32_t group = world->plan ? hd_ar_plan_group(world->plan, sw, 0, lid) : HD_AR_NO_GROUP;
	return groups && group != HD_AR_NO_GROUP &&
	       hd_port_set_has(&world->plan->switches[sw].groups[group].ports[0], port);
}

static uint32_t distance_of(const struct packet *packet, uint32_t sw)
{
	const struct hd_certificate *certificate = packet->world->certificate;

	return certificate
	    ->distance[(size_t)certificate->row_of_lid[packet->lid] * certificate->switch_count +
		       sw];
}

static bool follow(const struct packet *packet, uint32_t sw, uint32_t before);

static bool leave(const struct packet *packet, uint32_t sw, uint32_t before, uint32_t port)
{
	const struct hd_fabric *fabric = packet->world->fabric;
	uint32_t link = port && port <= hd_node_ports(fabric, sw)
			    ? hd_fabric_find_isl(fabric, sw, port)
			    : HD_NONE;

	if (sw == packet->to)
		return port == packet->port;
	if (link == HD_NONE || distance_of(packet, fabric->isl_to[link]) >= distance_of(packet, sw))
		return false;
	if (packet->counts) {
		const uint32_t *rank = packet->world->certificate->rank[packet->lane];
		if (!rank || rank[link] == HD_CERTIFICATE_NONE ||
		    (before != HD_NONE && rank[link] <= rank[before]))
			return false;
	}
	return follow(packet, fabric->isl_to[link], link);
}

/* Every path that the packet can take from here. Distances fall, so the walk ends. */
static bool follow(const struct packet *packet, uint32_t sw, uint32_t before)
{
	uint32_t ports = hd_node_ports(packet->world->fabric, sw);
	uint8_t entry = hd_routes_port(packet->world->routes, sw, packet->lid);
	bool left = false;

	if (distance_of(packet, sw) == HD_CERTIFICATE_NONE || entry == HD_NO_PORT || entry > ports)
		return false;
	packet->busy[sw] |= packet->counts;
	for (uint32_t port = 0; port <= ports; port++)
		if (may_leave(packet->world, sw, packet->lid, port,
			      packet->busy[sw] || !packet->port)) {
			left = true;
			if (!leave(packet, sw, before, port))
				return false;
		}
	return left;
}

static bool has_port(const struct world *world, uint32_t sw, uint32_t lid)
{
	for (uint32_t port = 0; port < HD_NO_PORT; port++)
		if (may_leave(world, sw, lid, port, true))
			return true;
	return false;
}

/* Packets from the switches with adapters, or from all others. */
static bool sources_proved(struct packet *packet, bool adapters)
{
	const struct world *world = packet->world;

	for (uint32_t sw = 0; sw < world->fabric->switch_count; sw++) {
		packet->counts = packet->port && hd_has_adapters(world->fabric, sw);
		packet->lane = hd_routes_vl(world->routes, sw, packet->lid);
		if (packet->counts != adapters)
			continue;
		if (distance_of(packet, sw) == HD_CERTIFICATE_NONE
			? has_port(world, sw, packet->lid)
			: !follow(packet, sw, HD_NONE))
			return false;
	}
	return true;
}

/* Packets to one LID from every switch. */
static bool lid_proved(const struct world *world, uint32_t lid, uint64_t *unreached)
{
	bool busy[UINT8_MAX] = {false};
	struct packet packet = {.world = world, .lid = lid, .busy = busy};

	if (!hd_fabric_lid_destination(world->fabric, lid, &packet.to, &packet.port))
		return true;
	for (uint32_t sw = 0; sw < world->fabric->switch_count; sw++)
		*unreached += distance_of(&packet, sw) == HD_CERTIFICATE_NONE;
	return sources_proved(&packet, true) && sources_proved(&packet, false);
}

/* Whether the plan belongs to the tables: its static ports are theirs. */
static bool plan_fits(const struct world *world)
{
	uint32_t to;
	uint8_t port;

	for (uint32_t sw = 0; world->plan && sw < world->plan->switch_count; sw++)
		for (uint32_t lid = 1; lid < world->plan->lid_count; lid++) {
			uint8_t static_port = world->plan->switches[sw].lid_port[0][lid];
			uint8_t table = hd_routes_port(world->routes, sw, lid);
			bool missing = static_port == HD_NO_PORT && table != HD_NO_PORT &&
				       world->plan->switches[sw].used &&
				       hd_fabric_lid_destination(world->fabric, lid, &to, &port);
			if (missing || (static_port != HD_NO_PORT && static_port != table))
				return false;
		}
	return true;
}

static bool proved(const struct world *world)
{
	uint64_t unreached = 0;

	if (!plan_fits(world))
		return false;
	for (uint32_t lid = 1; lid < world->fabric->lid_count; lid++)
		if (!lid_proved(world, lid, &unreached))
			return false;
	return unreached == world->certificate->unreached;
}

/* Distances must be below the number of switches in the file, whether they lead anywhere or not. */
static bool too_far(const struct world *world)
{
	const struct hd_certificate *certificate = world->certificate;

	for (size_t i = 0; i < (size_t)certificate->row_count * certificate->switch_count; i++)
		if (certificate->distance[i] != HD_CERTIFICATE_NONE &&
		    certificate->distance[i] >= certificate->switch_count)
			return true;
	return false;
}

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

static int verify(const struct world *world, const char **reason)
{
	char *bytes[VERIFIER_FILES] = {NULL};
	size_t lengths[VERIFIER_FILES] = {0};
	struct verifier_text texts[VERIFIER_FILES];
	int rc = 0;

	for (int file = 0; file < VERIFIER_FILES; file++) {
		if (file == VERIFIER_TOPOLOGY || (file == VERIFIER_PLAN && !world->plan))
			continue;
		FILE *stream = open_text(&bytes[file], &lengths[file]);
		if (file == VERIFIER_CERTIFICATE)
			rc |= hd_certificate_write(world->certificate, world->fabric, stream, NULL);
		else if (file == VERIFIER_TABLES)
			rc |= hd_routes_write_dump(world->fabric, world->routes, stream, NULL);
		else if (file == VERIFIER_LEVELS)
			rc |= hd_routes_write_levels(world->fabric, world->routes, stream, NULL);
		else
			rc |= hd_ar_write_far(world->plan, world->fabric, stream, NULL);
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

static bool change_tables(struct run *run, struct world *world, enum kind kind, struct saved *saved)
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

static bool change_plan(struct run *run, struct world *world, enum kind kind, struct saved *saved)
{
	uint32_t sw = world->plan ? below(run, world->plan->switch_count) : 0;
	uint32_t lid = any_lid(run, world->fabric);
	const struct hd_ar_switch *row = world->plan ? &world->plan->switches[sw] : NULL;

	if (!row || !row->used || !lid)
		return false;
	uint32_t number = below(run, row->group_count);
	if (hd_ar_group_is_empty(&row->groups[number]))
		return false;
	if (kind == GROUP) {
		uint16_t *group = save(saved, &row->lid_group[0][lid], sizeof(*group));
		if (row->lid_port[0][lid] == HD_NO_PORT)
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

static bool change_certificate(struct run *run, struct world *world, enum kind kind,
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

static void mutate(struct run *run, struct world *world, const char *what)
{
	enum kind kind = (enum kind)below(run, KINDS);
	struct saved saved;
	const char *reason = "";
	bool done = kind <= LANE	 ? change_tables(run, world, kind, &saved)
		    : kind <= GROUP_PORT ? change_plan(run, world, kind, &saved)
					 : change_certificate(run, world, kind, &saved);

	if (!done)
		return;
	bool right = proved(world) && !too_far(world);
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

static void try_plan(struct run *run, struct world *world, const char *what, unsigned mutations)
{
	const char *reason = "";
	struct hd_error err = {""};
	int rc =
	    hd_ar_certify(world->fabric, world->routes, world->plan, &world->certificate, &err);

	if (rc) {
		run->failed++;
		printf("FAILED %s: no certificate: error %d: %s\n", what, rc, err.text);
		return;
	}
	run->certificates++;
	run->with_plan += world->plan != NULL;
	run->lanes += __builtin_popcount(world->certificate->lanes) > 1;
	if (verify(world, &reason)) {
		run->failed++;
		printf("FAILED %s: refused: %s\n", what, reason);
	}
	for (unsigned i = 0; i < mutations && world->fabric->switch_count <= WALKED_MAX; i++)
		mutate(run, world, what);
	hd_certificate_free(world->certificate);
}

static void try_tables(struct run *run, struct world *world, const char *what, unsigned mutations)
{
	const struct hd_ar_request request = {
	    .fabric = world->fabric, .routes = world->routes, .mode = HD_AR_FREE};
	int rc;

	try_plan(run, world, what, mutations);
	rc = hd_ar_plan_new(&request, &world->plan, NULL, NULL);
	if (!rc && world->plan->table_count == 1)
		try_plan(run, world, what, mutations);
	else
		run->no_plan++;
	if (!rc)
		hd_ar_plan_free(world->plan);
	world->plan = NULL;
}

static void try_fabric(struct run *run, uint64_t number, unsigned mutations)
{
	struct sample sample;
	unsigned engine_count;
	const struct hd_engine *const *engines = hd_engines(&engine_count);
	char what[600];

	if (sample_draw(number, &sample, NULL)) {
		run->failed++;
		return;
	}
	struct world world = {.fabric = sample.fabric};
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
		try_tables(run, &world, what, mutations);
		hd_routes_free(world.routes);
	}
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
	printf("%llu fabrics: %u certificates, %u with a plan, %u with several lanes; %u tables "
	       "without a plan, "
	       "or with one that has private tables; engines refused %u times\n",
	       count, run.certificates, run.with_plan, run.lanes, run.no_plan, run.refused_engines);
	printf("%u mutations:", run.mutations);
	for (unsigned kind = 0; kind < KINDS; kind++)
		printf(" %s %u of %u%s", kind_names[kind], run.broken[kind], run.changed[kind],
		       kind + 1 < KINDS ? "," : " broke a property\n");
	printf("%u failed\n", run.failed);
	return run.failed ? 1 : 0;
}
