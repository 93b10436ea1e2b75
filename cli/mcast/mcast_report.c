/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mcast_report.h"
#include "json_value.h"

#include <inttypes.h>
#include <stdio.h>

#define FAULTS_SHOWN 20u

static const char *fault_name(enum hd_mft_fault_kind kind)
{
	static const char *const names[] = {
	    [HD_MFT_DEAD_END] = "dead end",	  [HD_MFT_NO_ENTRY] = "no entry",
	    [HD_MFT_STRANGER] = "no member",	  [HD_MFT_LOOP] = "loop",
	    [HD_MFT_NOT_REACHED] = "not reached", [HD_MFT_UNUSED] = "unused entry"};

	return names[kind];
}

static const char *name_of(const struct hd_fabric *fabric, uint32_t port)
{
	return fabric->node_name[fabric->port_node[port]];
}

/* ---- text ---- */

static void print_fault(const struct hd_fabric *fabric, const struct hd_mft_fault *fault)
{
	const char *at = fabric->node_name[fault->sw];

	printf("  %s: ", fault_name(fault->kind));
	switch (fault->kind) {
	case HD_MFT_DEAD_END:
		printf("'%s' sends to port %" PRIu32 ", which has no cable\n", at, fault->port);
		break;
	case HD_MFT_NO_ENTRY:
		printf("'%s' has no entry and drops what it gets\n", at);
		break;
	case HD_MFT_STRANGER:
		printf("'%s' sends to port %" PRIu32 ", but no member is behind it\n", at,
		       fault->port);
		break;
	case HD_MFT_LOOP:
		printf("a packet of '%s' reaches '%s' a second time\n",
		       name_of(fabric, fault->sender), at);
		break;
	case HD_MFT_NOT_REACHED:
		printf("'%s' gets nothing from %" PRIu32 " sender%s'%s'\n",
		       name_of(fabric, fault->member), fault->senders,
		       fault->senders == 1 ? ", " : "s, for example ",
		       name_of(fabric, fault->sender));
		break;
	case HD_MFT_UNUSED:
		printf("no packet reaches '%s', which has an entry\n", at);
		break;
	}
}

static void print_title(const struct mcast_view *view)
{
	if (view->mlid)
		printf("0x%04" PRIX32, view->mlid);
	else
		printf("planned");
}

static const char *plural(uint32_t count)
{
	return count == 1 ? "" : "s";
}

void mcast_report_print_summary(const struct mcast_view *view)
{
	const struct hd_mft_report *report = view->report;
	uint32_t switches = view->group->entry_count;

	print_title(view);
	printf(": %" PRIu32 " member%s, %" PRIu32 " switch%s, %" PRIu32 " link%s, %" PRIu32
	       " hop%s deep: ",
	       report->member_count, plural(report->member_count), switches,
	       switches == 1 ? "" : "es", report->links, plural(report->links), report->depth,
	       plural(report->depth));
	if (!report->fault_count)
		puts("right");
	else
		printf("%" PRIu32 " fault%s\n", report->fault_count, plural(report->fault_count));
	for (uint32_t i = 0; i < report->fault_count && i < FAULTS_SHOWN; i++)
		print_fault(view->fabric, &report->faults[i]);
	if (report->fault_count > FAULTS_SHOWN)
		printf("  ... and %" PRIu32 " more\n", report->fault_count - FAULTS_SHOWN);
}

static void print_step(const struct hd_fabric *fabric, const struct mcast_step *step)
{
	static const char *const remarks[] = {[MCAST_SWITCH] = "",
					      [MCAST_AGAIN] = ", again",
					      [MCAST_NO_ENTRY] = ", which has no entry",
					      [MCAST_HOST] = "",
					      [MCAST_NOTHING] = ""};

	printf("%*s", (int)(2 * step->depth), "");
	if (step->from != HD_NONE)
		printf("[%" PRIu32 "] -> ", hd_port_number(fabric, step->from));
	if (step->end == MCAST_NOTHING) {
		puts("nothing");
		return;
	}
	if (step->from != HD_NONE && !hd_port_number(fabric, step->from))
		printf("itself");
	else if (step->from != HD_NONE)
		printf("[%" PRIu32 "] ", hd_port_number(fabric, fabric->peer[step->from]));
	if (step->from == HD_NONE || hd_port_number(fabric, step->from))
		printf("%s 0x%016" PRIx64 " \"%s\"",
		       hd_is_switch(fabric, step->node) ? "switch" : "host",
		       fabric->node_guid[step->node], fabric->node_name[step->node]);
	puts(remarks[step->end]);
}

void mcast_report_print(const struct mcast_view *view)
{
	for (uint32_t i = 0; i < view->tree->count; i++)
		print_step(view->fabric, &view->tree->steps[i]);
	mcast_report_print_summary(view);
}

/* ---- JSON ---- */

json_t *mcast_report_port_json(const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t node = fabric->port_node[port];

	return json_pack("{s:o, s:o, s:I}", "name", json_value_text(fabric->node_name[node]),
			 "guid", json_value_guid(fabric->node_guid[node]), "port",
			 (json_int_t)hd_port_number(fabric, port));
}

static json_t *fault_json(const struct hd_fabric *fabric, const struct hd_mft_fault *fault)
{
	bool of_packet = fault->kind == HD_MFT_LOOP || fault->kind == HD_MFT_NOT_REACHED;
	bool of_member = fault->kind == HD_MFT_NOT_REACHED;
	json_t *json = json_pack("{s:s}", "kind", fault_name(fault->kind));

	if (of_packet)
		json =
		    json_value_set(json, "sender", mcast_report_port_json(fabric, fault->sender));
	if (!of_member)
		return json_value_set(
		    json, "switch",
		    mcast_report_port_json(fabric, hd_port_index(fabric, fault->sw, fault->port)));
	json = json_value_set(json, "member", mcast_report_port_json(fabric, fault->member));
	return json_value_set(json, "senders", json_integer(fault->senders));
}

/* The ports where a packet leaves a switch, whatever port it came from. */
static json_t *entry_json(const struct hd_fabric *fabric, const struct hd_mft_entry *entry)
{
	json_t *ports = json_array();

	HD_PORT_SET_FOREACH(port, &entry->ports)
		ports = json_value_append(ports, json_integer(port));
	return json_pack("{s:o, s:o, s:o}", "name", json_value_text(fabric->node_name[entry->sw]),
			 "guid", json_value_guid(fabric->node_guid[entry->sw]), "ports", ports);
}

static json_t *root_json(const struct mcast_view *view)
{
	if (!view->tree->count)
		return json_null();
	return json_value_guid(view->fabric->node_guid[view->tree->steps[0].node]);
}

json_t *mcast_report_json(const struct mcast_view *view)
{
	const struct hd_mft_report *report = view->report;
	json_t *members = json_array(), *switches = json_array(), *faults = json_array();

	for (uint32_t i = 0; i < report->member_count; i++)
		members = json_value_append(
		    members, mcast_report_port_json(view->fabric, report->members[i]));
	for (uint32_t i = 0; i < view->group->entry_count; i++)
		switches =
		    json_value_append(switches, entry_json(view->fabric, &view->group->entries[i]));
	for (uint32_t i = 0; i < report->fault_count; i++)
		faults = json_value_append(faults, fault_json(view->fabric, &report->faults[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "mlid",
			 view->mlid ? json_integer(view->mlid) : json_null(), "root",
			 root_json(view), "members", members, "switches", switches, "links",
			 (json_int_t)report->links, "depth", (json_int_t)report->depth, "faults",
			 faults);
}
