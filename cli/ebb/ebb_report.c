/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ebb_report.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "plan_source.h"
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A plan of adaptive routing beside the tables of heddle ebb: read from a file, or made. */

int ebb_adaptive_take_algorithm(const struct typed *typed, void *place)
{
	struct ebb_adaptive *adaptive = place;

	adaptive->make = true;
	if (hd_ar_algorithm_find(typed->text, &adaptive->algorithm))
		return 0;
	return message_error("option '--ar': '%s' is none of auto, lag, tree, dfp", typed->text);
}

/* A packet takes the second sub-group only if the first is loaded. */
static struct hd_spread_group group_of(const struct hd_ar_group *group)
{
	struct hd_spread_group spread = {group->ports[0], group->ports[0]};

	hd_port_set_unite(&spread.all, &group->ports[1]);
	if (hd_port_set_is_empty(&spread.first))
		spread.first = spread.all;
	return spread;
}

static void spread_switch(struct ebb_adaptive *adaptive, const struct hd_ar_switch *planned,
			  struct hd_spread_switch *out)
{
	struct hd_spread_group *groups =
	    need_of(&adaptive->arena, planned->group_count, sizeof(*groups));

	for (uint32_t i = 0; i < planned->group_count; i++)
		groups[i] = group_of(&planned->groups[i]);
	*out = (struct hd_spread_switch){
	    .above = planned->above, .group_count = planned->group_count, .groups = groups};
	for (uint32_t table = 0; table < adaptive->spread.tables; table++) {
		out->group[table] = planned->lid_group[table];
		if (adaptive->spread.tables > 1)
			out->port[table] = planned->lid_port[table];
	}
}

int ebb_adaptive_load(struct ebb_adaptive *adaptive, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, unsigned threads, const struct hd_log *log,
		      struct hd_error *err)
{
	const struct hd_ar_request request = {.fabric = fabric,
					      .routes = routes,
					      .algorithm = adaptive->algorithm,
					      .mode = HD_AR_BOUNDED,
					      .threads = threads,
					      .log = log};
	int rc;

	if (adaptive->plan_path && adaptive->make)
		return hd_error_set(err, -EINVAL, "options --plan and --ar exclude each other");
	progress_begin("adaptive routing: plan and proof");
	rc = adaptive->plan_path ? plan_source_read_proved(adaptive->plan_path, fabric, routes,
							   threads, &adaptive->plan, err)
				 : hd_ar_plan_new(&request, &adaptive->plan, NULL, err);
	progress_end();
	if (!rc) {
		/* No packet is on the raised lane before it leaves the minimal paths, and none of those that count
		 * here does. So a plan's third table has no part in it. */
		struct hd_spread_switch *switches =
		    need_of(&adaptive->arena, fabric->switch_count, sizeof(*switches));
		adaptive->spread.tables = adaptive->plan->table_count > 1 ? HD_SPREAD_TABLES : 1;
		adaptive->spread.switches = switches;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			uint32_t index = hd_ar_plan_find(adaptive->plan, fabric->node_guid[sw]);
			if (index != HD_NONE)
				spread_switch(adaptive, &adaptive->plan->switches[index],
					      &switches[sw]);
		}
	}
	return rc;
}

void ebb_adaptive_release(struct ebb_adaptive *adaptive)
{
	hd_congestion_report_free(adaptive->report);
	hd_ar_plan_free(adaptive->plan);
	hd_arena_release(&adaptive->arena);
}

#define BAR_WIDTH 40
#define ROWS_SHOWN 12 /* of the histogram */

static const double percents[] = {1, 5, 25, 50, 75, 95, 99};

#define PERCENT_COUNT (sizeof(percents) / sizeof(percents[0]))

static const char *const broken_names[] = {[HD_BROKEN_NO_ENTRY] = "no entry",
					   [HD_BROKEN_DEAD_END] = "dead end",
					   [HD_BROKEN_LOOP] = "loop"};

uint64_t ebb_broken_total(const struct ebb_broken *broken)
{
	uint64_t total = 0;

	for (unsigned kind = 0; kind < HD_BROKEN_KINDS; kind++)
		total += broken->routes[kind];
	return total;
}

const char *ebb_link_text(const struct hd_fabric *fabric, uint32_t link, char *buffer, size_t size)
{
	uint32_t port = hd_congestion_link_port(fabric, link), far = fabric->peer[port];

	snprintf(buffer, size, "'%s'[%" PRIu32 "] -> '%s'[%" PRIu32 "]",
		 fabric->node_name[fabric->port_node[port]], hd_port_number(fabric, port),
		 fabric->node_name[fabric->port_node[far]], hd_port_number(fabric, far));
	return buffer;
}

static void print_bandwidth(const struct ebb_view *view)
{
	const struct hd_congestion_report *report = view->report;

	printf("\nbandwidth   %.4f", report->mean);
	if (report->patterns > 1)
		printf(" +- %.4f (99%%)", report->half_width);
	printf("  mean of %s over %" PRIu64 " routes\n", workload_share_name(view->workload),
	       report->routes);
	printf("            of %" PRIu64 " pattern%s in %" PRIu64 " round%s\n", report->patterns,
	       report->patterns == 1 ? "" : "s", report->rounds, report->rounds == 1 ? "" : "s");
	if (report->broken)
		printf("            without %" PRIu64 " flows that do not arrive, see below\n",
		       report->broken);
	if (report->machine_routes) {
		printf("by machine  %.4f", report->machine_mean);
		if (report->patterns > 1)
			printf(" +- %.4f (99%%)", report->machine_half_width);
		printf("  mean of the slowest adapter's over %" PRIu64 " transfers of machines\n",
		       report->machine_routes);
	}
	if (report->patterns == 1)
		return;
	printf("patterns    least %.4f", report->minimum);
	for (unsigned i = 0; i < PERCENT_COUNT; i++)
		printf(", %g%% %.3f", percents[i], hd_congestion_percentile(report, percents[i]));
	printf("\n");
}

static void print_adaptive(const struct ebb_adaptive *adaptive)
{
	const struct hd_congestion_report *report = adaptive->report;
	const struct hd_ar_plan *plan = adaptive->plan;

	printf("adaptive    %.4f", report->mean);
	if (report->patterns > 1)
		printf(" +- %.4f (99%%)", report->half_width);
	printf("  each switch spreads evenly over its groups\n");
	printf("            %.4f  no spreading over these groups can exceed it\n", report->bound);
	printf("            plan %s, %.2f%% of the entries adaptive\n",
	       adaptive->plan_path ? adaptive->plan_path : hd_ar_algorithm_name(plan->algorithm),
	       100 * hd_ar_plan_share(plan));
	if (report->broken)
		printf("            without %" PRIu64 " flows that do not arrive by the plan\n",
		       report->broken);
}

static void print_histogram(const struct ebb_view *view)
{
	const struct hd_congestion_report *report = view->report;
	uint64_t rest = report->routes;
	unsigned shown = 0;

	printf("\n     pi         routes   share%s\n", workload_pi_remark(view->workload));
	for (uint32_t pi = 1; pi < report->histogram_size && shown < ROWS_SHOWN; pi++) {
		uint64_t routes = report->histogram[pi];
		double share = (double)routes / (double)report->routes;
		if (!routes)
			continue;
		printf("%7" PRIu32 " %14" PRIu64 "  %5.1f%%  ", pi, routes, 100 * share);
		int width = (int)(share * BAR_WIDTH + 0.5);
		for (int i = 0; i < width; i++)
			putchar('#');
		putchar('\n');
		rest -= routes;
		shown++;
	}
	if (rest)
		printf("   more %14" PRIu64 "  %5.1f%%, the largest %" PRIu32 "\n", rest,
		       100.0 * (double)rest / (double)report->routes, report->histogram_size - 1);
}

void ebb_print_broken(const struct hd_fabric *fabric, const struct ebb_broken *broken,
		      const struct hd_congestion_report *report)
{
	if (!ebb_broken_total(broken))
		return;
	printf("\n%" PRIu64 " routes between hosts are broken (", ebb_broken_total(broken));
	for (unsigned kind = 0; kind < HD_BROKEN_KINDS; kind++)
		printf("%s%" PRIu64 " %s", kind ? ", " : "", broken->routes[kind],
		       broken_names[kind]);
	printf("), with %" PRIu64 " flows of these patterns; all figures are for the other "
	       "routes\n",
	       report->broken);
	for (uint32_t i = 0; i < broken->listed; i++) {
		const struct hd_broken_route *route = &broken->list[i];
		printf("  %s: from '%s' to LID %" PRIu32 " ('%s')\n", broken_names[route->kind],
		       fabric->node_name[route->source], route->lid,
		       fabric->node_name[fabric->port_node[fabric->host_port[route->host]]]);
	}
	if (broken->listed == EBB_BROKEN_SHOWN)
		printf("  ... `heddle check` lists more\n");
}

void ebb_print(const struct ebb_view *view)
{
	uint32_t *links = need(calloc((size_t)view->hot + 1, sizeof(*links)));

	const struct workload *workload = view->workload;
	const struct hd_ranks *ranks = view->on->ranks;
	char members[WORKLOAD_MEMBERS_TEXT], machines[WORKLOAD_MACHINES_TEXT];
	printf("fabric      %s: %" PRIu32 " hosts, %" PRIu32 " switches, %" PRIu32 " cables\n",
	       view->fabric_path, ranks->fabric->host_count, ranks->fabric->switch_count,
	       ranks->fabric->isl_count / 2);
	printf("tables      %s\n", view->tables_name);
	printf("pattern     %s among %s, map %s, seed %" PRIu64 "%s\n", workload->pattern_text,
	       workload_members(view->on, members, sizeof(members)), workload_map_name(workload),
	       workload->seed, workload_lids_remark(workload));
	if (workload_machines(view->on, machines, sizeof(machines)))
		printf("machines    %s\n", machines);
	if (ranks->aggregation_nodes)
		printf("            %" PRIu32 " aggregation nodes left out\n",
		       ranks->aggregation_nodes);
	if (ranks->without_lid)
		printf("            %" PRIu32 " hosts without LID left out\n", ranks->without_lid);
	if (workload->kind == hd_pattern_find("bisect") && view->on->pattern->ranks % 2)
		printf("            an odd number of %s: one sits out of each bisection\n",
		       ranks->adapters > 1 ? "machines" : "ranks");
	if (view->on->count == 1 && workload->count > 1)
		printf("            all patterns are the same under this map: one is run\n");
	else if (view->on->count < workload->count)
		printf("            under this map patterns differ by their LIDs alone: %" PRIu64
		       " are run\n",
		       view->on->count);
	print_bandwidth(view);
	if (view->adaptive)
		print_adaptive(view->adaptive);
	printf("pi sum max  %.4f  mean over rounds of the largest pi (bandwidth %.4f)\n",
	       view->report->sum_max, 1 / view->report->sum_max);
	printf("pi sum avg  %.4f  mean over rounds of the mean pi    (bandwidth %.4f)\n",
	       view->report->sum_avg, 1 / view->report->sum_avg);
	print_histogram(view);
	if (view->hot) {
		uint32_t count = hd_congestion_hottest(view->report, links, view->hot);
		const struct hd_congestion_report *report = view->report;
		const struct hd_fabric *fabric = view->on->ranks->fabric;
		char text[EBB_LINK_TEXT];
		if (count)
			printf("\n  flows a round   most   hottest links\n");
		for (uint32_t i = 0; i < count; i++)
			printf("%15.3f %6" PRIu64 "   %s\n",
			       (double)report->link_flows[links[i]] / (double)report->rounds,
			       report->link_worst[links[i]],
			       ebb_link_text(fabric, links[i], text, sizeof(text)));
	}
	ebb_print_broken(view->on->ranks->fabric, view->broken, view->report);
	char done[120];
	const bool adaptive = view->adaptive && view->adaptive->report->partial;
	snprintf(done, sizeof(done), "%" PRIu64 " of %" PRIu64 " patterns%s",
		 adaptive ? view->adaptive->report->patterns : view->report->patterns,
		 adaptive ? view->report->patterns : view->on->count,
		 adaptive ? " with adaptive routing" : "");
	workload_print_partial(view->workload, done);
	free(links);
}

static json_t *machines_json(const struct workload_on *on)
{
	const struct hd_ranks *ranks = on->ranks;

	if (on->machines == HD_MACHINES_ALONE)
		return json_null();
	return json_pack("{s:I, s:I, s:s, s:I}", "count",
			 (json_int_t)(ranks->count / ranks->adapters), "adapters",
			 (json_int_t)ranks->adapters, "by", machines_source_word(on->machines),
			 "left_out", (json_int_t)ranks->other_machines);
}

json_t *ebb_workload_json(const char *fabric_path, const struct workload *workload,
			  const struct workload_on *on)
{
	return json_pack(
	    "{s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:s, s:s, s:s, s:I, s:b, s:o}", "fabric",
	    json_value_text(fabric_path), "hosts", (json_int_t)on->ranks->fabric->host_count,
	    "switches", (json_int_t)on->ranks->fabric->switch_count, "ranks",
	    (json_int_t)on->ranks->count, "aggregation_nodes_left_out",
	    (json_int_t)on->ranks->aggregation_nodes, "hosts_without_lid",
	    (json_int_t)on->ranks->without_lid, "pattern", json_value_text(workload->pattern_text),
	    "map", json_value_text(workload_map_name(workload)), "lids",
	    workload_lids_name(workload), "shares", workload->fair ? "max-min" : "congestion",
	    "weights", workload->rate_weights ? "rate" : "none", "seed", (json_int_t)workload->seed,
	    "partial", workload->partial, "machines", machines_json(on));
}

/* [[value, count] ...] of the values that occur. */
static json_t *counts_json(const uint64_t *counts, uint32_t size, double unit)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < size; i++) {
		if (!counts[i])
			continue;
		json_t *value = unit == 1 ? json_integer(i) : json_real(i * unit);
		list = json_value_append(list, json_pack("[o,I]", value, (json_int_t)counts[i]));
	}
	return list;
}

/* What transfers between machines have. */
static json_t *by_machine_json(const struct hd_congestion_report *report)
{
	if (!report->machine_routes)
		return json_null();
	return json_pack("{s:f, s:f, s:I}", "mean", report->machine_mean, "half_width_99",
			 report->machine_half_width, "transfers",
			 (json_int_t)report->machine_routes);
}

json_t *ebb_figures_json(const struct hd_congestion_report *report)
{
	json_t *percentiles = json_object();
	char name[16];

	for (unsigned i = 0; i < PERCENT_COUNT; i++) {
		snprintf(name, sizeof(name), "%g", percents[i]);
		percentiles = json_value_set(
		    percentiles, name, json_real(hd_congestion_percentile(report, percents[i])));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o}",
			 "patterns", (json_int_t)report->patterns, "rounds",
			 (json_int_t)report->rounds, "routes", (json_int_t)report->routes, "broken",
			 (json_int_t)report->broken, "mean", report->mean, "half_width_99",
			 report->half_width, "minimum", report->minimum, "deviation",
			 report->deviation, "pi_sum_max", report->sum_max, "pi_sum_avg",
			 report->sum_avg, "percentiles", percentiles, "histogram",
			 counts_json(report->histogram, report->histogram_size, 1), "pattern_means",
			 counts_json(report->bins, HD_PATTERN_BINS + 1, 1.0 / HD_PATTERN_BINS),
			 "by_machine", by_machine_json(report));
}

static json_t *end_json(const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t node = fabric->port_node[port];

	return json_pack("{s:o, s:o, s:I}", "node", json_value_text(fabric->node_name[node]),
			 "guid", json_value_guid(fabric->node_guid[node]), "port",
			 (json_int_t)hd_port_number(fabric, port));
}

static json_t *link_json(const struct ebb_view *view, uint32_t link)
{
	const struct hd_fabric *fabric = view->on->ranks->fabric;
	uint32_t port = hd_congestion_link_port(fabric, link);

	return json_pack("{s:o, s:o, s:I, s:I}", "from", end_json(fabric, port), "to",
			 end_json(fabric, fabric->peer[port]), "flows",
			 (json_int_t)view->report->link_flows[link], "most",
			 (json_int_t)view->report->link_worst[link]);
}

static json_t *hottest_json(const struct ebb_view *view)
{
	uint32_t *links = need(calloc((size_t)view->hot + 1, sizeof(*links)));
	uint32_t count = hd_congestion_hottest(view->report, links, view->hot);
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++)
		list = json_value_append(list, link_json(view, links[i]));
	free(links);
	return list;
}

static json_t *adaptive_json(const struct ebb_adaptive *adaptive)
{
	json_t *value = ebb_figures_json(adaptive->report);

	value = json_value_set(value, "bound", json_real(adaptive->report->bound));
	value = json_value_set(value, "plan",
			       adaptive->plan_path ? json_value_text(adaptive->plan_path)
						   : json_null());
	value = json_value_set(value, "algorithm",
			       adaptive->plan_path
				   ? json_null()
				   : json_string(hd_ar_algorithm_name(adaptive->plan->algorithm)));
	return json_value_set(value, "adaptive_share", json_real(hd_ar_plan_share(adaptive->plan)));
}

json_t *ebb_json(const struct ebb_view *view)
{
	json_t *all = ebb_workload_json(view->fabric_path, view->workload, view->on);
	json_t *figures = ebb_figures_json(view->report);

	if (!all || !figures || json_object_update(all, figures)) {
		json_decref(all);
		json_decref(figures);
		return NULL;
	}
	json_decref(figures);
	all = json_value_set(all, "tables", json_value_text(view->tables_name));
	const struct hd_fabric *fabric = view->on->ranks->fabric;
	const struct ebb_broken *broken = view->broken;
	json_t *list = json_array();
	for (uint32_t i = 0; i < broken->listed; i++) {
		const struct hd_broken_route *route = &broken->list[i];
		list = json_value_append(
		    list, json_pack("{s:s, s:o, s:o, s:I}", "kind", broken_names[route->kind],
				    "from", json_value_text(fabric->node_name[route->source]), "to",
				    end_json(fabric, fabric->host_port[route->host]), "lid",
				    (json_int_t)route->lid));
	}
	all = json_value_set(all, "broken_routes",
			     json_pack("{s:I, s:I, s:I, s:o}", "no_entry",
				       (json_int_t)broken->routes[HD_BROKEN_NO_ENTRY], "dead_end",
				       (json_int_t)broken->routes[HD_BROKEN_DEAD_END], "loop",
				       (json_int_t)broken->routes[HD_BROKEN_LOOP], "first", list));
	if (view->adaptive)
		all = json_value_set(all, "adaptive", adaptive_json(view->adaptive));
	if (view->hot)
		all = json_value_set(all, "hottest", hottest_json(view));
	return all;
}

void ebb_csv_figures(struct csv *csv, const char *tables, const struct hd_congestion_report *report,
		     const struct ebb_broken *broken)
{
	csv_text(csv, tables);
	csv_real(csv, report->mean);
	csv_real(csv, report->half_width);
	csv_real(csv, report->minimum);
	csv_real(csv, report->deviation);
	csv_real(csv, report->sum_max);
	csv_real(csv, report->sum_avg);
	csv_number(csv, report->patterns);
	csv_number(csv, report->routes);
	csv_number(csv, ebb_broken_total(broken));
	if (report->machine_routes)
		csv_real(csv, report->machine_mean);
	else
		csv_empty(csv);
}

void ebb_csv(const struct ebb_view *view)
{
	struct csv csv = csv_begin(stdout, "fabric,pattern,seed," EBB_CSV_COLUMNS ",adaptive_mean");

	csv_text(&csv, view->fabric_path);
	csv_text(&csv, view->workload->pattern_text);
	csv_number(&csv, view->workload->seed);
	ebb_csv_figures(&csv, view->tables_name, view->report, view->broken);
	if (view->adaptive)
		csv_real(&csv, view->adaptive->report->mean);
	else
		csv_empty(&csv);
	csv_end_row(&csv);
}
