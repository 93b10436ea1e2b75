/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MOST 10u /* switches with the same problem that are named each */

static bool is_adaptive(const struct hd_ar_plan *plan, uint32_t lid)
{
	for (uint32_t sw = 0; sw < plan->switch_count; sw++)
		if (hd_ar_plan_group(plan, sw, 0, lid) != HD_AR_NO_GROUP)
			return true;
	return false;
}

struct totals {
	uint32_t switches, groups, lids;
};

static struct totals totals_of(const struct hd_ar_plan *plan)
{
	struct totals totals = {0};

	for (uint32_t sw = 0; sw < plan->switch_count; sw++) {
		totals.switches += plan->switches[sw].used > 0;
		totals.groups += plan->switches[sw].used;
	}
	for (uint32_t lid = 0; lid < plan->lid_count; lid++)
		totals.lids += is_adaptive(plan, lid);
	return totals;
}

static void print_transports(uint32_t disabled, char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "none");
	for (uint32_t i = 0; i < HD_AR_TRANSPORTS && used < size; i++)
		if (!(disabled >> i & 1))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "",
						 hd_ar_transport_name(i));
}

void ar_report_programmed(const struct hd_ar_plan *plan, const struct hd_ar_config *config,
			  const struct ar_effort *effort, const struct opensm_log *log)
{
	const struct totals totals = totals_of(plan);
	char transports[32];

	print_transports(config->settings.transport_disable, transports, sizeof(transports));
	log_info(
	    log,
	    "adaptive routing: %s, %s; %u of %u switches, %u groups, %u LIDs adaptive; SL mask "
	    "0x%04X, transports %s; %" PRIu64 " MADs (%" PRIu64 " Gets, %" PRIu64 " Sets), %.1f ms",
	    hd_ar_algorithm_name(plan->algorithm), hd_ar_state_name(plan->mode), totals.switches,
	    plan->switch_count, totals.groups, totals.lids, config->settings.sl_mask, transports,
	    effort->mads, effort->gets, effort->sets, effort->ms);
}

void ar_report_steps(uint32_t steps, const struct hd_ar_plan *still, const struct opensm_log *log)
{
	if (still)
		log_info(log,
			 "adaptive routing: while the tables change, entries that change are "
			 "static, and %" PRIu64 " stay adaptive; %u steps",
			 still->adaptive, steps);
	else
		log_info(log,
			 "adaptive routing: all entries stay adaptive while the tables change; %u "
			 "steps",
			 steps);
}

void ar_report_off(const char *reason, const struct opensm_log *log)
{
	log_info(log, "adaptive routing is off while the tables change: %s", reason);
}

/* The number of entries is no news. */
static bool said_note(const struct ar_report *report, const struct hd_ar_note *note)
{
	for (uint32_t i = 0; i < report->notes.count; i++) {
		const struct hd_ar_note *said = &report->notes.list[i];
		if (said->kind == note->kind && said->algorithm == note->algorithm &&
		    !strcmp(said->cause, note->cause))
			return true;
	}
	return false;
}

void ar_report_notes(struct ar_report *report, const struct hd_ar_notes *notes,
		     const struct opensm_log *log)
{
	char text[HD_AR_NOTE_TEXT];

	for (uint32_t i = 0; i < notes->count; i++)
		if (!said_note(report, &notes->list[i]))
			log_info(log, "WRN: adaptive routing: %s",
				 hd_ar_note_text(&notes->list[i], text, sizeof(text)));
	report->notes = *notes;
}

static const struct ar_said *said_of(const struct ar_report *report, uint64_t guid)
{
	uint32_t low = 0, high = report->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (report->said[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < report->count && report->said[low].guid == guid ? &report->said[low] : NULL;
}

static void say_left(const struct hd_ar_switch_report *sw, const struct opensm_log *log)
{
	char cause[64] = "no answer";

	if (sw->status)
		snprintf(cause, sizeof(cause), "status 0x%04x", sw->status);
	log_error(log, LOG_ERROR_AR,
		  "switch 0x%016" PRIx64
		  " has too many errors, so it stays without adaptive routing for now; the last: "
		  "%s, modifier 0x%x: %s",
		  sw->guid, hd_ar_attribute_name(sw->attribute), sw->modifier, cause);
}

static void say_uncertain(const struct hd_ar_switch_report *sw, const struct opensm_log *log)
{
	log_error(
	    log, LOG_ERROR_AR,
	    "switch 0x%016" PRIx64
	    " %s, so its adaptive routing could not be switched off, and counts as on; each "
	    "sweep tries again; if that does not help soon, reset the switch, or take it out of "
	    "the fabric",
	    sw->guid, sw->rc == -EREMOTEIO ? "refuses" : "does not answer");
}

/* A switch that answers, but could not be given the plan. */
static void say_failed(const struct hd_ar_switch_report *sw, const struct opensm_log *log)
{
	log_error(log, LOG_ERROR_AR,
		  "switch 0x%016" PRIx64 " does not hold the plan of adaptive routing: %s",
		  sw->guid,
		  sw->rc == -ENOTSUP ? "it has no room for the private forwarding tables"
				     : strerror(-sw->rc));
}

static bool is_problem(enum hd_ar_standing standing)
{
	return standing == HD_AR_SILENT || standing == HD_AR_LEFT;
}

static void say_switch(const struct hd_ar_switch_report *sw, const struct ar_said *before,
		       uint32_t *silent, const struct opensm_log *log)
{
	bool is_new = is_problem(sw->standing) && (!before || before->standing != sw->standing);

	if (sw->uncertain && !(before && before->uncertain))
		say_uncertain(sw, log);
	else if (is_new && sw->standing == HD_AR_LEFT)
		say_left(sw, log);
	else if (sw->standing == HD_AR_ABLE && sw->rc && !(before && before->rc == sw->rc))
		say_failed(sw, log);
	else if (is_new && ++*silent <= NAMED_MOST)
		log_error(
		    log, LOG_ERROR_AR,
		    "switch 0x%016" PRIx64
		    " does not say whether it has adaptive routing, so it counts as one that may "
		    "have it on; the next sweep asks again",
		    sw->guid);
}

void ar_report_found(const struct ar_held *held, const struct hd_ar_program *program, bool late,
		     const struct opensm_log *log)
{
	uint64_t first = 0;
	uint32_t found = 0;

	for (uint32_t i = 0; i < hd_ar_program_switch_count(program); i++) {
		const struct hd_ar_switch_report sw = hd_ar_program_report(program, i);
		if (sw.standing < HD_AR_ABLE || !sw.info.enabled || sw.uncertain ||
		    !ar_held_is_unknown(held, &sw))
			continue;
		first = found++ ? first : sw.guid;
	}
	if (found)
		log_info(
		    log,
		    "adaptive routing is on in %u switches, with tables that are not known, and is "
		    "switched off%s; the first: 0x%016" PRIx64,
		    found,
		    late ? ", after OpenSM's own engine may have changed forwarding tables" : "",
		    first);
}

void ar_report_switches(struct ar_report *report, const struct hd_ar_program *program,
			const struct opensm_log *log)
{
	uint32_t count = hd_ar_program_switch_count(program), silent = 0;
	struct ar_said *said = calloc(count + 1u, sizeof(*said));

	for (uint32_t i = 0; i < count; i++) {
		const struct hd_ar_switch_report sw = hd_ar_program_report(program, i);
		const struct ar_said *before = said_of(report, sw.guid);
		say_switch(&sw, before, &silent, log);
		if (said)
			said[i] = (struct ar_said){sw.guid, sw.standing, sw.uncertain, sw.rc};
	}
	if (silent > NAMED_MOST)
		log_error(log, LOG_ERROR_AR,
			  "%u further switches do not say whether they have adaptive routing",
			  silent - NAMED_MOST);
	if (!said)
		return;
	free(report->said);
	report->said = said;
	report->count = count;
}

void ar_report_unproved(uint32_t count, uint64_t first, const struct opensm_log *log)
{
	log_error(log, LOG_ERROR_AR,
		  "%u switch%s not confirmed that adaptive routing is off, the first 0x%016" PRIx64
		  ": what is proved of the tables that come next does not hold for packets that "
		  "such a switch sends",
		  count, count == 1 ? " has" : "es have", first);
}

static bool said_stuck(const struct ar_report *report, uint64_t guid, bool unsafe)
{
	for (uint32_t i = 0; i < report->stuck_count; i++)
		if (report->stuck[i].guid == guid && report->stuck[i].unsafe == unsafe)
			return true;
	return false;
}

static void say_stuck(uint64_t guid, bool unsafe, const struct opensm_log *log)
{
	if (unsafe)
		log_error(log, LOG_ERROR_AR,
			  "switch 0x%016" PRIx64
			  " does not answer and keeps its old adaptive routing, which can close a "
			  "credit loop with the new tables; reset the switch, or take it out of "
			  "the fabric",
			  guid);
	else
		log_info(log,
			 "switch 0x%016" PRIx64 " does not answer and keeps its old adaptive "
			 "routing; that is proved to be safe with the new tables",
			 guid);
}

void ar_report_stuck(struct ar_report *report, const struct ar_held *held, bool unsafe,
		     const struct opensm_log *log)
{
	struct ar_stuck_said *said = calloc(held->stuck_count + 1u, sizeof(*said));
	uint32_t count = 0;

	for (uint32_t sw = 0; held->plan && sw < held->plan->switch_count; sw++) {
		uint64_t guid = held->plan->switches[sw].guid;
		if (!held->stuck[sw])
			continue;
		if (!said_stuck(report, guid, unsafe))
			say_stuck(guid, unsafe, log);
		if (said)
			said[count++] = (struct ar_stuck_said){guid, unsafe};
	}
	free(report->stuck);
	report->stuck = said;
	report->stuck_count = count;
}

void ar_report_fault(struct ar_report *report, const struct hd_error *err,
		     const struct opensm_log *log)
{
	if (strcmp(report->fault, err->text))
		log_error(log, LOG_ERROR_AR, "adaptive routing: %s", err->text);
	snprintf(report->fault, sizeof(report->fault), "%s", err->text);
}

void ar_report_well(struct ar_report *report)
{
	report->fault[0] = '\0';
}

void ar_report_release(struct ar_report *report)
{
	free(report->said);
	free(report->stuck);
	*report = (struct ar_report){0};
}
