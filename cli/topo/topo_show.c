/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo show: what a fabric consists of. */
#include "commands.h"
#include "csv.h"
#include "json_value.h"
#include "message.h"
#include "policy_arguments.h"
#include "shared_arguments.h"
#include "topo_csv.h"
#include "topo_facts.h"

#include <inttypes.h>
#include <stdio.h>

struct show_job {
	struct policy_arguments policy;
	bool json, csv, verbose;
};

static const struct argument arguments[] = {
    POLICY_ASIDE(struct show_job, policy),
    SHARED_JSON(struct show_job, json),
    {0, "csv", NULL, "print all switches as a table for spreadsheets",
     ARGUMENT_FLAG(struct show_job, csv)},
    SHARED_VERBOSE(struct show_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle topo show [OPTION]... FABRIC",
    .summary = "Shows what a fabric consists of.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"done", NULL, "bad input or usage"},
};

static void print_nodes(const struct hd_fabric *fabric, const struct topo_facts *facts)
{
	printf("nodes        %" PRIu32 "\n", fabric->node_count);
	printf("hosts        %" PRIu32 " ports on switches (%" PRIu32 " channel adapters, %" PRIu32
	       " routers, %" PRIu32 " of them uncabled)\n",
	       fabric->host_count, facts->adapters, facts->routers, facts->uncabled);
	if (fabric->aside_count)
		printf("aggregation  %" PRIu32
		       " ports of aggregation nodes on switches, which are not hosts\n",
		       fabric->aside_count);
	printf("switches     %" PRIu32 "\n", fabric->switch_count);
	for (uint32_t i = 0; i < facts->radix_count; i++)
		printf("  %3" PRIu32 " ports  %" PRIu32 "\n", facts->radixes[i].radix,
		       facts->radixes[i].switches);
	for (uint32_t i = 0; i < facts->level_count; i++)
		printf("  level %-3" PRIu32 "  %" PRIu32 "\n", i, facts->levels[i]);
	if (facts->unlevelled)
		printf("  no host    %" PRIu32 "\n", facts->unlevelled);
	printf("connected    %s", facts->components == 1 ? "yes\n" : "no, ");
	if (facts->components > 1)
		printf("%" PRIu32 " components\n", facts->components);
}

static void print_links(const struct topo_facts *facts)
{
	printf("cables       %" PRIu32 " between switches", facts->cables);
	if (facts->self_looped)
		printf(", %" PRIu32 " from a node to itself, which carry nothing",
		       facts->self_looped);
	putchar('\n');
	for (uint32_t i = 0; i < facts->link_count; i++) {
		const struct link_count *link = &facts->links[i];
		printf("  %ux %-7s %" PRIu32 " between switches, %" PRIu32 " to hosts\n",
		       link->width, hd_speed_name(link->speed), link->between_switches,
		       link->to_hosts);
	}
}

static void print_lids(const struct topo_facts *facts)
{
	if (facts->lids)
		printf("LIDs         %" PRIu32 " in use, the last is %" PRIu32 "\n", facts->lids,
		       facts->last_lid);
	else
		puts("LIDs         none");
	for (unsigned lmc = 0; facts->lids && lmc <= HD_LMC_INFINIBAND; lmc++)
		if (facts->lmc_hosts[lmc])
			printf("  LMC %u      %" PRIu32 " hosts\n", lmc, facts->lmc_hosts[lmc]);
	if (facts->largest_lmc < 0)
		puts("largest LMC  none: there are more nodes than LIDs");
	else
		printf("largest LMC  %d\n", facts->largest_lmc);
}

static json_t *levels_json(const struct topo_facts *facts)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < facts->level_count; i++)
		list = json_value_append(list, json_integer(facts->levels[i]));
	return list;
}

static json_t *radixes_json(const struct topo_facts *facts)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < facts->radix_count; i++)
		list = json_value_append(
		    list, json_pack("{s:I, s:I}", "ports", (json_int_t)facts->radixes[i].radix,
				    "switches", (json_int_t)facts->radixes[i].switches));
	return list;
}

static json_t *links_json(const struct topo_facts *facts)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < facts->link_count; i++) {
		const struct link_count *link = &facts->links[i];
		list = json_value_append(
		    list, json_pack("{s:I, s:s, s:I, s:I}", "width", (json_int_t)link->width,
				    "speed", hd_speed_name(link->speed), "between_switches",
				    (json_int_t)link->between_switches, "to_hosts",
				    (json_int_t)link->to_hosts));
	}
	return list;
}

static json_t *lids_json(const struct topo_facts *facts)
{
	json_t *hosts = json_array();

	for (unsigned lmc = 0; lmc <= HD_LMC_INFINIBAND; lmc++)
		hosts =
		    json_value_append(hosts, json_integer(facts->lids ? facts->lmc_hosts[lmc] : 0));
	return json_pack("{s:I, s:I, s:o, s:i}", "in_use", (json_int_t)facts->lids, "last",
			 (json_int_t)facts->last_lid, "hosts_by_lmc", hosts, "largest_lmc",
			 facts->largest_lmc);
}

static json_t *facts_json(const struct hd_fabric *fabric, const struct topo_facts *facts)
{
	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o}", "nodes",
	    (json_int_t)fabric->node_count, "hosts", (json_int_t)fabric->host_count,
	    "aggregation_nodes", (json_int_t)fabric->aside_count, "channel_adapters",
	    (json_int_t)facts->adapters, "routers", (json_int_t)facts->routers, "uncabled",
	    (json_int_t)facts->uncabled, "switches", (json_int_t)fabric->switch_count,
	    "switches_by_radix", radixes_json(facts), "switches_by_level", levels_json(facts),
	    "switches_without_host", (json_int_t)facts->unlevelled, "components",
	    (json_int_t)facts->components, "cables_between_switches", (json_int_t)facts->cables,
	    "self_looped_cables", (json_int_t)facts->self_looped, "links", links_json(facts),
	    "lids", lids_json(facts));
}

static int show_fabric(struct show_job *job, const char *path)
{
	struct hd_log log = message_log(job->verbose);
	struct hd_fabric *fabric = NULL;
	struct topo_facts facts;
	struct hd_error err;
	int status = STATUS_CLEAN;

	if (policy_arguments_load(&job->policy, path, LMC_KEEP, &log, &fabric, &err))
		return message_fail(&err);
	if (job->csv) {
		status = topo_csv(fabric, &err) ? message_fail(&err) : STATUS_CLEAN;
		hd_fabric_free(fabric);
		return status;
	}
	if (topo_facts_count(fabric, &facts, &err)) {
		hd_fabric_free(fabric);
		return message_fail(&err);
	}
	if (job->json) {
		status = json_value_print(facts_json(fabric, &facts), STATUS_CLEAN);
	} else {
		print_nodes(fabric, &facts);
		print_links(&facts);
		print_lids(&facts);
	}
	hd_arena_release(&facts.arena);
	hd_fabric_free(fabric);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	const struct show_job *job = context;
	int status = arguments_expect(&usage, operands, "one FABRIC", 1, 1);

	if (!status)
		status = csv_refuse(job->csv, job->json);
	return status ? status : show_fabric(context, operands->items[0]);
}

int topo_show(int argc, char **argv)
{
	struct show_job job = {.json = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	policy_arguments_release(&job.policy);
	return status;
}
