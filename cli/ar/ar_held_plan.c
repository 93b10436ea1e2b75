/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_held_plan.h"
#include "ar_differences.h"
#include "ar_status_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A switch while it is written. */
struct writing {
	const struct ar_live *live;
	FILE *stream;
	struct hd_error *err;
	uint32_t sw, tables; /* tables: of each switch in the file */
	struct hd_ar_switch_report report;
	bool on; /* it has adaptive routing */
};

static bool is_on(const struct hd_ar_switch_report *report)
{
	return report->standing >= HD_AR_ABLE && report->info.enabled;
}

/* Tables of a switch with private ones; 1: no switch has any. */
static uint32_t count_tables(const struct ar_live *live)
{
	uint32_t tables = 1;

	for (uint32_t sw = 0; sw < live->job.fabric->switch_count; sw++) {
		const struct hd_ar_switch_report report = ar_live_report(live, sw);
		if (is_on(&report) && report.held && report.held->table_count > tables)
			tables = report.held->table_count;
	}
	return tables;
}

/* ---- groups ---- */

static void write_ports(FILE *stream, uint32_t group, uint32_t sub, const struct hd_port_set *ports)
{
	fprintf(stream, "%u - %u :", group, sub);
	HD_PORT_SET_FOREACH(port, ports)
		fprintf(stream, " %u,", port);
	fputc('\n', stream);
}

/* Without private tables all sub-groups count as one, as in plans. */
static void write_groups(const struct writing *writing, uint32_t table)
{
	const struct hd_ar_switch_report *report = &writing->report;

	fputs("(Group - Sub-group) : Ports\n", writing->stream);
	for (uint32_t group = 0; writing->on && group <= report->info.group_top; group++) {
		struct hd_port_set ports = ar_differences_group(report, table, group);
		if (hd_port_set_is_empty(&ports))
			continue;
		if (writing->tables == 1) {
			write_ports(writing->stream, group, 0, &ports);
			continue;
		}
		for (uint32_t sub = 0; sub < HD_AR_SUB_GROUPS; sub++) {
			ports = ar_differences_sub_group(report, table, group, sub);
			write_ports(writing->stream, group, sub, &ports);
		}
	}
}

/* ---- entries ---- */

static int refuse(const struct writing *writing, uint32_t lid, int rc, const char *why)
{
	return hd_error_set(writing->err, rc, "switch 0x%016" PRIx64 ", LID %u: %s",
			    writing->report.guid, lid, why);
}

static void write_static(FILE *stream, uint32_t lid, uint8_t port)
{
	fprintf(stream, "0x%04x : %u : static : -\n", lid, port);
}

/* An entry of a switch that has adaptive routing. `port` is that of the forwarding table. */
static int write_held(const struct writing *writing, uint32_t table, uint32_t lid, uint8_t port)
{
	const struct hd_ar_image *held = writing->report.held;
	const struct ar_effect effect = ar_differences_held(&writing->report, table, lid);

	if (!effect.known)
		return port == HD_NO_PORT ? 0
					  : refuse(writing, lid, -ENODATA,
						   "its entry for adaptive routing was not read");
	if (effect.state == HD_AR_HASH_BASED)
		return refuse(writing, lid, -ENOTSUP,
			      "a hash chooses its port, and a plan cannot express that");
	if (effect.state != HD_AR_STATIC)
		fprintf(writing->stream, "0x%04x : %u : %s : %u\n", lid,
			held->form == HD_AR_FORM_OLD ? port : effect.port,
			hd_ar_state_name(effect.state), effect.group);
	else if (effect.port != held->quirks.unreachable_port)
		write_static(writing->stream, lid, effect.port);
	return 0;
}

static int write_entries(const struct writing *writing, uint32_t table)
{
	const struct hd_routes *routes = writing->live->job.routes;
	int rc = 0;

	fputs("LID : Static port : State : Group\n", writing->stream);
	for (uint32_t lid = 0; !rc && lid < routes->lid_count; lid++) {
		uint8_t port = routes->lft[(size_t)writing->sw * routes->stride + lid];
		if (writing->on)
			rc = write_held(writing, table, lid, port);
		else if (port != HD_NO_PORT)
			write_static(writing->stream, lid, port);
	}
	return rc;
}

/* ---- all switches ---- */

static int write_switch(struct writing *writing)
{
	const struct hd_fabric *fabric = writing->live->job.fabric;
	int rc = 0;

	writing->report = ar_live_report(writing->live, writing->sw);
	writing->on = is_on(&writing->report);
	if (writing->on && !writing->report.held)
		return hd_error_set(writing->err, -ENODATA,
				    "switch 0x%016" PRIx64
				    " has adaptive routing, but the plan has none for it, so its "
				    "tables were not read",
				    writing->report.guid);
	for (uint32_t table = 0; !rc && table < writing->tables; table++) {
		fprintf(writing->stream, "Switch 0x%016" PRIx64 " ('%s') table %u\n",
			writing->report.guid, fabric->node_name[writing->sw], table);
		write_groups(writing, table);
		rc = write_entries(writing, table);
		fputc('\n', writing->stream);
	}
	return rc;
}

/* A file must have all switches. */
static int check_read(const struct ar_live *live, struct hd_error *err)
{
	if (!live->job.plan)
		return hd_error_set(err, -ENODATA, "no plan says what to read: %s",
				    live->job.refusal.text);
	for (uint32_t sw = 0; sw < live->job.fabric->switch_count; sw++)
		if (ar_status_report_is_unread(live, sw))
			return hd_error_set(
			    err, -ENODATA,
			    "switch 0x%016" PRIx64 " could not be read (unread switches: %u)",
			    ar_live_report(live, sw).guid, ar_status_report_unread(live));
	return 0;
}

int ar_held_plan_write(const struct ar_live *live, FILE *stream, struct hd_error *err)
{
	struct writing writing = {.live = live, .stream = stream, .err = err};
	int rc = check_read(live, err);

	if (rc)
		return rc;
	writing.tables = count_tables(live);
	for (; !rc && writing.sw < live->job.fabric->switch_count; writing.sw++)
		rc = write_switch(&writing);
	return rc;
}
