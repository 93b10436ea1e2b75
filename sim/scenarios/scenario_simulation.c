/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One simulation of a run, and the figures of it.
 *
 * scenario_simulation_open() is called for each run, and also once when the runs are prepared: it copies tables that
 * keys may change, makes the traffic and the trees of its multicast groups, and the simulation.
 * scenario_simulation_run() goes on in steps until the end, and asks the watch between them.
 * scenario_simulation_record() then writes the figures of classes, flows, phases, links and traffics into the record,
 * in an order that depends on the scenario alone.
 */
#include "scenario_parts.h"

#include <heddle/engines/multicast.h>
#include <heddle/fabric/mfts.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The figures of a simulation by name. */

#define NAME_SIZE 120
#define PICOSECOND 1e-12
#define PHASES_MAX 32u
#define SETTLING 0.2 /* share of a phase that does not count: the switches' queues fill and drain */

struct recording {
	struct scenario_simulation *simulation;
	struct hd_sim_figures figures;
	struct hd_record *record;
	double seconds; /* that count */
	double rate; /* payload bit/s of the fastest host link, without anybody else */
};

static void simulation_add(const struct recording *recording, const char *unit, double value,
			   const char *format, ...) HD_PRINTF(4, 5);

static void simulation_add(const struct recording *recording, const char *unit, double value,
			   const char *format, ...)
{
	char name[NAME_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	hd_record_add(recording->record, name, unit, value);
}

static double fastest_host(const struct scenario_simulation *simulation)
{
	const struct hd_fabric *fabric = simulation->network.subnets[0].fabric;
	double best = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		double rate = 1e9 * hd_port_rate(fabric, fabric->host_port[host]);
		best = rate > best ? rate : best;
	}
	return best;
}

static double best_rate(const struct scenario_simulation *simulation)
{
	const struct hd_sim_settings *settings = &simulation->settings;
	double rate =
	    settings->forced_rate ? (double)settings->forced_rate : fastest_host(simulation);

	if (rate <= 0)
		rate = (double)settings->bit_rate;
	return rate * settings->mtu / ((double)settings->mtu + settings->header);
}

static void add_latency(const struct recording *recording, const char *class, const char *what,
			const struct hd_sim_histogram *histogram)
{
	if (!histogram->count)
		return;
	simulation_add(recording, "s", histogram->mean * PICOSECOND, "class.%s.%s.mean", class,
		       what);
	simulation_add(recording, "s",
		       (double)hd_sim_histogram_quantile(histogram, 0.5) * PICOSECOND,
		       "class.%s.%s.median", class, what);
	simulation_add(recording, "s",
		       (double)hd_sim_histogram_quantile(histogram, 0.99) * PICOSECOND,
		       "class.%s.%s.p99", class, what);
	simulation_add(recording, "s", (double)histogram->greatest * PICOSECOND, "class.%s.%s.max",
		       class, what);
}

static const char *host_name(const struct recording *recording, uint32_t endpoint)
{
	const struct scenario_simulation *simulation = recording->simulation;

	for (uint32_t subnet = 0; subnet < simulation->network.subnet_count; subnet++) {
		const struct hd_fabric *fabric = simulation->network.subnets[subnet].fabric;
		uint32_t host = endpoint - hd_sim_endpoint(simulation->sim, subnet, 0);
		if (host < fabric->host_count)
			return fabric->node_name[fabric->port_node[fabric->host_port[host]]];
	}
	return "?";
}

/* Whether the flow with that index is one of the same traffic. */
static bool is_of(const struct recording *recording, uint32_t index, const char *traffic)
{
	return index < recording->figures.flow_count &&
	       !strcmp(hd_traffic_flow(recording->simulation->traffic, index)->traffic, traffic);
}

/* The traffic's name if it is its only flow, else with both hosts. The flows of a traffic come one
 * after another. */
static void name_flow(const struct recording *recording, uint32_t index, char *buffer, size_t size)
{
	const struct hd_traffic *traffic = recording->simulation->traffic;
	const struct hd_traffic_flow *flow = hd_traffic_flow(traffic, index);

	if (!is_of(recording, index - 1, flow->traffic) &&
	    !is_of(recording, index + 1, flow->traffic))
		snprintf(buffer, size, "%s", flow->traffic);
	else
		snprintf(buffer, size, "%s:%.30s-%.30s", flow->traffic,
			 host_name(recording, flow->source),
			 host_name(recording, flow->destination));
}

static void add_flow(const struct recording *recording, uint32_t index)
{
	const struct hd_traffic_flow *flow = hd_traffic_flow(recording->simulation->traffic, index);
	uint64_t from = recording->figures.from, to = recording->figures.to;
	char name[80];

	from = flow->from > from ? flow->from : from;
	to = flow->to < to ? flow->to : to;
	if (to <= from)
		return;
	name_flow(recording, index, name, sizeof(name));
	double rate =
	    8.0 * (double)recording->figures.flow_bytes[index] / ((double)(to - from) * PICOSECOND);
	simulation_add(recording, "bit/s", rate, "flow.%s.throughput", name);
	simulation_add(recording, "1", rate / recording->rate, "flow.%s.share", name);
}

/* Phases: from the beginning or end of a flow to the next one */
static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t find_phases(const struct recording *recording, uint64_t *times)
{
	uint64_t to = recording->figures.to;
	uint32_t count = 1, kept = 1;

	times[0] = 0;
	for (uint32_t i = 0; i < recording->figures.flow_count; i++) {
		const struct hd_traffic_flow *flow =
		    hd_traffic_flow(recording->simulation->traffic, i);
		if (flow->from && flow->from < to && count + 2 < PHASES_MAX)
			times[count++] = flow->from;
		if (flow->to < to && count + 2 < PHASES_MAX)
			times[count++] = flow->to;
		qsort(times, count, sizeof(*times), ascending);
		for (uint32_t k = kept = 1; k < count; k++)
			if (times[k] != times[kept - 1])
				times[kept++] = times[k];
		count = kept;
	}
	times[count] = to;
	return count;
}

/* The share of a flow between two times, without the settling; by whole bins. */
static double share_between(const struct recording *recording, uint32_t flow, uint64_t from,
			    uint64_t to)
{
	const struct hd_sim_figures *figures = &recording->figures;
	uint64_t bin = recording->simulation->settings.bin;
	const uint64_t *bins = &figures->flow_bins[(size_t)flow * figures->bin_count];
	uint64_t begin = from + (uint64_t)(SETTLING * (double)(to - from));
	uint64_t first = (begin + bin - 1) / bin, end = to / bin;
	double bytes = 0;

	end = end < figures->bin_count ? end : figures->bin_count;
	if (end <= first)
		return -1;
	for (uint64_t i = first; i < end; i++)
		bytes += (double)bins[i];
	return 8.0 * bytes / ((double)((end - first) * bin) * PICOSECOND) / recording->rate;
}

static void add_phases(const struct recording *recording)
{
	uint64_t times[PHASES_MAX];
	uint32_t phases = recording->simulation->settings.bin && recording->figures.bin_count
			      ? find_phases(recording, times)
			      : 0;
	char name[80];

	for (uint32_t flow = 0; phases > 1 && flow < recording->figures.flow_count; flow++) {
		name_flow(recording, flow, name, sizeof(name));
		for (uint32_t i = 0; i < phases; i++) {
			double share = share_between(recording, flow, times[i], times[i + 1]);
			if (share >= 0)
				simulation_add(recording, "1", share, "flow.%s.share.phase%u", name,
					       i + 1);
		}
	}
}

static void add_series(const struct recording *recording)
{
	const struct hd_sim_figures *figures = &recording->figures;
	uint64_t bin = recording->simulation->settings.bin;
	char name[80], item[NAME_SIZE];

	if (!bin || !figures->bin_count)
		return;
	double *shares = calloc(figures->bin_count, sizeof(*shares));
	if (!shares) {
		recording->record->failed = true;
		return;
	}
	simulation_add(recording, "s", (double)bin * PICOSECOND, "series.bin");
	for (uint32_t flow = 0; flow < figures->flow_count; flow++) {
		for (uint32_t i = 0; i < figures->bin_count; i++)
			shares[i] =
			    8.0 *
			    (double)figures->flow_bins[(size_t)flow * figures->bin_count + i] /
			    ((double)bin * PICOSECOND) / recording->rate;
		name_flow(recording, flow, name, sizeof(name));
		snprintf(item, sizeof(item), "series.%s", name);
		hd_record_add_list(recording->record, item, "1", shares, figures->bin_count);
	}
	free(shares);
}

static double busy(const struct recording *recording, uint32_t subnet, uint32_t port)
{
	return recording->seconds > 0 ? (double)recording->figures.links[subnet][port].busy *
					    PICOSECOND / recording->seconds
				      : 0;
}

/* Links between switches, in the fabric's order. */
static double add_utilisation(const struct recording *recording, uint32_t subnet, bool list,
			      double *most)
{
	const struct hd_fabric *fabric = recording->simulation->network.subnets[subnet].fabric;
	double *shares = calloc((size_t)fabric->isl_count + 1, sizeof(*shares)), sum = 0;
	char name[NAME_SIZE];

	if (!shares) {
		recording->record->failed = true;
		return 0;
	}
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t port =
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
		shares[link] = busy(recording, subnet, port);
		*most = shares[link] > *most ? shares[link] : *most;
		sum += shares[link];
	}
	snprintf(name, sizeof(name), "links.%u", subnet);
	if (list)
		hd_record_add_list(recording->record, name, "1", shares, fabric->isl_count);
	free(shares);
	return sum;
}

static void add_own(const struct recording *recording)
{
	uint32_t count = 0;
	const struct hd_traffic_figure *figures =
	    hd_traffic_figures(recording->simulation->traffic, &count);

	if (!figures)
		recording->record->failed = true;
	for (uint32_t i = 0; figures && i < count; i++) {
		const struct hd_traffic_figure *figure = &figures[i];
		const char *unit = figure->unit == HD_TRAFFIC_COUNT ? "-"
				   : figure->unit == HD_TRAFFIC_SHARE
				       ? "1"
				       : hd_traffic_unit_name(figure->unit);
		if (*figure->item)
			simulation_add(recording, unit, figure->value, "%s.%s@%s%u",
				       figure->traffic, figure->name, figure->item, figure->index);
		else
			simulation_add(recording, unit, figure->value, "%s.%s", figure->traffic,
				       figure->name);
	}
}

void scenario_simulation_record(struct scenario_simulation *simulation, bool lists,
				struct hd_record *record)
{
	struct recording recording = {
	    .simulation = simulation, .record = record, .rate = best_rate(simulation)};

	hd_sim_figures(simulation->sim, &recording.figures);
	if (recording.figures.to > recording.figures.from)
		recording.seconds =
		    (double)(recording.figures.to - recording.figures.from) * PICOSECOND;
	record->partial = simulation->partial;
	for (uint32_t i = 0; i < recording.figures.flow_count; i++)
		add_flow(&recording, i);
	double bytes = 0;
	for (uint32_t i = 0; i < recording.figures.flow_count; i++)
		bytes += (double)recording.figures.flow_bytes[i];
	if (recording.figures.flow_count && recording.seconds > 0)
		simulation_add(&recording, "1", 8.0 * bytes / recording.seconds / recording.rate,
			       "flows.share");
	add_phases(&recording);
	for (uint32_t i = 0; i < recording.figures.class_count; i++) {
		const struct hd_sim_class *class = &recording.figures.classes[i];
		const char *name = hd_traffic_class_name(recording.simulation->traffic, i);

		if (recording.seconds > 0)
			simulation_add(&recording, "bit/s",
				       8.0 * (double)class->bytes_delivered / recording.seconds,
				       "class.%s.throughput", name);
		simulation_add(&recording, "-", (double)class->messages_sent, "class.%s.sent",
			       name);
		simulation_add(&recording, "-", (double)class->messages_delivered,
			       "class.%s.delivered", name);
		simulation_add(&recording, "-", (double)class->messages_lost, "class.%s.lost",
			       name);
		simulation_add(&recording, "-", (double)class->packets_dropped,
			       "class.%s.packets_dropped", name);
		add_latency(&recording, name, "latency", &class->message);
		add_latency(&recording, name, "packet_latency", &class->packet);
	}
	add_own(&recording);
	const struct hd_sim_network *network = &recording.simulation->network;
	double sum = 0, most = 0, links = 0;
	for (uint32_t subnet = 0; subnet < network->subnet_count; subnet++) {
		sum += add_utilisation(&recording, subnet, lists, &most);
		links += network->subnets[subnet].fabric->isl_count;
	}
	simulation_add(&recording, "1", most, "links.most");
	simulation_add(&recording, "1", links > 0 ? sum / links : 0, "links.mean");
	const struct hd_sim_figures *figures = &recording.figures;
	simulation_add(&recording, "s", (double)figures->to * PICOSECOND, "run.time");
	simulation_add(&recording, "-", (double)figures->hops, "run.hops");
	simulation_add(&recording, "-", (double)figures->events, "run.events");
	simulation_add(&recording, "-", recording.simulation->end == HD_SIM_DEADLOCK,
		       "run.deadlock");
	simulation_add(&recording, "-", (double)figures->packets, "packets.made");
	simulation_add(&recording, "-", (double)figures->arrived, "packets.arrived");
	simulation_add(&recording, "-", (double)figures->in_flight, "packets.in_flight");
	simulation_add(&recording, "-", (double)figures->dropped, "packets.dropped");
	simulation_add(&recording, "-", (double)figures->dropped_head, "packets.dropped_head");
	simulation_add(&recording, "-", (double)figures->dropped_switch, "packets.dropped_switch");
	simulation_add(&recording, "-", (double)figures->dropped_route, "packets.dropped_route");
	if (lists)
		add_series(&recording);
}

void scenario_simulation_record_counters(struct scenario_simulation *simulation,
					 struct hd_record *record)
{
	static const char *const names[] = {HD_SCENARIO_BYTES, HD_SCENARIO_PACKETS,
					    HD_SCENARIO_WAITING};
	const uint32_t ports = simulation->network.subnets[0].fabric->port_count;
	struct hd_sim_figures figures;

	hd_sim_figures(simulation->sim, &figures);
	hd_record_add(record, HD_SCENARIO_COUNTED, "s",
		      figures.to > figures.from ? (double)(figures.to - figures.from) * PICOSECOND
						: 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct hd_sim_link *links = figures.links[0];
		const char *name = names[i];
		double *values = calloc((size_t)ports + 1, sizeof(*values));
		if (!values) {
			record->failed = true;
			continue;
		}
		bool bytes = !strcmp(name, HD_SCENARIO_BYTES),
		     packets = !strcmp(name, HD_SCENARIO_PACKETS);
		for (uint32_t port = 0; port < ports; port++)
			values[port] = bytes	 ? (double)links[port].bytes
				       : packets ? (double)links[port].packets
						 : (double)links[port].blocked * PICOSECOND;
		hd_record_add_list(record, name, bytes || packets ? "-" : "s", values, ports);
		free(values);
	}
}

/* Hops between two questions whether to go on: some milliseconds. */
#define FEW_HOPS 50000u
#define MANY_HOPS 400000u
#define FIRST_SLICE HD_SIM_MICROSECOND

struct planning {
	struct scenario_simulation *simulation;
	uint32_t subnet, first; /* of the endpoints in the subnet */
	struct hd_multicast *multicast;
	struct hd_mfts *mfts;
	uint32_t room;
};

static uint32_t port_of(const struct planning *planning, uint32_t endpoint)
{
	const struct hd_fabric *fabric =
	    planning->simulation->network.subnets[planning->subnet].fabric;

	return fabric->host_port[endpoint - planning->first];
}

static int by_switch(const void *left, const void *right)
{
	const struct hd_mft_entry *a = left, *b = right;

	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

static int add_tree(struct planning *planning, const struct hd_multicast_tree *tree, uint16_t mlid,
		    struct hd_error *err)
{
	struct hd_mfts *mfts = planning->mfts;
	uint32_t count = mfts->count + tree->branch_count;
	struct hd_mft_entry *entries =
	    realloc(mfts->entries, ((size_t)count + 1) * sizeof(*entries));

	if (!entries)
		return hd_error_no_memory(err);
	mfts->entries = entries;
	for (uint32_t i = 0; i < tree->branch_count; i++)
		entries[mfts->count + i] =
		    (struct hd_mft_entry){mlid, tree->branches[i].sw, tree->branches[i].ports};
	qsort(entries + mfts->count, tree->branch_count, sizeof(*entries), by_switch);
	mfts->count = count;
	hd_multicast_add(planning->multicast, tree);
	return 0;
}

static int plan_group(struct planning *planning, const struct hd_traffic_group *group,
		      struct hd_error *err)
{
	uint32_t *members = calloc((size_t)group->member_count + 1, sizeof(*members));
	struct hd_multicast_tree *tree = NULL;

	if (!members)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < group->member_count; i++)
		members[i] = port_of(planning, group->members[i]);
	const struct hd_multicast_group wanted = {members, group->member_count,
						  port_of(planning, group->source)};
	int rc = hd_multicast_plan(planning->multicast, &wanted, &tree, err);
	if (!rc)
		rc = add_tree(planning, tree, group->mlid, err);
	free(tree);
	free(members);
	return rc;
}

/* Groups stay within one subnet: the only one. */
static int plan_groups(struct scenario_simulation *simulation, struct hd_error *err)
{
	uint32_t count = 0;
	const struct hd_traffic_group *groups = hd_traffic_groups(simulation->traffic, &count);
	struct planning planning = {.simulation = simulation};

	if (!count)
		return 0;
	planning.mfts = calloc(1, sizeof(*planning.mfts));
	simulation->mfts[0] = planning.mfts;
	int rc = planning.mfts ? hd_multicast_new(simulation->network.subnets[0].fabric, NULL,
						  &planning.multicast, err)
			       : hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < count; i++)
		rc = plan_group(&planning, &groups[i], err);
	hd_multicast_free(planning.multicast);
	simulation->subnets[0].mfts = planning.mfts;
	return rc;
}

static int copy_network(struct scenario_simulation *simulation, struct hd_error *err)
{
	const struct hd_sim_network *shared = &simulation->point->network->sim;
	uint32_t count = shared->subnet_count;

	simulation->subnets = calloc(count, sizeof(*simulation->subnets));
	simulation->mfts = calloc(count, sizeof(*simulation->mfts));
	if (!simulation->subnets || !simulation->mfts)
		return hd_error_no_memory(err);
	memcpy(simulation->subnets, shared->subnets, count * sizeof(*simulation->subnets));
	simulation->network = *shared;
	simulation->network.subnets = simulation->subnets;
	if (count > 1)
		return 0;
	simulation->tables = hd_routes_copy(shared->subnets[0].routes);
	simulation->subnets[0].routes = simulation->tables;
	return simulation->tables ? 0 : hd_error_no_memory(err);
}

int scenario_simulation_open(struct scenario_simulation *simulation,
			     const struct scenario_point *point, uint64_t seed,
			     struct hd_error *err)
{
	*simulation = (struct scenario_simulation){.point = point, .settings = point->run.settings};
	simulation->settings.seed = seed;
	int rc = copy_network(simulation, err);
	simulation->scene = (struct hd_traffic_scene){&simulation->network, &simulation->settings,
						      simulation->tables};
	if (!rc)
		rc = hd_traffic_new(&simulation->scene, point->traffics, point->traffic_count,
				    &simulation->traffic, err);
	if (!rc)
		rc = plan_groups(simulation, err);
	if (rc)
		return rc;
	simulation->settings.class_count = hd_traffic_class_count(simulation->traffic);
	simulation->settings.flow_count = hd_traffic_flow_count(simulation->traffic);
	const struct hd_sim_workload workload = hd_traffic_workload(simulation->traffic);
	return hd_sim_new(&simulation->network, &simulation->settings, &workload, &simulation->sim,
			  err);
}

void scenario_simulation_close(struct scenario_simulation *simulation)
{
	uint32_t count = simulation->network.subnet_count;

	hd_sim_free(simulation->sim);
	hd_traffic_free(simulation->traffic);
	for (uint32_t i = 0; simulation->mfts && i < count; i++)
		hd_mfts_free(simulation->mfts[i]);
	free(simulation->mfts);
	hd_routes_free(simulation->tables);
	free(simulation->subnets);
}

static bool simulation_ask(struct scenario_simulation *simulation, uint32_t run,
			   const struct hd_scenario_watch *watch,
			   const struct hd_sim_figures *figures)
{
	double share = hd_traffic_progress(simulation->traffic);
	uint64_t now = hd_sim_now(simulation->sim), until = simulation->point->run.duration;

	/* Finite traffic says how much is done: the rest will take as long in proportion. */
	if (until == HD_SIM_NEVER && share > 0)
		until = (uint64_t)((double)now / share);
	const struct hd_scenario_progress progress = {now, until, figures->in_flight,
						      figures->hops};
	return !watch || !watch->progress || watch->progress(watch->context, run, &progress);
}

int scenario_simulation_run(struct scenario_simulation *simulation, uint32_t run,
			    const struct hd_scenario_watch *watch, struct hd_error *err)
{
	uint64_t until = simulation->point->run.duration, slice = FIRST_SLICE, hops = 0;
	struct hd_sim_figures figures;

	if (until == HD_SIM_NEVER && !hd_traffic_ends(simulation->traffic))
		return hd_error_set(err, -EINVAL,
				    "this run would never end: set duration in [run], or stop in "
				    "each [traffic ...]");
	for (;;) {
		uint64_t now = hd_sim_now(simulation->sim);
		uint64_t next = until - now > slice ? now + slice : until;
		int rc = hd_sim_run(simulation->sim, next, &simulation->end, err);
		if (!rc)
			rc = hd_traffic_result(simulation->traffic, err);
		if (rc)
			return rc;
		if (simulation->end != HD_SIM_UNTIL || next == until)
			return 0;
		hd_sim_figures(simulation->sim, &figures);
		if (!simulation_ask(simulation, run, watch, &figures)) {
			simulation->partial = true;
			return 0;
		}
		if (figures.hops - hops < FEW_HOPS && slice < UINT64_MAX / 4)
			slice *= 2;
		else if (figures.hops - hops > MANY_HOPS)
			slice /= 2;
		hops = figures.hops;
	}
}
