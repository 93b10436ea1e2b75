/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ar fairness: where local and remote flows can get unequal shares. */
#include "ar_job.h"
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "need.h"

#include <stdlib.h>

#define PORTS_SHOWN 20

static const struct argument arguments[] = {
    AR_JOB_ARGUMENTS,
    SHARED_NAME_MAP(struct ar_job, name_map),
    SHARED_LMC(struct ar_job, lmc),
    SHARED_THREADS(struct ar_job, threads),
    SHARED_JSON(struct ar_job, json),
    SHARED_VERBOSE(struct ar_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle ar fairness [OPTION]... FABRIC TABLES...\n"
		"   or: heddle ar fairness [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC",
    .summary = "Counts the ingress ports that compete for each egress port, without and with "
	       "adaptive routing, and names the ports where flows can get unequal shares.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files.",
    .statuses = {"the report is complete",
		 "the plan is refused: the tables or its groups have a credit loop",
		 "bad input or usage, or the engine or algorithm refuses the fabric"},
};

/* Rows of the table: one for each level and direction */
struct range {
	uint32_t least, most;
	uint64_t sum;
};

enum { TOTAL, ABOVE, BELOW, BESIDE, FIGURES };

static const char *const figure_names[FIGURES] = {"total", "uplinks", "downlinks", "sideways"};

struct row {
	uint32_t level;
	enum hd_ar_direction direction;
	uint32_t ports;
	struct range deterministic[FIGURES], adaptive[FIGURES];
};

static void add(struct range *range, uint32_t value, bool first)
{
	range->least = first || value < range->least ? value : range->least;
	range->most = first || value > range->most ? value : range->most;
	range->sum += value;
}

static void add_ingress(struct range *ranges, const struct hd_ar_ingress *ingress, bool first)
{
	add(&ranges[TOTAL], hd_ar_ingress_total(ingress), first);
	add(&ranges[ABOVE], ingress->above, first);
	add(&ranges[BELOW], ingress->below, first);
	add(&ranges[BESIDE], ingress->beside, first);
}

static const char *direction_name(enum hd_ar_direction direction)
{
	return direction == HD_AR_UP ? "up" : direction == HD_AR_DOWN ? "down" : "sideways";
}

static void print_kind(const struct row *row, const char *name, const struct range *ranges)
{
	printf("%5u  %-9s %7u  %-14s", row->level, direction_name(row->direction), row->ports,
	       name);
	for (unsigned i = 0; i < FIGURES; i++) {
		const struct range *range = &ranges[i];
		char text[32];
		if (range->least == range->most)
			snprintf(text, sizeof(text), "%u", range->least);
		else
			snprintf(text, sizeof(text), "%u..%u", range->least, range->most);
		printf("  %10s", text);
	}
	putchar('\n');
}

static void print_ports(const struct ar_job *job, const struct hd_ar_fairness *fairness,
			bool reverse, const char *title)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < fairness->port_count; i++) {
		const struct hd_ar_fairness_port *port = &fairness->ports[i];
		count += reverse ? port->reverse_parking_lot : port->parking_lot;
	}
	printf("\n%s: %u of %u egress ports%s\n", title, count, fairness->port_count,
	       count > PORTS_SHOWN && !job->verbose ? "; -v shows all" : "");
	for (uint32_t i = 0, shown = 0; i < fairness->port_count; i++) {
		const struct hd_ar_fairness_port *port = &fairness->ports[i];
		if (!(reverse ? port->reverse_parking_lot : port->parking_lot))
			continue;
		if (shown++ < PORTS_SHOWN || job->verbose) {
			char label[HD_LABEL_SIZE];
			hd_port_label(job->fabric, hd_port_index(job->fabric, port->sw, port->port),
				      label, sizeof(label));
			printf("  %s: %u hosts compete with %u ports of other switches, with "
			       "adaptive routing with "
			       "%u\n",
			       label, port->deterministic.local,
			       hd_ar_ingress_total(&port->deterministic) -
				   port->deterministic.local,
			       hd_ar_ingress_total(&port->adaptive) - port->adaptive.local);
		}
	}
}

static json_t *ranges_json(const struct row *row, const struct range *ranges)
{
	json_t *value = json_object();

	for (unsigned i = 0; i < FIGURES; i++)
		value =
		    json_value_set(value, figure_names[i],
				   json_pack("{s:I, s:I, s:f}", "min", (json_int_t)ranges[i].least,
					     "max", (json_int_t)ranges[i].most, "mean",
					     (double)ranges[i].sum / row->ports));
	return value;
}

static json_t *ingress_json(const struct hd_ar_ingress *ingress)
{
	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:I}", "total", (json_int_t)hd_ar_ingress_total(ingress),
	    "uplinks", (json_int_t)ingress->above, "downlinks", (json_int_t)ingress->below,
	    "sideways", (json_int_t)ingress->beside, "hosts", (json_int_t)ingress->local);
}

static json_t *ports_json(const struct ar_job *job, const struct hd_ar_fairness *fairness)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < fairness->port_count; i++) {
		const struct hd_ar_fairness_port *port = &fairness->ports[i];
		list = json_value_append(
		    list, json_pack("{s:o, s:o, s:i, s:s, s:b, s:o, s:o, s:b, s:b}", "name",
				    json_value_text(job->fabric->node_name[port->sw]), "guid",
				    json_value_guid(job->fabric->node_guid[port->sw]), "port",
				    (int)port->port, "direction", direction_name(port->direction),
				    "to_host", port->to_host, "deterministic",
				    ingress_json(&port->deterministic), "adaptive",
				    ingress_json(&port->adaptive), "parking_lot", port->parking_lot,
				    "reverse_parking_lot", port->reverse_parking_lot));
	}
	return list;
}

static int report(const struct ar_job *job, const struct hd_ar_fairness *fairness)
{
	uint32_t levels = 1;

	for (uint32_t i = 0; i < fairness->port_count; i++) {
		uint32_t level = fairness->level[fairness->ports[i].sw];
		levels = level + 1 > levels ? level + 1 : levels;
	}
	/* rows[levels * 3], by level and direction. */
	struct row *rows = need(calloc((size_t)levels * 3, sizeof(*rows)));
	for (uint32_t i = 0; i < fairness->port_count; i++) {
		const struct hd_ar_fairness_port *port = &fairness->ports[i];
		uint32_t level = fairness->level[port->sw];
		struct row *row = &rows[level * 3 + port->direction];
		bool first = !row->ports++;
		row->level = level;
		row->direction = port->direction;
		add_ingress(row->deterministic, &port->deterministic, first);
		add_ingress(row->adaptive, &port->adaptive, first);
	}
	int status = STATUS_CLEAN;

	if (job->json) {
		json_t *list = json_array();
		for (uint32_t i = 0; i < levels * 3; i++)
			if (rows[i].ports)
				list = json_value_append(
				    list,
				    json_pack("{s:I, s:s, s:I, s:o, s:o}", "level",
					      (json_int_t)rows[i].level, "direction",
					      direction_name(rows[i].direction), "ports",
					      (json_int_t)rows[i].ports, "deterministic",
					      ranges_json(&rows[i], rows[i].deterministic),
					      "adaptive", ranges_json(&rows[i], rows[i].adaptive)));
		status =
		    json_value_print(json_pack("{s:s, s:o, s:o}", "algorithm",
					       hd_ar_algorithm_name(job->plan->algorithm), "rows",
					       list, "ports", ports_json(job, fairness)),
				     status);
	} else {
		printf("ingress ports that compete for one egress port\n\n"
		       "%5s  %-9s %7s  %-14s  %10s  %10s  %10s  %10s\n",
		       "level", "direction", "ports", "routing", "total", "uplinks", "downlinks",
		       "sideways");
		for (uint32_t i = 0; i < levels * 3; i++) {
			if (!rows[i].ports)
				continue;
			print_kind(&rows[i], "deterministic", rows[i].deterministic);
			print_kind(&rows[i], "adaptive", rows[i].adaptive);
		}
		print_ports(job, fairness, false,
			    "parking lot (deterministic: remote flows can get too little)");
		print_ports(job, fairness, true,
			    "reverse parking lot (adaptive: few remote flows can get too much)");
	}
	free(rows);
	return status;
}

static int run(void *context, const struct operands *operands)
{
	struct ar_job *job = context;
	struct hd_ar_fairness *fairness = NULL;
	struct hd_error err = {""};
	int status = table_source_take_operands(&job->tables, &usage, operands, 0,
						"FABRIC and TABLES (with -e: FABRIC)");

	if (status)
		return status;
	job->fabric_path = operands->items[0];
	if (ar_job_make(job, &err))
		return message_fail(&err);
	if (!job->plan && job->json)
		return json_value_print(ar_plan_report_json(job), STATUS_FAULTS);
	if (!job->plan) {
		ar_plan_report_print(job);
		return STATUS_FAULTS;
	}
	if (hd_ar_fairness_new(job->fabric, job->routes, job->plan, &fairness, &err))
		return message_fail(&err);
	status = report(job, fairness);
	hd_ar_fairness_free(fairness);
	return status;
}

int ar_fairness(int argc, char **argv)
{
	struct ar_job job = AR_JOB_DEFAULTS;
	int status = arguments_run(&usage, argc, argv, &job, run);

	ar_job_release(&job);
	return status;
}
