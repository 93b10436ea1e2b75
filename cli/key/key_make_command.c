/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle key make: the routing keys of an application, offline. */
#include "commands.h"
#include "json_value.h"
#include "key_phases.h"
#include "message.h"
#include "need.h"
#include "shared_arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `heddle key make` prints. */

#define BAR 40u /* characters of the longest bar */

static const char *host_name(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_name[fabric->port_node[fabric->host_port[host]]];
}

static void find_reason(const struct key_phases *phases, const struct hd_key_route *route,
			struct hd_error *why)
{
	const struct hd_key_flow flow = {route->source, route->destination};

	if (hd_key_has_path(phases->tree, &flow))
		hd_error_set(why, -ELOOP, "with it the tables would have a credit loop");
	else
		hd_key_explain_flow(phases->tree, &flow, why);
}

struct share {
	uint64_t flows, own, base_own;
};

static void print_route(const struct key_phases *phases, const struct key_phase *phase,
			const struct hd_key_route *route, uint32_t most)
{
	const struct hd_fabric *fabric = phases->fabric;
	uint32_t links[2 * HD_KEY_LEVELS];
	uint32_t count = hd_key_path(phases->tree, route, phase->shift, links);

	printf("      %s to %s, LID %u:", host_name(fabric, route->source),
	       host_name(fabric, route->destination),
	       fabric->lid[fabric->host_port[route->destination]] + phase->first_offset +
		   route->offset);
	for (uint32_t hop = 0; hop < count; hop++)
		printf(" %s[%u]", fabric->node_name[hd_isl_from(fabric, links[hop])],
		       fabric->isl_port[links[hop]]);
	printf(" %s[%u]", fabric->node_name[fabric->host_switch[route->destination]],
	       fabric->host_switch_port[route->destination]);
	if (most > 1)
		printf(", shares a link with %" PRIu32 " others", most - 1);
	putchar('\n');
}

static const char *base_name(const struct key_phases *phases)
{
	return phases->request->tables->name;
}

/* A line for each phase; with `verbose` the paths of all flows, too. */
static void key_report_print(const struct key_phases *phases, bool verbose)
{
	const struct key_phases_request *request = phases->request;

	printf("pattern  %s, %" PRIu32 " hosts, %" PRIu32 " phases\n", request->pattern,
	       phases->pattern->ranks, phases->pattern->phase_count);
	if (phases->base)
		printf("without  %s\n", base_name(phases));
	printf("\n%5s %7s %7s %7s %7s %8s %11s", "phase", "flows", "demand", "usable", "offset",
	       "entries", "contention");
	if (request->load_file)
		printf(" %11s", "with others");
	if (phases->base)
		printf(" %12s", "without keys");
	putchar('\n');
	for (uint32_t i = 0; i < phases->pattern->phase_count; i++) {
		const struct key_phase *phase = &phases->phases[i];
		const struct hd_key *key = phase->key;
		printf("%5" PRIu32 " %7" PRIu32 " %7" PRIu32 " %7" PRIu32, i, key->flow_count,
		       key->demand, key->usable);
		char text[32];
		if (!phase->key->offsets)
			snprintf(text, sizeof(text), "-");
		else if (phase->key->offsets == 1)
			snprintf(text, sizeof(text), "%u", phase->first_offset);
		else
			snprintf(text, sizeof(text), "%u..%u", phase->first_offset,
				 phase->first_offset + phase->key->offsets - 1);
		printf(" %7s", text);
		printf(" %8" PRIu32 " %11" PRIu32, phase->overlay.count, key->contention);
		if (phases->request->load_file)
			printf(" %11" PRIu32, phase->most);
		if (phases->base)
			printf(" %12" PRIu32, phase->base);
		if (phase->lost)
			printf("  %" PRIu32 " flows do not arrive without the key", phase->lost);
		if (key->left_out)
			printf("  %" PRIu32 " flows have no route in the key", key->left_out);
		if (phase->attempts > 1)
			printf("  attempt %u", phase->attempts);
		putchar('\n');
		for (uint32_t flow = 0; verbose && flow < phases->phases[i].key->flow_count; flow++)
			if (!phases->phases[i].key->routes[flow].left_out)
				print_route(phases, &phases->phases[i],
					    &phases->phases[i].key->routes[flow],
					    phases->phases[i].flow_most[flow]);
	}
	struct share share = {0};
	for (uint32_t i = 0; i < phases->pattern->phase_count; i++) {
		const struct key_phase *phase = &phases->phases[i];
		share.flows += phase->key->flow_count;
		share.own += phase->key->flow_count - phase->sharing - phase->key->left_out;
		share.base_own += phase->key->flow_count - phase->base_sharing;
	}
	printf("\nflows with links of their own: %" PRIu64 " of %" PRIu64, share.own, share.flows);
	if (phases->base)
		printf(", without keys %" PRIu64, share.base_own);
	putchar('\n');
	for (uint32_t i = 0; i < phases->pattern->phase_count; i++) {
		const struct hd_key *key = phases->phases[i].key;
		const struct hd_fabric *fabric = phases->fabric;
		for (uint32_t k = 0; k < key->flow_count; k++) {
			struct hd_error why = {""};
			if (!key->routes[k].left_out)
				continue;
			find_reason(phases, &key->routes[k], &why);
			printf("phase %" PRIu32 ": %s to %s has no route in the key: %s\n", i,
			       host_name(fabric, key->routes[k].source),
			       host_name(fabric, key->routes[k].destination), why.text);
		}
	}
}

static uint64_t most_links(const uint64_t *links)
{
	uint64_t most = 1;

	for (unsigned flows = 1; flows <= KEY_CHART; flows++)
		if (most < links[flows])
			most = links[flows];
	return most;
}

static void print_bars(const char *title, const uint64_t *links, uint64_t most)
{
	static const char hashes[] = "########################################";

	printf("\n%s\n", title);
	for (unsigned flows = 1; flows <= KEY_CHART; flows++) {
		if (!links[flows])
			continue;
		int length = (int)((links[flows] * BAR + most - 1) / most);
		printf("  %3u%s %-*.*s %" PRIu64 "\n", flows, flows == KEY_CHART ? "+" : " ",
		       (int)BAR, length, hashes, links[flows]);
	}
}

static json_t *link_json(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	return json_pack("{s:o, s:o, s:i}", "switch", json_value_guid(fabric->node_guid[sw]),
			 "name", json_value_text(fabric->node_name[sw]), "port", (int)port);
}

static json_t *host_json(const struct hd_fabric *fabric, uint32_t host)
{
	uint32_t port = fabric->host_port[host];

	return json_pack("{s:o, s:o}", "guid",
			 json_value_guid(fabric->port_guid[port]
					     ? fabric->port_guid[port]
					     : fabric->node_guid[fabric->port_node[port]]),
			 "name", json_value_text(host_name(fabric, host)));
}

static json_t *flow_json(const struct key_phases *phases, const struct key_phase *phase,
			 uint32_t phase_number, uint32_t number)
{
	const struct hd_fabric *fabric = phases->fabric;
	const struct hd_key_route *route = &phase->key->routes[number];
	const struct hd_rank_flow *ranks =
	    &phases->pattern->flows[phases->pattern->base[phase_number] + number];
	uint32_t links[2 * HD_KEY_LEVELS];
	uint32_t count = hd_key_path(phases->tree, route, phase->shift, links);
	json_t *up = json_array(), *down = json_array();

	uint32_t climbs = hd_key_climbs(phases->tree, route, phase->shift);
	for (uint32_t hop = 0; hop < count; hop++) {
		json_t *link = link_json(fabric, hd_isl_from(fabric, links[hop]),
					 fabric->isl_port[links[hop]]);
		if (hop < climbs)
			up = json_value_append(up, link);
		else
			down = json_value_append(down, link);
	}
	unsigned offset = phase->first_offset + route->offset;
	json_t *value =
	    json_pack("{s:I, s:I, s:o, s:o, s:i, s:i, s:o, s:o, s:I}", "source_rank",
		      (json_int_t)ranks->source, "destination_rank", (json_int_t)ranks->destination,
		      "source", host_json(fabric, route->source), "destination",
		      host_json(fabric, route->destination), "offset", (int)offset, "lid",
		      (int)(fabric->lid[fabric->host_port[route->destination]] + offset), "up", up,
		      "down", down, "most", (json_int_t)phase->flow_most[number]);
	if (route->left_out) {
		struct hd_error why = {""};
		find_reason(phases, route, &why);
		value = json_value_set(value, "left_out", json_value_text(why.text));
	}
	return value;
}

static json_t *tightest_json(const struct key_phases *phases, const struct hd_key *key)
{
	if (!key->demand)
		return json_null();
	return json_pack("{s:o, s:o}", "switch",
			 json_value_guid(phases->fabric->node_guid[key->tightest_switch]), "name",
			 json_value_text(phases->fabric->node_name[key->tightest_switch]));
}

static json_t *phase_json(const struct key_phases *phases, uint32_t number)
{
	const struct key_phase *phase = &phases->phases[number];
	const struct hd_key *key = phase->key;
	json_t *flows = json_array();

	for (uint32_t i = 0; i < key->flow_count; i++)
		flows = json_value_append(flows, flow_json(phases, phase, number, i));
	json_t *list = json_array();
	for (uint32_t i = 0; i < phase->overlay.count; i++) {
		const struct hd_key_entry *entry = &phase->overlay.entries[i];
		list =
		    json_value_append(list, json_pack("{s:o, s:i, s:i}", "switch",
						      json_value_guid(entry->switch_guid), "lid",
						      (int)entry->lid, "port", (int)entry->port));
	}
	json_t *value =
	    json_pack("{s:I, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:i, s:o, s:o, s:o}", "phase",
		      (json_int_t)number, "offset", (int)phase->first_offset, "offsets",
		      (int)key->offsets, "wanted_offsets", (int)key->wanted_offsets, "contention",
		      (json_int_t)key->contention, "demand", (json_int_t)key->demand, "usable",
		      (json_int_t)key->usable, "sharing", (json_int_t)phase->sharing, "left_out",
		      (json_int_t)key->left_out, "attempts", (int)phase->attempts, "tightest",
		      tightest_json(phases, key), "flows", flows, "entries", list);
	if (phases->request->load_file)
		value = json_value_set(value, "contention_with_others", json_integer(phase->most));
	if (phases->base) {
		value = json_value_set(value, "contention_without_keys", json_integer(phase->base));
		value = json_value_set(value, "lost_without_keys", json_integer(phase->lost));
		value = json_value_set(value, "sharing_without_keys",
				       json_integer(phase->base_sharing));
	}
	return value;
}

static json_t *links_json(const uint64_t *links)
{
	json_t *list = json_array();

	for (unsigned flows = 1; flows <= KEY_CHART; flows++)
		list = json_value_append(list, json_integer((json_int_t)links[flows]));
	return list;
}

/* The cables that no key uses. */
static json_t *strays_json(const struct key_phases *phases)
{
	const struct hd_fabric *fabric = phases->fabric;
	uint32_t *links = need(calloc((size_t)fabric->isl_count + 1, sizeof(*links)));
	uint32_t count = hd_key_tree_strays(phases->tree, links);
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++)
		list = json_value_append(list, link_json(fabric, hd_isl_from(fabric, links[i]),
							 fabric->isl_port[links[i]]));
	free(links);
	return list;
}

/* All of it; NULL: no memory. */
static json_t *key_report_json(const struct key_phases *phases)
{
	const struct key_phases_request *request = phases->request;
	json_t *hosts = json_array(), *list = json_array();

	for (uint32_t rank = 0; rank < phases->pattern->ranks; rank++)
		hosts = json_value_append(hosts, host_json(phases->fabric, phases->host[rank]));
	for (uint32_t i = 0; i < phases->pattern->phase_count; i++)
		list = json_value_append(list, phase_json(phases, i));
	json_t *value = json_pack(
	    "{s:o, s:o, s:s, s:i, s:o, s:o, s:o, s:o}", "fabric",
	    json_value_text(request->fabric.path), "pattern", json_value_text(request->pattern),
	    "mode", request->mode == KEY_OFFSET ? "offset" : "rewrite", "lmc",
	    (int)hd_fabric_largest_lmc(phases->fabric), "hosts", hosts, "links_by_flows",
	    links_json(phases->links), "cables_left_out", strays_json(phases), "phases", list);
	if (phases->base) {
		value = json_value_set(value, "without_keys", json_value_text(base_name(phases)));
		value = json_value_set(value, "links_by_flows_without_keys",
				       links_json(phases->base_links));
	}
	return value;
}

struct make_job {
	struct key_phases_request request;
	struct table_source tables;
	unsigned algorithm, shift, mode;
	uint32_t threads;
	int32_t lmc;
	bool list, chart, json, verbose;
};

static const struct argument arguments[] = {
    {0, "hosts", "FILE", "the hosts of ranks 0, 1, 2 ..., one a line (default: all hosts)",
     ARGUMENT_TEXT(struct make_job, request.host_file)},
    {'p', "pattern", "NAME[:ARGUMENTS]", "which ranks send to which, phase by phase; required",
     ARGUMENT_TEXT(struct make_job, request.pattern)},
    {0, "patterns", NULL, "list the patterns and their arguments, and end",
     ARGUMENT_FLAG(struct make_job, list)},
    {0, "algorithm", "auto|paths|euler|paper",
     "how flows get their cables: alternating paths, Euler splits, or one matching after "
     "another as in the paper",
     ARGUMENT_CHOICE(struct make_job, algorithm)},
    {0, "best-effort", NULL,
     "make the key of least contention if none is free of contention, and leave out flows without "
     "a path",
     ARGUMENT_FLAG(struct make_job, request.best_effort)},
    {0, "offset", "N", "the first LID offset of the keys (0..127, default 1)",
     ARGUMENT_NUMBER(struct make_job, request.first_offset, 0, 127)},
    {0, "offsets", "N", "let a phase use N LID offsets (1..127, default 1)",
     ARGUMENT_NUMBER(struct make_job, request.offsets, 1, 127)},
    {0, "mode", "rewrite|offset",
     "rewrite: all phases have the same offset (default); offset: each has its own",
     ARGUMENT_CHOICE(struct make_job, mode)},
    {0, "shift", "none|links|paper",
     "move the keys to other middle switches by the loads of links (default none)",
     ARGUMENT_CHOICE(struct make_job, shift)},
    {0, "loads", "FILE", "loads of links: lines with the GUID of a switch, a port and flows",
     ARGUMENT_TEXT(struct make_job, request.load_file)},
    SHARED_ENGINE(struct make_job, tables),
    {0, "chart", NULL, "draw how many links carry 1, 2, 3 ... flows",
     ARGUMENT_FLAG(struct make_job, chart)},
    SHARED_LMC(struct make_job, lmc),
    SHARED_NAME_MAP(struct make_job, request.fabric.name_map),
    SHARED_THREADS(struct make_job, threads),
    SHARED_JSON(struct make_job, json),
    {'v', "verbose", NULL, "print the paths of all flows, and all remarks",
     ARGUMENT_FLAG(struct make_job, verbose)},
};

static const struct usage usage = {
    .synopsis = "heddle key make [OPTION]... -p NAME[:ARGUMENTS] FABRIC [TABLES]...",
    .summary = "Makes routing keys: paths on which the flows of a phase share no link.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes =
	"FABRIC: a fat tree, regular or not; switches and cables may be missing.\n"
	"TABLES, or -e: the forwarding tables without keys, to compare, and to prove the keys.",
    .statuses = {"all keys are free of contention", "some keys have contention, or leave out flows",
		 "bad input or usage, or a key that is not possible"},
};

static int list_patterns(void)
{
	unsigned count = 0;
	const struct hd_key_pattern_kind *kinds = hd_key_pattern_kinds(&count);
	char text[96];

	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%s %s", kinds[i].name, kinds[i].arguments);
		printf("%-28s%s\n", text, kinds[i].summary);
	}
	return STATUS_CLEAN;
}

/* Whether flows share links, or have no route. */
static bool has_faults(const struct key_phases *phases)
{
	for (uint32_t i = 0; i < phases->pattern->phase_count; i++)
		if (phases->phases[i].key->contention > 1 || phases->phases[i].key->left_out)
			return true;
	return false;
}

static int show(const struct make_job *job, const struct key_phases *phases)
{
	int status = has_faults(phases) ? STATUS_FAULTS : STATUS_CLEAN;

	if (job->json)
		return json_value_print(key_report_json(phases), status);
	key_report_print(phases, job->verbose);
	if (job->chart) {
		/* Bars: how many links carry 1, 2, 3 ... flows. */
		uint64_t most = most_links(phases->links), base = most_links(phases->base_links);
		char title[256];
		most = base > most ? base : most;
		if (phases->base) {
			snprintf(title, sizeof(title),
				 "Links by their flows, %s:", base_name(phases));
			print_bars(title, phases->base_links, most);
		}
		print_bars("Links by their flows, with the key:", phases->links, most);
	}
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct make_job *job = context;
	struct hd_error err = {""};

	if (job->list)
		return operands->count ? message_error("--patterns takes no files")
				       : list_patterns();
	int status = arguments_expect(&usage, operands, "FABRIC", 1, operands->count);
	if (status)
		return status;
	if (!job->request.pattern)
		return message_error("no pattern is given: choose one with --pattern, "
				     "--patterns lists them");
	if (hd_key_pattern_check(job->request.pattern, &err))
		return message_fail(&err);
	if (job->request.load_file && job->shift == KEY_SHIFT_NONE)
		return message_error("--loads has no effect without --shift links or paper");
	if (job->json && job->chart)
		return message_error("--chart and --json exclude each other");
	job->request.fabric.path = operands->items[0];
	if (operands->count > 1 && job->tables.engine)
		return message_error("'%s': with --engine no tables are read", operands->items[1]);
	if (operands->count > 1)
		table_source_set_paths(&job->tables, (const char *const *)operands->items + 1,
				       operands->count - 1);
	struct hd_log log = message_log(job->verbose);
	struct key_phases phases;
	job->request.algorithm = (enum hd_colour_algorithm)job->algorithm;
	job->request.shift = (enum key_shift_kind)job->shift;
	job->request.mode = (enum key_mode)job->mode;
	job->request.tables = &job->tables;
	job->request.fabric.lmc = job->lmc;
	job->request.threads = job->threads;
	int rc = key_phases_make(&job->request, &log, &phases, &err);
	status = rc ? message_fail(&err) : show(job, &phases);
	key_phases_release(&phases);
	return status;
}

int key_make(int argc, char **argv)
{
	struct make_job job = {.request = {.first_offset = 1, .offsets = 1},
			       .lmc = LMC_ANY,
			       .threads = hd_parallel_cores()};
	int status = arguments_run(&usage, argc, argv, &job, run);

	table_source_release(&job.tables);
	return status;
}
