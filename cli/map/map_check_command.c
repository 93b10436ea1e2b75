/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle map check: whether maps can be loaded, and whether they fit the subnets. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "shared_arguments.h"
#include "subnets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct check_job {
	struct subnets subnets;
	bool json, verbose;
	json_t *list; /* what was found, for --json */
	bool faults;
};

static const struct argument arguments[] = {
    SUBNETS_ARGUMENT(struct check_job, subnets), SUBNETS_MAPS(struct check_job, subnets),
    SUBNETS_NAMES(struct check_job, subnets),	 SHARED_JSON(struct check_job, json),
    SHARED_VERBOSE(struct check_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle map check [OPTION]... MAP...\n"
		"   or: heddle map check [OPTION]... --subnet PREFIX=FABRIC... --maps FOLDER",
    .summary = "Checks that maps can be loaded. With the subnets: also that the router ports "
	       "exist, and that\nthey lead to all destinations.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the maps are right", "a map is wrong", "bad input or usage"},
};

/* One result: a line, or an entry of the list. */
static void report(struct check_job *job, const char *name, const struct hd_map *map,
		   const char *fault)
{
	job->faults |= fault != NULL;
	if (job->json) {
		job->list = json_value_append(
		    job->list, json_pack("{s:o, s:o, s:I}", "map", json_value_text(name), "fault",
					 fault ? json_value_text(fault) : json_null(), "gids",
					 (json_int_t)(map ? map->gid_count : 0)));
		return;
	}
	if (fault)
		printf("%s\n", fault);
	else
		printf("%s: %" PRIu32 " GIDs, %" PRIu32 " blocks, %" PRIu32 " * lines, %" PRIu32
		       " router ports\n",
		       name, map->gid_count, map->block_count, map->default_count, map->port_count);
}

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct coverage {
	uint32_t destinations, without, wrong;
	char first_without[HD_GID_TEXT], first_wrong[HD_GID_TEXT];
};

static void check_destination(const struct hd_interconnect *interconnect, uint32_t subnet,
			      uint32_t to, uint32_t host, struct coverage *coverage)
{
	const struct hd_subnet *other = &interconnect->subnets[to];
	const struct hd_map *map = interconnect->subnets[subnet].map;
	struct hd_gid gid = {other->prefix,
			     other->fabric->port_guid[other->fabric->host_port[host]]};
	struct hd_map_answer answer;

	coverage->destinations++;
	if (!hd_map_resolve(map, &gid, NULL, &answer)) {
		if (!coverage->without++)
			hd_gid_print(&gid, coverage->first_without);
		return;
	}
	uint32_t port = hd_interconnect_find_port(interconnect, subnet, answer.port_guid);
	if (port != HD_NONE && !hd_interconnect_leads(interconnect, port, to) && !coverage->wrong++)
		hd_gid_print(&gid, coverage->first_wrong);
}

static void check_destinations(struct check_job *job, uint32_t subnet, const char *name)
{
	const struct hd_interconnect *interconnect = job->subnets.interconnect;
	struct coverage coverage = {0};
	char text[200];

	for (uint32_t to = 0; to < interconnect->subnet_count; to++) {
		const struct hd_fabric *fabric = interconnect->subnets[to].fabric;
		for (uint32_t host = 0; to != subnet && host < fabric->host_count; host++)
			if (fabric->node_type[fabric->port_node[fabric->host_port[host]]] == HD_CA)
				check_destination(interconnect, subnet, to, host, &coverage);
	}
	if (coverage.without) {
		snprintf(text, sizeof(text),
			 "%s: %" PRIu32 " of %" PRIu32 " destinations have no line, such as %s",
			 name, coverage.without, coverage.destinations, coverage.first_without);
		report(job, name, NULL, text);
	}
	if (coverage.wrong) {
		snprintf(text, sizeof(text),
			 "%s: the router ports of %" PRIu32
			 " destinations do not lead to them, such as %s",
			 name, coverage.wrong, coverage.first_wrong);
		report(job, name, NULL, text);
	}
}

static int check_subnets(struct check_job *job)
{
	struct hd_log log = message_log(job->verbose);
	struct hd_error err = {""};
	int status = subnets_load(&job->subnets, SUBNETS_MAP, &log, &err) ? message_fail(&err) : 0;

	for (uint32_t i = 0; !status && i < job->subnets.count; i++) {
		const struct hd_subnet *subnet = &job->subnets.interconnect->subnets[i];
		char *name = subnets_map_path(job->subnets.maps, subnet->prefix);
		report(job, name, subnet->map, NULL);
		const struct hd_interconnect *interconnect = job->subnets.interconnect;
		uint32_t begin = interconnect->ordered_base[i];
		uint32_t count = interconnect->ordered_base[i + 1] - begin;
		uint64_t *guids = need(calloc((size_t)count + 1, sizeof(*guids)));
		for (uint32_t k = 0; k < count; k++)
			guids[k] = interconnect->ports[interconnect->ordered[begin + k]].guid;
		qsort(guids, count, sizeof(*guids), compare_guids);
		int rc = hd_map_check_ports(interconnect->subnets[i].map, name, guids, count, NULL,
					    &err);
		free(guids);
		if (rc == -ENOENT)
			report(job, name, NULL, err.text);
		status = rc && rc != -ENOENT ? message_fail(&err) : 0;
		if (!status)
			check_destinations(job, i, name);
		free(name);
	}
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct check_job *job = context;
	int status = 0;

	if (job->subnets.count && operands->count)
		return message_error("'%s': with --subnet the maps are in the folder of --maps",
				     operands->items[0]);
	if (!job->subnets.count && !operands->count)
		return arguments_refuse(&usage, "no map given");
	job->list = job->json ? json_array() : NULL;
	if (job->subnets.count)
		status = check_subnets(job);
	for (unsigned i = 0; !status && i < operands->count; i++) {
		const char *path = operands->items[i];
		struct hd_map *map = NULL;
		struct hd_error err = {""};
		int rc = hd_map_read(path, &map, &err);
		if (rc && rc != -EINVAL && rc != -ENODATA)
			status = message_fail(&err);
		else {
			report(job, path, map, rc ? err.text : NULL);
			hd_map_free(map);
			status = 0;
		}
	}
	if (status) {
		json_decref(job->list);
		return status;
	}
	status = job->faults ? STATUS_FAULTS : STATUS_CLEAN;
	return job->json ? json_value_print(job->list, status) : status;
}

int map_check(int argc, char **argv)
{
	struct check_job job = {.json = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	subnets_release(&job.subnets);
	return status;
}
