/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle map walk: the path of a packet across subnets. */
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "progress.h"
#include "shared_arguments.h"
#include "subnets.h"

#include <inttypes.h>
#include <stdio.h>

/* What heddle map walk prints: one path, or the summary of all. */

/* A path and its ends. */
struct map_walk_view {
	const struct hd_interconnect *interconnect;
	const struct hd_fabric *joined;
	uint32_t from, source, to, destination; /* as for hd_walk() */
};

static const struct hd_subnet *subnet_of(const struct map_walk_view *view, uint32_t subnet)
{
	return &view->interconnect->subnets[subnet];
}

static const char *host_name(const struct map_walk_view *view, uint32_t subnet, uint32_t host)
{
	const struct hd_fabric *fabric = subnet_of(view, subnet)->fabric;

	return fabric->node_name[fabric->port_node[fabric->host_port[host]]];
}

static struct hd_gid host_gid(const struct map_walk_view *view, uint32_t subnet, uint32_t host)
{
	const struct hd_subnet *found = subnet_of(view, subnet);

	return (struct hd_gid){found->prefix,
			       found->fabric->port_guid[found->fabric->host_port[host]]};
}

static json_t *end_json(const struct map_walk_view *view, uint32_t subnet, uint32_t host)
{
	struct hd_gid gid = host_gid(view, subnet, host);
	char text[HD_GID_TEXT];

	return json_pack("{s:o, s:s}", "node", json_value_text(host_name(view, subnet, host)),
			 "gid", hd_gid_print(&gid, text));
}

/* The port by which switch number i of the leg sends the packet to the next hop. */
static uint32_t port_of(const struct map_walk_view *view, const struct hd_journey *journey,
			const struct hd_journey_leg *leg, uint32_t i)
{
	const struct hd_subnet *subnet = subnet_of(view, leg->subnet);
	uint32_t sw = journey->switches[leg->first + i];

	return hd_routes_port(subnet->routes, sw, leg->dlid);
}

static void map_walk_print_path(const struct map_walk_view *view, const struct hd_journey *journey)
{
	struct hd_gid source = host_gid(view, view->from, view->source);
	struct hd_gid destination = host_gid(view, view->to, view->destination);
	char from[HD_GID_TEXT], to[HD_GID_TEXT];

	printf("from '%s' %s\nto   '%s' %s\n", host_name(view, view->from, view->source),
	       hd_gid_print(&source, from), host_name(view, view->to, view->destination),
	       hd_gid_print(&destination, to));
	for (uint32_t i = 0; i < journey->leg_count; i++) {
		const struct hd_journey_leg *leg = &journey->legs[i];
		const struct hd_subnet *subnet = subnet_of(view, leg->subnet);
		printf("subnet 0x%016" PRIx64 "  SLID %u, DLID %u\n", subnet->prefix, leg->slid,
		       leg->dlid);
		for (uint32_t k = 0; k < leg->switches; k++) {
			uint32_t sw = journey->switches[leg->first + k];
			printf("  '%s' 0x%016" PRIx64, subnet->fabric->node_name[sw],
			       subnet->fabric->node_guid[sw]);
			uint32_t port = port_of(view, journey, leg, k);
			if (port == HD_NO_PORT)
				printf(" no entry\n");
			else
				printf(" port %" PRIu32 "\n", port);
		}
		if (leg->ingress != HD_NONE) {
			uint32_t egress = i + 1 < journey->leg_count ? leg[1].egress : HD_NONE;
			const struct hd_interconnect *interconnect = view->interconnect;
			const struct hd_router_port *in = &interconnect->ports[leg->ingress];
			printf("router '%s' 0x%016" PRIx64 ": in by port %" PRIu32,
			       interconnect->router_name[in->router],
			       interconnect->router_guid[in->router], in->number);
			if (egress != HD_NONE)
				printf(", out by port %" PRIu32,
				       interconnect->ports[egress].number);
			putchar('\n');
		}
	}
	printf("%s\n", hd_journey_end_name(journey->end));
}

static json_t *router_json(const struct map_walk_view *view, uint32_t port)
{
	const struct hd_interconnect *interconnect = view->interconnect;

	if (port == HD_NONE)
		return json_null();
	const struct hd_router_port *at = &interconnect->ports[port];
	return json_pack("{s:o, s:o, s:I, s:o}", "router",
			 json_value_text(interconnect->router_name[at->router]), "guid",
			 json_value_guid(interconnect->router_guid[at->router]), "port",
			 (json_int_t)at->number, "port_guid", json_value_guid(at->guid));
}

static json_t *map_walk_path_json(const struct map_walk_view *view,
				  const struct hd_journey *journey)
{
	json_t *legs = json_array();

	for (uint32_t i = 0; i < journey->leg_count; i++) {
		const struct hd_journey_leg *leg = &journey->legs[i];
		const struct hd_fabric *fabric = subnet_of(view, leg->subnet)->fabric;
		json_t *hops = json_array();
		for (uint32_t k = 0; k < leg->switches; k++) {
			uint32_t sw = journey->switches[leg->first + k];
			hops = json_value_append(
			    hops, json_pack("{s:o, s:o, s:I}", "switch",
					    json_value_text(fabric->node_name[sw]), "guid",
					    json_value_guid(fabric->node_guid[sw]), "port",
					    (json_int_t)port_of(view, journey, leg, k)));
		}
		legs = json_value_append(
		    legs, json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "prefix",
				    json_value_guid(subnet_of(view, leg->subnet)->prefix), "slid",
				    (json_int_t)leg->slid, "dlid", (json_int_t)leg->dlid, "from",
				    router_json(view, leg->egress), "hops", hops, "to",
				    router_json(view, leg->ingress)));
	}
	return json_pack("{s:o, s:o, s:b, s:s, s:o}", "source",
			 end_json(view, view->from, view->source), "destination",
			 end_json(view, view->to, view->destination), "arrived",
			 journey->end == HD_JOURNEY_ARRIVED, "end",
			 hd_journey_end_name(journey->end), "legs", legs);
}

/* The links between top switches and routers in the direction to the routers: how many there are,
 * how many carry a path, and the most paths on one. */
struct use {
	uint32_t links, used;
	uint64_t most;
};

static struct use count_use(const struct map_walk_view *view,
			    const struct hd_journey_report *report, bool to_router)
{
	const struct hd_fabric *joined = view->joined;
	struct use use = {0};

	for (uint32_t i = 0; i < view->interconnect->port_count; i++) {
		const struct hd_router_port *port = &view->interconnect->ports[i];
		uint32_t router =
		    hd_fabric_find_node(joined, view->interconnect->router_guid[port->router]);
		uint32_t link = hd_fabric_find_isl(joined, router, port->number);
		uint64_t flows = report->flows[to_router ? joined->isl_reverse[link] : link];
		use.links++;
		use.used += flows > 0;
		use.most = flows > use.most ? flows : use.most;
	}
	return use;
}

/* `view` without ends. */
static void map_walk_print_report(const struct map_walk_view *view,
				  const struct hd_journey_report *report)
{
	struct use in = count_use(view, report, true), out = count_use(view, report, false);

	printf("pairs          %" PRIu64 ", %" PRIu64 " of them across subnets\n", report->pairs,
	       report->foreign);
	printf("arrive         %" PRIu64 "\n", report->by_end[HD_JOURNEY_ARRIVED]);
	for (int end = HD_JOURNEY_ARRIVED + 1; end < HD_JOURNEY_END_COUNT; end++)
		if (report->by_end[end])
			printf("  fail         %" PRIu64 ": %s\n", report->by_end[end],
			       hd_journey_end_name((enum hd_journey_end)end));
	for (uint32_t i = 0; i < report->fault_count; i++) {
		const struct hd_journey_fault *fault = &report->faults[i];
		printf("  '%s' of 0x%016" PRIx64 " -> '%s' of 0x%016" PRIx64 ": %s\n",
		       host_name(view, fault->from, fault->source),
		       subnet_of(view, fault->from)->prefix,
		       host_name(view, fault->to, fault->destination),
		       subnet_of(view, fault->to)->prefix, hd_journey_end_name(fault->end));
	}
	printf("longest path   %" PRIu32 " switches and %" PRIu32 " routers\n",
	       report->max_switches, report->max_routers);
	printf("router links   %" PRIu32 " of %" PRIu32 " used towards routers, at most %" PRIu64
	       " pairs on one\n               %" PRIu32 " of %" PRIu32
	       " used from routers, at most %" PRIu64 " pairs on one\n",
	       in.used, in.links, in.most, out.used, out.links, out.most);
	if (report->cycle_length)
		printf("credit loop    %" PRIu32 " links\n", report->cycle_length);
	else
		printf("credit loops   none\n");
	const struct hd_fabric *joined = view->joined;
	for (uint32_t i = 0; i < report->cycle_length; i++) {
		uint32_t from = hd_isl_from(joined, report->cycle[i]);
		printf("  '%s'[%u] -> '%s'\n", joined->node_name[from],
		       joined->isl_port[report->cycle[i]],
		       joined->node_name[joined->isl_to[report->cycle[i]]]);
	}
}

static json_t *use_json(struct use use)
{
	return json_pack("{s:I, s:I, s:I}", "links", (json_int_t)use.links, "used",
			 (json_int_t)use.used, "most_pairs", (json_int_t)use.most);
}

static json_t *map_walk_report_json(const struct map_walk_view *view,
				    const struct hd_journey_report *report)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < report->fault_count; i++) {
		const struct hd_journey_fault *fault = &report->faults[i];
		list = json_value_append(
		    list, json_pack("{s:o, s:o, s:s}", "source",
				    end_json(view, fault->from, fault->source), "destination",
				    end_json(view, fault->to, fault->destination), "end",
				    hd_journey_end_name(fault->end)));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "pairs",
			 (json_int_t)report->pairs, "foreign", (json_int_t)report->foreign,
			 "arrived", (json_int_t)report->by_end[HD_JOURNEY_ARRIVED],
			 "credit_loop_links", (json_int_t)report->cycle_length, "most_routers",
			 (json_int_t)report->max_routers, "most_switches",
			 (json_int_t)report->max_switches, "to_routers",
			 use_json(count_use(view, report, true)), "from_routers",
			 use_json(count_use(view, report, false)), "faults", list);
}

struct walk_job {
	struct subnets subnets;
	bool isfr; /* what the routers do */
	bool all, json, verbose;
	struct hd_walker *walker;
};

static const struct argument arguments[] = {
    SUBNETS_ARGUMENT(struct walk_job, subnets),
    SUBNETS_MAPS(struct walk_job, subnets),
    SUBNETS_ENGINE(struct walk_job, subnets),
    {'r', "routers", "issr|isfr", "how routers choose the port of a packet (default issr)",
     ARGUMENT_CHOICE(struct walk_job, isfr)},
    {'a', "all", NULL, "walk from all hosts to all others, and search for credit loops",
     ARGUMENT_FLAG(struct walk_job, all)},
    SUBNETS_NAMES(struct walk_job, subnets),
    SHARED_JSON(struct walk_job, json),
    SHARED_VERBOSE(struct walk_job, verbose),
};

static const struct usage usage = {
    .synopsis =
	"heddle map walk --subnet PREFIX=FABRIC[:TABLES]... --maps FOLDER [OPTION]... SOURCE "
	"DESTINATION\n"
	"   or: heddle map walk --subnet PREFIX=FABRIC[:TABLES]... --maps FOLDER [OPTION]... --all",
    .summary = "Follows packets through the tables of all subnets and through the routers.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "SOURCE, DESTINATION: a GID, a GUID or name that only one subnet has, or "
	     "PREFIX/NAME.\nThe maps are those that 'heddle map issr' or 'heddle map isfr' wrote.",
    .statuses = {"all packets arrive, without a credit loop",
		 "a packet does not arrive, or there is a credit loop", "bad input or usage"},
};

static int walk_one(struct walk_job *job, struct map_walk_view *view,
		    const struct operands *operands)
{
	struct hd_error err = {""};
	struct hd_journey journey;
	int rc =
	    subnets_resolve(&job->subnets, operands->items[0], &view->from, &view->source, &err);

	if (!rc)
		rc = subnets_resolve(&job->subnets, operands->items[1], &view->to,
				     &view->destination, &err);
	if (rc)
		return message_fail(&err);
	hd_walk(job->walker, view->from, view->source, view->to, view->destination, &journey);
	int status = journey.end == HD_JOURNEY_ARRIVED ? STATUS_CLEAN : STATUS_FAULTS;
	if (job->json)
		return json_value_print(map_walk_path_json(view, &journey), status);
	map_walk_print_path(view, &journey);
	return status;
}

static int walk_all(struct walk_job *job, const struct map_walk_view *view)
{
	struct hd_journey_report report;
	struct hd_error err = {""};

	progress_begin("walking");
	int rc = hd_walk_all(job->walker, &report, &err);
	progress_end();
	if (rc)
		return message_fail(&err);
	int status = report.by_end[HD_JOURNEY_ARRIVED] == report.pairs && !report.cycle_length
			 ? STATUS_CLEAN
			 : STATUS_FAULTS;
	if (job->json)
		status = json_value_print(map_walk_report_json(view, &report), status);
	else
		map_walk_print_report(view, &report);
	hd_journey_report_release(&report);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct walk_job *job = context;
	struct hd_log log = message_log(job->verbose);
	struct hd_error err = {""};
	struct hd_relay relay;
	int status = job->all ? arguments_expect(&usage, operands, "no operands with --all", 0, 0)
			      : arguments_expect(&usage, operands, "SOURCE and DESTINATION", 2, 2);

	if (status)
		return status;
	int rc = subnets_load(&job->subnets, SUBNETS_TABLES | SUBNETS_MAP, &log, &err);
	if (!rc)
		rc = subnets_relay(&job->subnets, job->isfr, &relay, &err);
	if (!rc)
		rc = hd_walker_new(job->subnets.interconnect, &relay, &job->walker, &err);
	if (rc)
		return message_fail(&err);
	struct map_walk_view view = {.interconnect = job->subnets.interconnect,
				     .joined = hd_walker_joined(job->walker)};
	return job->all ? walk_all(job, &view) : walk_one(job, &view, operands);
}

int map_walk(int argc, char **argv)
{
	struct walk_job job = {.isfr = false};
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_walker_free(job.walker);
	subnets_release(&job.subnets);
	return status;
}
