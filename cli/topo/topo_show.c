/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo show: what a fabric consists of. */
#include "commands.h"
#include "csv.h"
#include "json_value.h"
#include "machines_source.h"
#include "message.h"
#include "need.h"
#include "policy_arguments.h"
#include "shared_arguments.h"

#include <byteswap.h>
#include <heddle/fabric.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The switches of a fabric as a table for spreadsheets. */

static void write_switch(struct csv *csv, const struct hd_fabric *fabric, uint32_t sw,
			 uint32_t level)
{
	csv_text(csv, fabric->node_name[sw]);
	csv_guid(csv, fabric->node_guid[sw]);
	csv_number(csv, fabric->lid[hd_port_index(fabric, sw, 0)]);
	if (level == HD_NONE)
		csv_empty(csv);
	else
		csv_number(csv, level);
	csv_number(csv, hd_node_ports(fabric, sw));
	csv_number(csv, fabric->host_base[sw + 1] - fabric->host_base[sw]);
	csv_number(csv, fabric->isl_base[sw + 1] - fabric->isl_base[sw]);
	csv_end_row(csv);
}

/* What `heddle topo show` shows, counted but not printed. */

struct radix_count {
	uint32_t radix, switches;
};

struct link_count {
	uint32_t width;
	enum hd_speed speed;
	uint32_t between_switches, to_hosts;
};

struct topo_facts {
	uint32_t adapters, routers; /* nodes that are not switches */
	uint32_t uncabled; /* adapters and routers without a cable */
	uint32_t cables; /* between two switches */
	uint32_t self_looped; /* cables from a node to itself, which `links` leaves out */
	struct radix_count *radixes; /* ascending */
	uint32_t radix_count;
	struct link_count *links; /* by width, then speed */
	uint32_t link_count;
	uint32_t *levels; /* switches at 1 + their distance from a switch with hosts */
	uint32_t level_count;
	uint32_t unlevelled; /* switches that no host reaches */
	uint32_t components; /* of all nodes */
	uint32_t lids, last_lid;
	uint32_t lmc_hosts[HD_LMC_INFINIBAND + 1]; /* hosts with each LMC */
	int largest_lmc; /* topo_lids_largest_lmc() */
	uint32_t *machines; /* [hosts + 1] machines by their ports */
	struct hd_arena arena; /* holds the arrays */
};

/* How many LIDs OpenSM needs for a fabric. */

struct lid_port {
	uint64_t key; /* the GUID in the order in which OpenSM compares it */
	bool is_switch;
};

static int compare(const void *left, const void *right)
{
	const struct lid_port *a = left, *b = right;

	return a->key < b->key ? -1 : a->key > b->key;
}

static struct lid_port adapter(const struct hd_fabric *fabric, uint32_t port)
{
	uint64_t guid = fabric->port_guid[port];

	return (struct lid_port){bswap_64(guid ? guid : fabric->node_guid[fabric->port_node[port]]),
				 false};
}

static uint32_t list_ports(const struct hd_fabric *fabric, struct lid_port *ports)
{
	uint32_t count = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		ports[count++] = adapter(fabric, fabric->host_port[host]);
	for (uint32_t i = 0; i < fabric->aside_count; i++)
		ports[count++] = adapter(fabric, fabric->aside_port[i]);
	uint32_t first = count > 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		ports[count++] = (struct lid_port){bswap_64(fabric->node_guid[sw]), true};
	/* the subnet manager's own port stays first */
	qsort(ports + first, count - first, sizeof(*ports), compare);
	return count;
}

static bool fits(const struct lid_port *ports, uint32_t count, unsigned lmc)
{
	uint32_t next = 1;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t lids = ports[i].is_switch ? 1 : 1u << lmc;
		next = (next + lids - 1) / lids * lids + lids;
		if (next - 1 > HD_LID_LAST)
			return false;
	}
	return true;
}

#define WIDTHS 256

static bool is_cabled(const struct hd_fabric *fabric, uint32_t node)
{
	for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1]; port++)
		if (fabric->peer[port] != HD_NONE)
			return true;
	return false;
}

/* Every cable is counted at its lower port, so that cables between two hosts count as well. */
static void count_links(const struct hd_fabric *fabric, struct topo_facts *facts)
{
	struct link_count(*table)[HD_SPEED_COUNT] = need_of(&facts->arena, WIDTHS, sizeof(*table));
	facts->links = need_of(&facts->arena, WIDTHS * HD_SPEED_COUNT, sizeof(*facts->links));
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		uint32_t peer = fabric->peer[port];
		if (peer == HD_NONE || peer < port)
			continue;
		if (fabric->port_node[peer] == fabric->port_node[port]) {
			facts->self_looped++;
			continue;
		}
		struct link_count *entry = &table[fabric->width[port]][fabric->speed[port]];
		bool isl = hd_is_switch(fabric, fabric->port_node[port]) &&
			   hd_is_switch(fabric, fabric->port_node[peer]);
		entry->between_switches += isl;
		entry->to_hosts += !isl;
	}
	for (uint32_t width = 0; width < WIDTHS; width++) {
		for (unsigned speed = 0; speed < HD_SPEED_COUNT; speed++) {
			struct link_count entry = table[width][speed];
			entry.width = width;
			entry.speed = (enum hd_speed)speed;
			if (entry.between_switches || entry.to_hosts)
				facts->links[facts->link_count++] = entry;
		}
	}
}

static void flood(const struct hd_fabric *fabric, uint32_t start, uint32_t *queue, bool *seen)
{
	uint32_t head = 0, tail = 0;

	seen[queue[tail++] = start] = true;
	while (head < tail) {
		uint32_t node = queue[head++];
		for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1];
		     port++) {
			uint32_t peer = fabric->peer[port];
			if (peer != HD_NONE && !seen[fabric->port_node[peer]])
				seen[queue[tail++] = fabric->port_node[peer]] = true;
		}
	}
}

/* Counts; released with hd_arena_release(&facts->arena). */
static void topo_facts_count(const struct hd_fabric *fabric, const struct hd_machines *machines,
			     struct topo_facts *facts)
{
	*facts = (struct topo_facts){.radix_count = 0};
	for (uint32_t node = fabric->switch_count; node < fabric->node_count; node++) {
		facts->adapters += fabric->node_type[node] == HD_CA;
		facts->routers += fabric->node_type[node] == HD_ROUTER;
		facts->uncabled += !is_cabled(fabric, node);
	}
	facts->cables = fabric->isl_count / 2;
	facts->lids = hd_fabric_lids_in_use(fabric);
	facts->last_lid = fabric->lid_count - 1;
	for (uint32_t host = 0; host < fabric->host_count; host++)
		facts->lmc_hosts[fabric->lmc[fabric->host_port[host]] & HD_LMC_INFINIBAND]++;
	uint32_t by_radix[HD_PORTS_MAX + 1] = {0};
	facts->radixes = need_of(&facts->arena, HD_PORTS_MAX, sizeof(*facts->radixes));
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		by_radix[hd_node_ports(fabric, sw)]++;
	for (uint32_t radix = 1; radix <= HD_PORTS_MAX; radix++)
		if (by_radix[radix])
			facts->radixes[facts->radix_count++] =
			    (struct radix_count){radix, by_radix[radix]};
	count_links(fabric, facts);
	uint32_t *queue = need_of(&facts->arena, fabric->node_count, sizeof(*queue));
	bool *seen = need_of(&facts->arena, fabric->node_count, sizeof(*seen));
	for (uint32_t node = 0; node < fabric->node_count; node++) {
		if (seen[node])
			continue;
		flood(fabric, node, queue, seen);
		facts->components++;
	}
	facts->machines = need_of(&facts->arena, (size_t)fabric->host_count + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < machines->count; i++)
		facts->machines[hd_machines_size(machines, i)]++;
	/* The largest LMC for which OpenSM's LID manager has enough LIDs when it knows no LIDs yet, or -1 if even
	 * LMC 0 is too much. The manager takes ports in the order of their GUIDs' bytes from the last to the
	 * first, after the port of the subnet manager itself, for which the first host stands here. It gives each
	 * the next free LID, a multiple of 2^LMC for an adapter, and never returns to the LIDs that it has passed
	 * over. So an adapter after a switch can cost twice its LIDs. Source: lid_mgr_find_free_lid_range() of
	 * OpenSM 3.3.23. */
	size_t most = (size_t)fabric->host_count + fabric->aside_count + fabric->switch_count;
	struct lid_port *ports = need(calloc(most + 1, sizeof(*ports)));
	int lmc = HD_LMC_INFINIBAND;
	uint32_t count = list_ports(fabric, ports);
	while (lmc >= 0 && !fits(ports, count, (unsigned)lmc))
		lmc--;
	free(ports);
	facts->largest_lmc = lmc;
	uint32_t switches = fabric->switch_count;
	uint32_t *level = need_of(&facts->arena, switches, sizeof(*level));
	facts->levels = need_of(&facts->arena, switches, sizeof(*facts->levels));
	need_enough(hd_fabric_levels(fabric, level, NULL));
	for (uint32_t sw = 0; sw < switches; sw++) {
		if (level[sw] == HD_NONE) {
			facts->unlevelled++;
			continue;
		}
		facts->levels[level[sw]]++;
		if (level[sw] >= facts->level_count)
			facts->level_count = level[sw] + 1;
	}
}

struct show_job {
	struct policy_arguments policy;
	struct machines_source source;
	struct hd_fabric *fabric;
	struct hd_machines *machines;
	bool json, csv, verbose;
};

static const struct argument arguments[] = {
    POLICY_ASIDE(struct show_job, policy),
    MACHINES_ARGUMENT(struct show_job, source),
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

static void print_machines(const struct hd_fabric *fabric, const struct hd_machines *machines,
			   const struct topo_facts *facts, bool verbose)
{
	if (machines->by == HD_MACHINES_ALONE) {
		printf("machines     none is known to have several adapters%s\n",
		       verbose ? ":" : "");
		if (verbose)
			printf("  %s\n", machines->why);
		return;
	}
	printf("machines     %" PRIu32 ", by %s\n", machines->count,
	       hd_machines_source(machines->by));
	for (uint32_t ports = 1; ports <= fabric->host_count; ports++)
		if (facts->machines[ports])
			printf("  %3" PRIu32 " port%s  %" PRIu32 "\n", ports,
			       ports == 1 ? " " : "s", facts->machines[ports]);
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

static json_t *machines_json(const struct hd_fabric *fabric, const struct hd_machines *machines,
			     const struct topo_facts *facts)
{
	bool known = machines->by != HD_MACHINES_ALONE;
	json_t *list = json_array();

	for (uint32_t ports = 1; known && ports <= fabric->host_count; ports++)
		if (facts->machines[ports])
			list = json_value_append(
			    list, json_pack("{s:I, s:I}", "ports", (json_int_t)ports, "machines",
					    (json_int_t)facts->machines[ports]));
	return json_pack("{s:s, s:I, s:o, s:o}", "by", machines_source_word(machines->by), "count",
			 known ? (json_int_t)machines->count : (json_int_t)0, "by_ports", list,
			 "why_not_others", json_value_text(machines->why));
}

static json_t *facts_json(const struct hd_fabric *fabric, const struct hd_machines *machines,
			  const struct topo_facts *facts)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < facts->level_count; i++)
		list = json_value_append(list, json_integer(facts->levels[i]));
	json_t *hosts = json_array();
	for (unsigned lmc = 0; lmc <= HD_LMC_INFINIBAND; lmc++)
		hosts =
		    json_value_append(hosts, json_integer(facts->lids ? facts->lmc_hosts[lmc] : 0));
	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
	    "nodes", (json_int_t)fabric->node_count, "hosts", (json_int_t)fabric->host_count,
	    "aggregation_nodes", (json_int_t)fabric->aside_count, "channel_adapters",
	    (json_int_t)facts->adapters, "routers", (json_int_t)facts->routers, "uncabled",
	    (json_int_t)facts->uncabled, "switches", (json_int_t)fabric->switch_count,
	    "switches_by_radix", radixes_json(facts), "switches_by_level", list,
	    "switches_without_host", (json_int_t)facts->unlevelled, "components",
	    (json_int_t)facts->components, "cables_between_switches", (json_int_t)facts->cables,
	    "self_looped_cables", (json_int_t)facts->self_looped, "links", links_json(facts),
	    "lids",
	    json_pack("{s:I, s:I, s:o, s:i}", "in_use", (json_int_t)facts->lids, "last",
		      (json_int_t)facts->last_lid, "hosts_by_lmc", hosts, "largest_lmc",
		      facts->largest_lmc),
	    "machines", machines_json(fabric, machines, facts));
}

static int show_facts(const struct show_job *job)
{
	struct topo_facts facts;
	int status = STATUS_CLEAN;

	topo_facts_count(job->fabric, job->machines, &facts);
	if (job->json) {
		status =
		    json_value_print(facts_json(job->fabric, job->machines, &facts), STATUS_CLEAN);
	} else {
		printf("nodes        %" PRIu32 "\n", job->fabric->node_count);
		printf("hosts        %" PRIu32 " ports on switches (%" PRIu32
		       " channel adapters, %" PRIu32 " routers, %" PRIu32 " of them uncabled)\n",
		       job->fabric->host_count, facts.adapters, facts.routers, facts.uncabled);
		if (job->fabric->aside_count)
			printf("aggregation  %" PRIu32
			       " ports of aggregation nodes on switches, which are not hosts\n",
			       job->fabric->aside_count);
		printf("switches     %" PRIu32 "\n", job->fabric->switch_count);
		for (uint32_t i = 0; i < facts.radix_count; i++)
			printf("  %3" PRIu32 " ports  %" PRIu32 "\n", facts.radixes[i].radix,
			       facts.radixes[i].switches);
		for (uint32_t i = 0; i < facts.level_count; i++)
			printf("  level %-3" PRIu32 "  %" PRIu32 "\n", i, facts.levels[i]);
		if (facts.unlevelled)
			printf("  no host    %" PRIu32 "\n", facts.unlevelled);
		printf("connected    %s", facts.components == 1 ? "yes\n" : "no, ");
		if (facts.components > 1)
			printf("%" PRIu32 " components\n", facts.components);
		print_machines(job->fabric, job->machines, &facts, job->verbose);
		printf("cables       %" PRIu32 " between switches", facts.cables);
		if (facts.self_looped)
			printf(", %" PRIu32 " from a node to itself, which carry nothing",
			       facts.self_looped);
		putchar('\n');
		for (uint32_t i = 0; i < facts.link_count; i++) {
			const struct link_count *link = &facts.links[i];
			printf("  %ux %-7s %" PRIu32 " between switches, %" PRIu32 " to hosts\n",
			       link->width, hd_speed_name(link->speed), link->between_switches,
			       link->to_hosts);
		}
		if (facts.lids)
			printf("LIDs         %" PRIu32 " in use, the last is %" PRIu32 "\n",
			       facts.lids, facts.last_lid);
		else
			puts("LIDs         none");
		for (unsigned lmc = 0; facts.lids && lmc <= HD_LMC_INFINIBAND; lmc++)
			if (facts.lmc_hosts[lmc])
				printf("  LMC %u      %" PRIu32 " hosts\n", lmc,
				       facts.lmc_hosts[lmc]);
		if (facts.largest_lmc < 0)
			puts("largest LMC  none: there are more nodes than LIDs");
		else
			printf("largest LMC  %d\n", facts.largest_lmc);
	}
	hd_arena_release(&facts.arena);
	return status;
}

static int show_fabric(struct show_job *job, const char *path)
{
	struct hd_log log = message_log(job->verbose);
	struct hd_error err;

	if (policy_arguments_load(&job->policy, path, LMC_KEEP, &log, &job->fabric, &err) ||
	    machines_source_load(&job->source, job->fabric, &job->machines, &err))
		return message_fail(&err);
	if (!job->csv)
		return show_facts(job);
	/* Prints a row for each switch. Levels count from 1, as in heddle topo show; a switch that no host reaches
	 * has none. */
	uint32_t *level = need(malloc(job->fabric->switch_count * sizeof(*level)));
	need_enough(hd_fabric_levels(job->fabric, level, NULL));
	struct csv csv = csv_begin(stdout, "switch,guid,lid,level,ports,hosts,links");
	for (uint32_t sw = 0; sw < job->fabric->switch_count; sw++)
		write_switch(&csv, job->fabric, sw, level[sw]);
	free(level);
	return STATUS_CLEAN;
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

	hd_machines_free(job.machines);
	hd_fabric_free(job.fabric);
	policy_arguments_release(&job.policy);
	return status;
}
