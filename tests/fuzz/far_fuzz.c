/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as a plan of adaptive routing for a small Dragonfly+. What is accepted must fit the
 * fabric, survive being written and read again, and be proved or refused without harm. */
#include "fuzzing.h"

#include <errno.h>
#include <heddle/ar_manager.h>
#include <stdio.h>

/* Two islands of one leaf and two spines each. */
static const char topology[] =
    "Switch 4 \"S-0000000000200000\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"h1\" lid 7 4xEDR\n"
    "[3] \"S-0000000000200001\"[1] # \"spine1\" lid 2 4xEDR\n"
    "[4] \"S-0000000000200002\"[1] # \"spine2\" lid 3 4xEDR\n"
    "Switch 4 \"S-0000000000200001\" # \"spine1\" base port 0 lid 2 lmc 0\n"
    "[1] \"S-0000000000200000\"[3] # \"leaf1\" lid 1 4xEDR\n"
    "[2] \"S-0000000000200004\"[2] # \"spine3\" lid 5 4xEDR\n"
    "Switch 4 \"S-0000000000200002\" # \"spine2\" base port 0 lid 3 lmc 0\n"
    "[1] \"S-0000000000200000\"[4] # \"leaf1\" lid 1 4xEDR\n"
    "[2] \"S-0000000000200005\"[2] # \"spine4\" lid 6 4xEDR\n"
    "Switch 4 \"S-0000000000200003\" # \"leaf2\" base port 0 lid 4 lmc 0\n"
    "[1] \"H-0000000000100002\"[1](100003) # \"h2\" lid 8 4xEDR\n"
    "[3] \"S-0000000000200004\"[1] # \"spine3\" lid 5 4xEDR\n"
    "[4] \"S-0000000000200005\"[1] # \"spine4\" lid 6 4xEDR\n"
    "Switch 4 \"S-0000000000200004\" # \"spine3\" base port 0 lid 5 lmc 0\n"
    "[1] \"S-0000000000200003\"[3] # \"leaf2\" lid 4 4xEDR\n"
    "[2] \"S-0000000000200001\"[2] # \"spine1\" lid 2 4xEDR\n"
    "Switch 4 \"S-0000000000200005\" # \"spine4\" base port 0 lid 6 lmc 0\n"
    "[1] \"S-0000000000200003\"[4] # \"leaf2\" lid 4 4xEDR\n"
    "[2] \"S-0000000000200002\"[2] # \"spine2\" lid 3 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"h1\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 7 lmc 0 \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100002\" # \"h2\"\n"
    "[1](100003) \"S-0000000000200003\"[1] # lid 8 lmc 0 \"leaf2\" lid 4 4xEDR\n";

static void check_fit(const struct hd_fabric *fabric, const struct hd_ar_plan *plan)
{
	demand(plan->switch_count == fabric->switch_count && plan->lid_count == fabric->lid_count);
	demand(plan->adaptive <= plan->entries);
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		for (uint32_t table = 0; table < plan->table_count; table++)
			for (uint32_t lid = 0; lid < plan->lid_count; lid++) {
				uint32_t group = hd_ar_plan_group(plan, sw, table, lid);
				uint8_t port = plan->switches[sw].lid_port[table][lid];
				demand(port == HD_NO_PORT || port <= hd_node_ports(fabric, sw));
				demand(group == HD_AR_NO_GROUP ||
				       group < plan->switches[sw].group_count);
			}
}

static void check_round_trip(const struct hd_fabric *fabric, const struct hd_ar_plan *plan)
{
	char *bytes = NULL;
	size_t length = 0;
	struct hd_ar_plan *again = NULL;
	FILE *stream = open_memstream(&bytes, &length);

	demand(stream != NULL);
	demand(hd_ar_write_far(plan, fabric, stream, NULL) == 0);
	fclose(stream);
	const struct hd_text text = {.bytes = bytes, .length = length, .name = "again.far"};
	/* a plan for which no switch has a line is written as an empty file */
	if (!hd_ar_read_far(&text, fabric, &again, NULL))
		demand(again->adaptive == plan->adaptive && again->entries == plan->entries);
	else
		demand(!plan->adaptive);
	hd_ar_plan_free(again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hd_routes *routes;
	const struct hd_fabric *fabric = fabric_of(topology);
	const struct hd_text text = {
	    .bytes = (const char *)data, .length = size, .name = "plan.far"};
	struct hd_ar_plan *plan = NULL;
	struct hd_error err = {""};

	if (!routes)
		demand((routes = hd_routes_new(fabric)) != NULL);
	if (hd_ar_read_far(&text, fabric, &plan, &err)) {
		demand(err.text[0] && !plan);
		return 0;
	}
	check_fit(fabric, plan);
	check_round_trip(fabric, plan);
	const struct hd_ar_proof_request request = {
	    .fabric = fabric, .routes = routes, .plan = plan};
	int rc = hd_ar_prove(&request, NULL, NULL, &err);
	demand(!rc || rc == -ELOOP);
	hd_ar_plan_free(plan);
	return 0;
}
