/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_figures.h"
#include "status_report.h"

#include <inttypes.h>

static bool is_pending(bool wanted, const struct hd_ar_switch_report *sw)
{
	const bool failed = sw->standing < HD_AR_UNABLE || sw->standing == HD_AR_LEFT ||
			    (sw->standing == HD_AR_ABLE && sw->rc);

	return sw->uncertain || (wanted ? failed : !ar_held_is_off(sw));
}

static void count_pending(const struct hd_ar_program *program, struct ar_figures *out)
{
	for (uint32_t i = 0; i < hd_ar_program_switch_count(program); i++) {
		const struct hd_ar_switch_report sw = hd_ar_program_report(program, i);
		if (!is_pending(out->wanted, &sw))
			continue;
		out->pending++;
		if (out->named == AR_FIGURES_NAMED)
			continue;
		out->list[out->named].guid = sw.guid;
		out->list[out->named++].standing = hd_ar_standing_name(sw.standing);
	}
}

void ar_figures_count(bool wanted, const struct ar_held *held, const struct hd_ar_program *program,
		      struct ar_figures *out)
{
	const struct hd_ar_plan *plan = held->plan;

	*out = (struct ar_figures){.known = program != NULL, .wanted = wanted};
	if (plan) {
		out->algorithm = hd_ar_algorithm_name(plan->algorithm);
		out->mode = hd_ar_state_name(plan->mode);
		out->switches = plan->switch_count;
	}
	for (uint32_t sw = 0; sw < out->switches; sw++) {
		out->adaptive += plan->switches[sw].used > 0;
		out->groups += plan->switches[sw].used;
	}
	if (program)
		count_pending(program, out);
	out->on = plan || (!wanted && out->pending);
}

void ar_figures_explain(const struct hd_ar_plan *plan, const struct hd_ar_notes *notes,
			struct ar_figures *out)
{
	if (!out->wanted)
		return;
	if (plan) {
		out->entries = plan->entries;
		out->adaptive_entries = plan->adaptive;
		out->nothing = !plan->adaptive;
	}
	if (notes->count)
		hd_ar_note_text(&notes->list[0], out->reason, sizeof(out->reason));
}

/* ---- the report ---- */

static void add_summary(const struct ar_figures *figures, struct status_report *report)
{
	const char *cause =
	    figures->nothing && !*figures->fault ? "no entry is adaptive" : figures->fault;
	char pending[64] = "";

	if (figures->pending)
		snprintf(pending, sizeof(pending), "; %" PRIu32 " switch%s pending",
			 figures->pending, figures->pending == 1 ? "" : "es");
	if (figures->foreign)
		status_report_text(
		    report, "summary",
		    "left to another manager, as foreign in [ar] says: what certificates, "
		    "drain and repairs promise holds for forwarding tables alone");
	else if (!figures->known)
		status_report_text(report, "summary", "not known yet");
	else if (figures->on && !figures->algorithm)
		status_report_text(report, "summary",
				   "off, but for %" PRIu32 " switch%s that may have it on",
				   figures->pending, figures->pending == 1 ? "" : "es");
	else if (figures->on)
		status_report_text(report, "summary",
				   "on: %s, %s; %" PRIu32 " of %" PRIu32 " switches, %" PRIu32
				   " groups%s",
				   figures->algorithm, figures->mode, figures->adaptive,
				   figures->switches, figures->groups, pending);
	else
		status_report_text(report, "summary", "off%s%s%s",
				   figures->wanted ? ", though it is asked for" : "",
				   *cause ? ": " : "", cause);
}

static void add_pending(const struct ar_figures *figures, struct status_report *report)
{
	status_report_list(report, "pending_switches");
	for (uint32_t i = 0; i < figures->named; i++) {
		status_report_item(report);
		status_report_text(report, "guid", "0x%016" PRIx64, figures->list[i].guid);
		status_report_text(report, "state", "%s", figures->list[i].standing);
		status_report_item_end(report);
	}
	status_report_list_end(report);
}

static void add_faults(const struct ar_figures *figures, struct status_report *report)
{
	if (figures->pending && !figures->wanted)
		status_report_fault(
		    report,
		    "%" PRIu32 " switch%s may have adaptive routing on, which is not wanted, "
		    "and send%s by tables that are not known; the first: 0x%016" PRIx64,
		    figures->pending, figures->pending == 1 ? "" : "es",
		    figures->pending == 1 ? "s" : "", figures->list[0].guid);
	else if (figures->pending)
		status_report_fault(report,
				    "%" PRIu32 " switch%s not have the adaptive routing that %s "
				    "should have; the first: 0x%016" PRIx64,
				    figures->pending, figures->pending == 1 ? " does" : "es do",
				    figures->pending == 1 ? "it" : "they", figures->list[0].guid);
	if (*figures->fault)
		status_report_fault(report, "adaptive routing: %s", figures->fault);
	if (figures->nothing && !*figures->fault)
		status_report_fault(report,
				    "adaptive routing is wanted, but no entry is adaptive%s%s",
				    *figures->reason ? ": " : "", figures->reason);
}

void ar_figures_add(const struct ar_figures *figures, struct status_report *report)
{
	static const struct status_metric
	    on = {"heddle_adaptive_routing", "gauge", "1: switches have adaptive routing on"},
	    adaptive = {"heddle_adaptive_switches", "gauge",
			"Switches that have groups of ports for adaptive routing"},
	    groups = {"heddle_adaptive_groups", "gauge", "These groups, in all switches"},
	    entries = {"heddle_adaptive_entries", "gauge",
		       "Entries that let a switch choose a port"},
	    all = {"heddle_adaptive_plan_entries", "gauge",
		   "Entries of the plan of adaptive routing, static ones too"},
	    pending = {"heddle_adaptive_pending_switches", "gauge",
		       "Switches that do not have the adaptive routing that they should have"};

	status_report_section(report, "ar");
	add_summary(figures, report);
	status_report_flag(report, "wanted", figures->wanted);
	status_report_flag(report, "on", figures->on);
	if (figures->algorithm) {
		status_report_text(report, "algorithm", "%s", figures->algorithm);
		status_report_text(report, "mode", "%s", figures->mode);
	}
	status_report_number(report, "switches", figures->adaptive);
	status_report_number(report, "groups", figures->groups);
	status_report_number(report, "pending", figures->pending);
	status_report_number(report, "entries", figures->entries);
	status_report_number(report, "adaptive_entries", figures->adaptive_entries);
	status_report_text(report, "reason", "%s", figures->reason);
	add_pending(figures, report);
	add_faults(figures, report);
	status_report_metric(report, &on, figures->on);
	if (!figures->on && !figures->wanted)
		return;
	status_report_metric(report, &adaptive, figures->adaptive);
	status_report_metric(report, &groups, figures->groups);
	status_report_metric(report, &entries, (double)figures->adaptive_entries);
	status_report_metric(report, &all, (double)figures->entries);
	status_report_metric(report, &pending, figures->pending);
}
