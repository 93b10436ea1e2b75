/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of opensm.conf and heddle.conf: mistakes that OpenSM keeps silent about, and options that contradict. */
#include "doctor_site.h"

#include <heddle/base/suggest.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FEW_WIRE_SMPS 16u /* SMPs under way at a time */
#define MANY_SWITCHES 200u

static const struct hd_opensm_option *known_option(const char *name)
{
	unsigned count;
	const struct hd_opensm_option *options = hd_opensm_options(&count);

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

/* True: OpenSM cannot read the number of a line. */
static bool check_number(struct doctor_site *site, const char *place,
			 const struct hd_opensm_line *line)
{
	const uint32_t largest = hd_opensm_number_largest(line->name);
	char mend[DOCTOR_PLACE_SIZE];
	uint32_t number;

	if (!largest || !*line->value || hd_opensm_number(line->name, line->value, &number))
		return false;
	snprintf(mend, sizeof(mend), "write a number from 0 to %" PRIu32, largest);
	doctor_report_add(&site->report, DOCTOR_WARNING, place, mend,
			  "'%s' is no number that %s can have: OpenSM ignores the line, and a "
			  "line before it or the default stays in force",
			  line->value, line->name);
	return true;
}

static void check_line(struct doctor_site *site, const struct hd_opensm_line *line)
{
	const struct hd_opensm_option *option = known_option(line->name);
	char place[DOCTOR_PLACE_SIZE];

	snprintf(place, sizeof(place), "%s:%u", site->opensm_conf_path, line->number);
	if (!option) {
		struct hd_suggestion suggestion = hd_suggestion_for(line->name);
		unsigned count;
		const struct hd_opensm_option *options = hd_opensm_options(&count);
		char mend[DOCTOR_PLACE_SIZE] =
		    "take the line out, if your OpenSM does not know the option";
		for (unsigned i = 0; i < count; i++)
			hd_suggestion_offer(&suggestion, options[i].name);
		if (suggestion.nearest)
			snprintf(mend, sizeof(mend), "write %s", suggestion.nearest);
		doctor_report_add(&site->report, DOCTOR_WARNING, place, mend,
				  "OpenSM 3.3 knows no option '%s' and ignores the line",
				  line->name);
	} else if (option->boolean && strcmp(line->value, "TRUE") && strcmp(line->value, "FALSE"))
		doctor_report_add(&site->report, DOCTOR_WARNING, place, "write TRUE or FALSE",
				  "OpenSM takes '%s %s' for FALSE", line->name, line->value);
	else if (check_number(site, place, line))
		return;
	else if (hd_opensm_conf_find(site->conf, line->name)->number != line->number)
		doctor_report_add(&site->report, DOCTOR_WARNING, place, "take one of the lines out",
				  "%s is given again in line %u, which counts", line->name,
				  hd_opensm_conf_find(site->conf, line->name)->number);
}

static bool has_word(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || strchr(", \t", at[-1])) &&
		    (!at[length] || strchr(", \t", at[length])))
			return true;
	return false;
}

static void check_plugin(struct doctor_site *site)
{
	const bool loaded = has_word(doctor_option(site, "event_plugin_name", ""), "heddle");
	char place[DOCTOR_PLACE_SIZE];

	doctor_report_begin(&site->report, "plugin");
	if (!site->conf)
		doctor_report_skip(&site->report, "opensm.conf was not read");
	else if (!loaded && doctor_uses_heddle(site))
		doctor_report_add(
		    &site->report, DOCTOR_ERROR,
		    doctor_option_place(site, "event_plugin_name", place),
		    "write event_plugin_name heddle, and restart OpenSM",
		    "routing_engine names an engine of Heddle, but the plugin is not loaded");
	else if (loaded && !doctor_uses_heddle(site))
		doctor_report_add(
		    &site->report, DOCTOR_WARNING,
		    doctor_option_place(site, "routing_engine", place),
		    "write routing_engine auto,updown, and restart OpenSM",
		    "the plugin is loaded, but routing_engine names no engine of Heddle");
}

static void check_cache(struct doctor_site *site)
{
	char place[DOCTOR_PLACE_SIZE];

	doctor_report_begin(&site->report, "ucast-cache");
	if (!site->conf)
		doctor_report_skip(&site->report, "opensm.conf was not read");
	else if (doctor_option_is_true(site, "use_ucast_cache", false) && doctor_uses_heddle(site))
		doctor_report_add(
		    &site->report, DOCTOR_WARNING,
		    doctor_option_place(site, "use_ucast_cache", place),
		    "write use_ucast_cache FALSE: Heddle itself keeps the entries that need not "
		    "change",
		    "with use_ucast_cache no engine runs when a cable or a switch is lost: paths "
		    "around it are not balanced, and there are no repairs and no new routing keys");
}

static void check_repair(struct doctor_site *site)
{
	const struct hd_option_value *enable = doctor_setting(site, "repair", "enable");
	char place[DOCTOR_PLACE_SIZE];

	doctor_report_begin(&site->report, "repair");
	if (!site->conf || !enable) {
		doctor_report_skip(&site->report, "%s was not read",
				   site->conf ? "heddle.conf" : "opensm.conf");
		return;
	}
	if (enable->number && !doctor_option_is_true(site, "sweep_on_trap", true))
		doctor_report_add(&site->report, DOCTOR_WARNING,
				  doctor_option_place(site, "sweep_on_trap", place),
				  "write sweep_on_trap TRUE",
				  "[repair] enable = yes has no effect with sweep_on_trap FALSE");
	if (enable->number && doctor_option_is_true(site, "use_ucast_cache", false))
		doctor_report_add(&site->report, DOCTOR_WARNING,
				  doctor_option_place(site, "use_ucast_cache", place),
				  "write use_ucast_cache FALSE",
				  "[repair] enable = yes has no effect with use_ucast_cache TRUE");
}

static void check_wire_smps(struct doctor_site *site)
{
	const unsigned most = doctor_option_number(site, "max_wire_smps", 4);
	char place[DOCTOR_PLACE_SIZE];

	doctor_report_begin(&site->report, "wire-smps");
	if (!site->conf || !site->fabric) {
		doctor_report_skip(&site->report, "%s was not read",
				   site->conf ? "the fabric" : "opensm.conf");
		return;
	}
	if (most && most < FEW_WIRE_SMPS && site->fabric->switch_count >= MANY_SWITCHES)
		doctor_report_add(&site->report, DOCTOR_WARNING,
				  doctor_option_place(site, "max_wire_smps", place),
				  "write max_wire_smps 64, or what the machine of OpenSM can take",
				  "OpenSM has at most %u SMPs under way at a time, for %u "
				  "switches: sweeps take long",
				  most, site->fabric->switch_count);
}

void doctor_check_options(struct doctor_site *site)
{
	doctor_report_begin(&site->report, "opensm.conf");
	if (site->conf) {
		unsigned count;
		const struct hd_opensm_line *lines = hd_opensm_conf_lines(site->conf, &count);
		for (unsigned i = 0; i < count; i++)
			check_line(site, &lines[i]);
		const unsigned code = doctor_option_number(site, "max_op_vls", 5);
		char place[DOCTOR_PLACE_SIZE];
		if (code < 1 || code > 5)
			doctor_report_add(&site->report, DOCTOR_WARNING,
					  doctor_option_place(site, "max_op_vls", place),
					  "write 1, 2, 3, 4 or 5 for 1, 2, 4, 8 or 15 lanes",
					  "max_op_vls %u means no number of virtual lanes", code);
	} else {
		doctor_report_skip(&site->report, "opensm.conf was not read");
	}
	check_plugin(site);
	check_cache(site);
	check_repair(site);
	check_wire_smps(site);
	char place[DOCTOR_PLACE_SIZE];
	doctor_report_begin(&site->report, "sm-priority");
	if (!site->conf)
		doctor_report_skip(&site->report, "opensm.conf was not read");
	else if (doctor_option_number(site, "sm_priority", 0) > 15)
		doctor_report_add(&site->report, DOCTOR_ERROR,
				  doctor_option_place(site, "sm_priority", place),
				  "write a number from 0 to 15", "sm_priority %s is no priority",
				  doctor_option(site, "sm_priority", ""));
}
