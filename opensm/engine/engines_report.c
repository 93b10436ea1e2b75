/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engines_report.h"
#include "opensm_headers.h"
#include "routing.h"
#include "status_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void engines_report_init(struct engines_report *report)
{
	pthread_mutex_init(&report->lock, NULL);
}

void engines_report_release(struct engines_report *report)
{
	pthread_mutex_destroy(&report->lock);
}

/* ---- the sweeper thread ---- */

void engines_report_begin(struct engines_report *report)
{
	report->refusal_count = 0;
	report->made = false;
}

/* With the lock held. */
static void publish_refusals(struct engines_report *report)
{
	report->outcome.any = true;
	report->outcome.refusal_count = report->refusal_count;
	memcpy(report->outcome.refusals, report->refusals,
	       report->refusal_count * sizeof(*report->refusals));
}

static void add_refusal(struct engines_report *report, const char *name, const char *reason)
{
	if (report->refusal_count == ENGINES_REPORT_TRIED)
		return;
	struct engines_refusal *refusal = &report->refusals[report->refusal_count++];
	snprintf(refusal->name, sizeof(refusal->name), "%s", name);
	snprintf(refusal->reason, sizeof(refusal->reason), "%s", reason);
}

void engines_report_refused(struct engines_report *report, const char *name, const char *reason,
			    bool stranded)
{
	add_refusal(report, name, reason);
	pthread_mutex_lock(&report->lock);
	report->outcome.refusals_total++;
	report->outcome.stranded = stranded;
	if (stranded)
		publish_refusals(report);
	pthread_mutex_unlock(&report->lock);
}

void engines_report_made(struct engines_report *report, const struct routing *routing,
			 const char *line)
{
	struct engines_outcome *outcome = &report->outcome;

	report->made = true;
	pthread_mutex_lock(&report->lock);
	snprintf(outcome->line, sizeof(outcome->line), "%s", line);
	snprintf(outcome->chosen, sizeof(outcome->chosen), "%s", routing_base(routing)->chosen);
	outcome->time = time(NULL);
	outcome->switches = routing->fabric->switch_count;
	outcome->lids = hd_fabric_lids_in_use(routing->fabric);
	outcome->changes = routing->changes;
	outcome->snapshot_ms = routing->snapshot_ms;
	outcome->hops_ms = routing->hops_ms;
	outcome->tables_ms = routing->tables_ms;
	outcome->routings++;
	outcome->changes_total += routing->changes;
	pthread_mutex_unlock(&report->lock);
}

static bool has_refused(const struct engines_report *report, const char *name)
{
	for (unsigned i = 0; i < report->refusal_count; i++)
		if (!strcmp(report->refusals[i].name, name))
			return true;
	return false;
}

/* OpenSM's own engines do not tell us why they gave no tables. */
static void add_other_refusals(struct engines_report *report, const struct osm_opensm *osm)
{
	const struct osm_routing_engine *engine = osm->routing_engine_list;

	for (; engine && engine != osm->routing_engine_used; engine = engine->next)
		if (!has_refused(report, engine->name))
			add_refusal(report, engine->name,
				    "OpenSM's own engine gave no tables; OpenSM's log may say why");
}

/* The first name of routing_engine, which OpenSM leaves out of its list if it does not know it. */
static void find_unknown(const struct osm_opensm *osm, char *name, size_t size)
{
	static const char ends[] = ", \t\n", option[] = "no_fallback";
	const struct osm_routing_engine *first = osm->routing_engine_list;
	const char *word = osm->subn.opt.routing_engine_names;
	size_t length = 0;

	while (word && *word) {
		word += strspn(word, ends);
		length = strcspn(word, ends);
		if (length != sizeof(option) - 1 || strncmp(word, option, length))
			break;
		word += length;
	}
	*name = '\0';
	if (word && length && strncmp(word, "(null)", length) &&
	    (!first || strlen(first->name) != length || strncmp(first->name, word, length)))
		snprintf(name, size, "%.*s", (int)length, word);
}

void engines_report_routed(struct engines_report *report, const struct osm_opensm *osm, bool ours)
{
	const struct osm_routing_engine *used = osm->routing_engine_used;
	const struct osm_routing_engine *first = osm->routing_engine_list;
	struct engines_outcome *outcome = &report->outcome;

	/* OpenSM has taken the tables from its unicast cache */
	const bool cached = ours && !report->made;

	if (!cached)
		add_other_refusals(report, osm);
	pthread_mutex_lock(&report->lock);
	snprintf(outcome->in_force, sizeof(outcome->in_force), "%s",
		 used && used->name ? used->name : "");
	snprintf(outcome->first, sizeof(outcome->first), "%s", first ? first->name : "");
	find_unknown(osm, outcome->unknown, sizeof(outcome->unknown));
	outcome->ours = ours;
	outcome->stranded = false;
	if (!cached)
		publish_refusals(report);
	pthread_mutex_unlock(&report->lock);
	engines_report_begin(report);
}

#define CONF_LINE 1024 /* as long as OpenSM's own */

/* The value of routing_engine as OpenSM's parser reads it: the last line counts, blanks around it and one pair of quotes
 * do not, and "(null)" is none. False: the file cannot be read. */
static bool read_list(const char *path, char list[CONF_LINE])
{
	static const char key[] = "routing_engine", blanks[] = " \t\n\v\f\r";
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[CONF_LINE];

	*list = '\0';
	while (file && fgets(line, CONF_LINE - 1, file)) {
		line[strcspn(line, "#")] = '\0';
		char *word = line + strspn(line, " \t\n");
		const size_t length = strcspn(word, " \t\n");
		if (length != sizeof(key) - 1 || strncmp(word, key, length))
			continue;
		word += length + strspn(word + length, blanks);
		char *end = word + strlen(word);
		while (end > word && strchr(blanks, end[-1]))
			end--;
		if (end - word > 1 && (*word == '"' || *word == '\'') && end[-1] == *word) {
			word++;
			end--;
		}
		*end = '\0';
		snprintf(list, CONF_LINE, "%s", strcmp(word, "(null)") ? word : "");
	}
	return file && !fclose(file);
}

void engines_report_conf(struct engines_report *report, const struct osm_opensm *osm,
			 const struct opensm_log *log)
{
	const struct osm_subn_opt *options = &osm->subn.opt, *file = options->file_opts;
	const char *used = options->routing_engine_names ? options->routing_engine_names : "";
	const char *read = file && file->routing_engine_names ? file->routing_engine_names : "";
	char list[CONF_LINE], pending[HD_ERROR_TEXT] = "";

	if (!file || strcmp(used, read) != 0 || !read_list(options->config_file, list))
		return;
	if (strcmp(list, used) != 0)
		snprintf(pending, sizeof(pending), "%s", *list ? list : "none");
	if (*pending && strcmp(pending, report->outcome.pending) != 0)
		log_info(
		    log,
		    "routing_engine in %s is now %s, but OpenSM reads it only when it starts: it "
		    "goes on with %s until it restarts",
		    options->config_file, pending, *used ? used : "its own choice");
	pthread_mutex_lock(&report->lock);
	memcpy(report->outcome.pending, pending, sizeof(pending));
	pthread_mutex_unlock(&report->lock);
}

/* ---- the thread of the status part ---- */

static bool is_fallback(const struct engines_outcome *outcome)
{
	return *outcome->first && strcmp(outcome->first, outcome->in_force) != 0;
}

/* The engine in force, with the one that `auto` has taken: "auto (spf)". */
static void name_in_force(const struct engines_outcome *outcome, char *name, size_t size)
{
	const bool chosen = outcome->ours && *outcome->chosen;

	snprintf(name, size, "%s%s%s%s", *outcome->in_force ? outcome->in_force : "no engine",
		 chosen ? " (" : "", chosen ? outcome->chosen : "", chosen ? ")" : "");
}

static void add_summary(const struct engines_outcome *outcome, struct status_report *out)
{
	char name[2 * ENGINES_REPORT_NAME + 4];
	char later[HD_ERROR_TEXT + 96] = "";

	name_in_force(outcome, name, sizeof(name));
	if (*outcome->pending)
		snprintf(later, sizeof(later),
			 "; routing_engine in opensm.conf is now %s; it takes effect when OpenSM "
			 "restarts",
			 outcome->pending);
	if (!outcome->any)
		status_report_text(out, "summary", "OpenSM has not asked for tables yet");
	else if (outcome->stranded)
		status_report_text(out, "summary",
				   "no engine routes this fabric; the switches "
				   "keep the tables that they have%s",
				   later);
	else if (is_fallback(outcome))
		status_report_text(out, "summary", "%s%s, in the place of %s%s", name,
				   outcome->ours ? "" : " (not of Heddle)", outcome->first, later);
	else
		status_report_text(
		    out, "summary", "%s%s, %s%s", name, outcome->ours ? "" : " (not of Heddle)",
		    *outcome->first ? "the first of routing_engine" : "OpenSM's own choice", later);
}

static void add_faults(const struct engines_outcome *outcome, struct status_report *out)
{
	if (outcome->any && outcome->stranded)
		status_report_fault(out, "no engine routes this fabric");
	else if (outcome->any && is_fallback(outcome))
		status_report_fault(out, "OpenSM routes with %s in the place of %s",
				    *outcome->in_force ? outcome->in_force : "no engine",
				    outcome->first);
	if (*outcome->unknown)
		status_report_fault(out, "OpenSM does not know the engine '%s' of routing_engine",
				    outcome->unknown);
	for (unsigned i = 0; outcome->any && i < outcome->refusal_count; i++)
		status_report_fault(out, "%s refuses: %s", outcome->refusals[i].name,
				    outcome->refusals[i].reason);
}

static void add_refusals(const struct engines_outcome *outcome, struct status_report *out)
{
	status_report_list(out, "refused");
	for (unsigned i = 0; i < outcome->refusal_count; i++) {
		status_report_item(out);
		status_report_text(out, "engine", "%s", outcome->refusals[i].name);
		status_report_text(out, "reason", "%s", outcome->refusals[i].reason);
		status_report_item_end(out);
	}
	status_report_list_end(out);
}

static void add_figures(const struct engines_outcome *outcome, struct status_report *out)
{
	if (!*outcome->line)
		return;
	status_report_text(out, "line", "%s", outcome->line);
	status_report_number(out, "time", (uint64_t)outcome->time);
	status_report_number(out, "switches", outcome->switches);
	status_report_number(out, "lids", outcome->lids);
	status_report_number(out, "changed_entries", outcome->changes);
	status_report_real(out, "snapshot_ms", outcome->snapshot_ms);
	status_report_real(out, "hop_counts_ms", outcome->hops_ms);
	status_report_real(out, "tables_ms", outcome->tables_ms);
}

static void add_metrics(const struct engines_outcome *outcome, struct status_report *out)
{
	static const struct status_metric
	    in_force = {"heddle_engine_info", "gauge",
			"Always 1; the label is the routing engine in force"},
	    chosen = {"heddle_engine_chosen_info", "gauge",
		      "Always 1; the label is the engine that auto has taken"},
	    fallback = {"heddle_engine_fallback", "gauge",
			"1: another engine routes than the first of routing_engine"},
	    refusals = {"heddle_engine_refusals_total", "counter",
			"Times that an engine of Heddle has refused a fabric"},
	    routings = {"heddle_routings_total", "counter", "Tables that Heddle has computed"},
	    total = {"heddle_changed_entries_total", "counter",
		     "Entries of forwarding tables that have changed"},
	    changes = {"heddle_changed_entries", "gauge", "The same, of the last routing"},
	    lids = {"heddle_lids", "gauge", "LIDs that the last routing has routed"},
	    snapshot = {"heddle_snapshot_seconds", "gauge",
			"Time to copy the subnet for the last routing"},
	    hops = {"heddle_hop_counts_seconds", "gauge",
		    "Time to hand hop counts to OpenSM in the last routing"},
	    tables = {"heddle_tables_seconds", "gauge", "Time to compute the last tables"};

	if (*outcome->in_force)
		status_report_metric_with(out, &in_force, "engine", outcome->in_force, 1);
	if (outcome->ours && *outcome->chosen)
		status_report_metric_with(out, &chosen, "engine", outcome->chosen, 1);
	status_report_metric(out, &fallback,
			     outcome->stranded || is_fallback(outcome) || *outcome->unknown);
	status_report_metric(out, &refusals, (double)outcome->refusals_total);
	status_report_metric(out, &routings, (double)outcome->routings);
	status_report_metric(out, &total, (double)outcome->changes_total);
	if (!*outcome->line)
		return;
	status_report_metric(out, &changes, (double)outcome->changes);
	status_report_metric(out, &lids, outcome->lids);
	status_report_metric(out, &snapshot, outcome->snapshot_ms / 1000);
	status_report_metric(out, &hops, outcome->hops_ms / 1000);
	status_report_metric(out, &tables, outcome->tables_ms / 1000);
}

void engines_report_add(struct engines_report *report, struct status_report *out)
{
	struct engines_outcome *outcome = malloc(sizeof(*outcome));

	if (!outcome)
		return;
	pthread_mutex_lock(&report->lock);
	*outcome = report->outcome;
	pthread_mutex_unlock(&report->lock);
	status_report_section(out, "engines");
	add_summary(outcome, out);
	status_report_text(out, "in_force", "%s", outcome->in_force);
	if (outcome->ours && *outcome->chosen)
		status_report_text(out, "chosen", "%s", outcome->chosen);
	status_report_text(out, "first", "%s", outcome->first);
	status_report_text(out, "unknown", "%s", outcome->unknown);
	status_report_text(out, "pending", "%s", outcome->pending);
	status_report_flag(out, "heddle", outcome->ours);
	add_refusals(outcome, out);
	add_figures(outcome, out);
	add_faults(outcome, out);
	add_metrics(outcome, out);
	free(outcome);
}
