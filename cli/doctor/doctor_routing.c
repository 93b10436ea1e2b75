/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* routing_engine, virtual lanes and LIDs: the engines of Heddle are tried on the fabric as OpenSM would. */
#include "doctor_site.h"
#include "message.h"
#include "progress.h"

#include <errno.h>
#include <heddle/base/suggest.h>
#include <heddle/config/policy_files.h>
#include <stdio.h>
#include <string.h>

/* OpenSM's own engines, and words that are none. */
static const char *const own_names[] = {"none", "minhop", "updn",	"dnup", "file",	  "ftree",
					"lash", "dor",	  "torus-2QoS", "nue",	"dfsssp", "sssp"};
#define NO_FALLBACK "no_fallback"

static bool is_own(const char *name)
{
	for (unsigned i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
		if (!strcmp(own_names[i], name))
			return true;
	return false;
}

struct names {
	struct doctor_site *site;
	const char *place;
	bool never_refuses; /* a name before the present one does not */
};

static const char *nearest(const struct doctor_site *site, const char *name)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);
	unsigned count;
	const struct hd_engine *const *engines = hd_engine_list_all(site->heddle.engines, &count);

	for (unsigned i = 0; i < count; i++)
		hd_suggestion_offer(&suggestion, engines[i]->name);
	for (unsigned i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
		hd_suggestion_offer(&suggestion, own_names[i]);
	return suggestion.nearest;
}

static bool check_name(void *context, const char *name)
{
	struct names *names = context;
	struct doctor_report *report = &names->site->report;
	char mend[DOCTOR_PLACE_SIZE] = "see heddle engines and opensm(8) for the names";
	const char *near = nearest(names->site, name);
	bool adaptive, ours = doctor_engine(names->site, name, &adaptive);

	if (near)
		snprintf(mend, sizeof(mend), "write %s", near);
	if (!strcmp(name, NO_FALLBACK))
		return true;
	if (!ours && !is_own(name))
		doctor_report_add(report, DOCTOR_ERROR, names->place, mend,
				  "there is no routing engine '%s'", name);
	if (ours && names->never_refuses)
		doctor_report_add(
		    report, DOCTOR_WARNING, names->place, "name the engine first",
		    "OpenSM never comes to the engine %s: minhop before it refuses no fabric",
		    name);
	if (!strcmp(name, "lash"))
		doctor_report_add(
		    report, DOCTOR_WARNING, names->place, "name another engine, such as spf",
		    "OpenSM 3.3.21 was reported to crash in lash (linux-rdma/opensm issue 30)");
	names->never_refuses |= !strcmp(name, "minhop");
	return true;
}

struct trial {
	struct doctor_site *site;
	struct hd_policy_files files;
	unsigned lanes; /* data VLs; 0: as the ports have */
	bool refused, routed, foreign; /* foreign: OpenSM's own engine comes next */
};

/* max_op_vls 1..5 means 1, 2, 4, 8 and 15 lanes. The ports of the fabric may have fewer, which is not known. */
static unsigned lanes_of(const struct doctor_site *site)
{
	const unsigned code = doctor_option_number(site, "max_op_vls", 5);

	if (!doctor_option_is_true(site, "qos", false))
		return 1;
	return code >= 1 && code <= 3 ? 1u << (code - 1) : 0;
}

static void read_policy(struct trial *trial)
{
	struct doctor_site *site = trial->site;
	char place[DOCTOR_PLACE_SIZE];
	struct hd_error err;

	for (unsigned file = 0; file < HD_POLICY_FILES; file++) {
		const char *option = hd_policy_file_kind(file)->option;
		const char *path = doctor_option(site, option, "");
		if (*path && hd_policy_file_read(&trial->files, file, path, false, &err))
			doctor_report_add(&site->report, DOCTOR_ERROR,
					  doctor_option_place(site, option, place),
					  "mend the file, or take the line out", "%s", err.text);
	}
}

static int route(const struct trial *trial, const struct hd_engine *engine, unsigned lanes,
		 struct hd_error *err)
{
	const struct doctor_site *site = trial->site;
	const struct hd_log log = message_log(false);
	struct hd_policy policy = hd_policy_files_view(&trial->files);
	struct hd_routes *routes = NULL;

	policy.max_reverse_hops = doctor_option_number(site, "max_reverse_hops", 0);
	policy.connect_roots = doctor_option_is_true(site, "connect_roots", false);
	const struct hd_route_request request = {
	    .fabric = site->fabric,
	    .options =
		site->heddle.config ? hd_config_options(site->heddle.config, engine->name) : NULL,
	    .policy = &policy,
	    .lanes = lanes,
	    .threads = site->threads,
	    .log = &log};
	progress_begin("routing with %s", engine->name);
	int rc = hd_engine_route(engine, &request, &routes, err);
	progress_end();
	hd_routes_free(routes);
	return rc;
}

static bool try_engine(void *context, const char *name)
{
	struct trial *trial = context;
	bool adaptive;
	const struct hd_engine *engine = doctor_engine(trial->site, name, &adaptive);
	struct hd_error err = {""};

	trial->foreign = !engine && is_own(name);
	if (!engine)
		return !trial->foreign;
	const int rc = route(trial, engine, trial->lanes, &err);
	trial->routed = !rc;
	trial->refused |= rc != 0;
	if (rc) {
		struct doctor_site *site = trial->site;
		const bool qos = doctor_option_is_true(site, "qos", false);
		char place[DOCTOR_PLACE_SIZE];
		struct hd_error unused;
		if (rc == -ENOSPC && !qos && !route(trial, engine, 0, &unused))
			doctor_report_add(
			    &site->report, DOCTOR_ERROR, doctor_option_place(site, "qos", place),
			    "write qos TRUE, and restart OpenSM",
			    "without qos TRUE there is one virtual lane, and %s needs more "
			    "on this fabric: %s",
			    engine->name, err.text);
		else
			doctor_report_add(&site->report, DOCTOR_WARNING,
					  doctor_option_place(site, "routing_engine", place),
					  "name an engine that routes it first, such as auto",
					  "%s refuses this fabric: %s", engine->name, err.text);
	}
	return rc != 0;
}

static void check_lanes(struct doctor_site *site)
{
	struct trial trial = {.site = site, .lanes = lanes_of(site)};
	char place[DOCTOR_PLACE_SIZE];

	doctor_report_begin(&site->report, "lanes");
	if (!site->conf || !site->fabric) {
		doctor_report_skip(&site->report, "%s was not read",
				   site->conf ? "the fabric" : "opensm.conf");
		return;
	}
	read_policy(&trial);
	doctor_each_engine(site, try_engine, &trial);
	hd_policy_files_release(&trial.files);
	if (trial.refused && !trial.routed && !trial.foreign)
		doctor_report_add(&site->report, DOCTOR_ERROR,
				  doctor_option_place(site, "routing_engine", place),
				  "write routing_engine auto,updown, and restart OpenSM",
				  "no engine of routing_engine routes this fabric%s",
				  strstr(doctor_option(site, "routing_engine", ""), NO_FALLBACK)
				      ? ""
				      : ": OpenSM routes with its own MinHop");
}

static bool check_lmc_use(void *context, const char *name)
{
	struct doctor_site *site = context;
	bool adaptive;
	const struct hd_engine *engine = doctor_engine(site, name, &adaptive);
	char place[DOCTOR_PLACE_SIZE];

	if (engine && (engine->takes_keys || !strcmp(engine->name, "multipath")))
		doctor_report_add(
		    &site->report, DOCTOR_WARNING, doctor_option_place(site, "lmc", place),
		    "write lmc 2, say; hosts get 2^lmc LIDs, and paths, each",
		    "with lmc 0 hosts have one LID each, so %s has %s", engine->name,
		    engine->takes_keys ? "no LIDs for routing keys" : "one path to each host");
	return true;
}

static uint64_t lids_needed(const struct hd_fabric *fabric, unsigned lmc)
{
	const uint64_t adapters = (uint64_t)fabric->host_count + fabric->aside_count;

	return (adapters << lmc) + fabric->switch_count;
}

static void check_lmc(struct doctor_site *site)
{
	const unsigned lmc = doctor_option_number(site, "lmc", 0);
	char place[DOCTOR_PLACE_SIZE];

	doctor_report_begin(&site->report, "lmc");
	if (!site->conf) {
		doctor_report_skip(&site->report, "opensm.conf was not read");
		return;
	}
	doctor_option_place(site, "lmc", place);
	if (lmc > HD_LMC_INFINIBAND)
		doctor_report_add(&site->report, DOCTOR_ERROR, place, "write a number from 0 to 7",
				  "lmc %u is no LMC", lmc);
	else if (site->fabric && lids_needed(site->fabric, lmc) > HD_LID_LAST)
		doctor_report_add(
		    &site->report, DOCTOR_ERROR, place, "write a smaller lmc",
		    "%u hosts with %u LIDs each and %u switches are more than the %u unicast LIDs",
		    site->fabric->host_count, 1u << lmc, site->fabric->switch_count,
		    (unsigned)HD_LID_LAST);
	if (!lmc)
		doctor_each_engine(site, check_lmc_use, site);
}

void doctor_check_routing(struct doctor_site *site)
{
	char place[DOCTOR_PLACE_SIZE];
	struct names names = {.site = site,
			      .place = doctor_option_place(site, "routing_engine", place)};

	doctor_report_begin(&site->report, "routing-engine");
	if (site->conf)
		doctor_each_engine(site, check_name, &names);
	else
		doctor_report_skip(&site->report, "opensm.conf was not read");
	check_lanes(site);
	check_lmc(site);
}
