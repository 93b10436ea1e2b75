/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload.h"
#include "fabric_source.h"
#include "json_value.h"
#include "message.h"
#include "option_json.h"
#include "output.h"
#include "progress.h"
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX INT64_C(1000000000000)
#define FIRST_SHOWN 1.0 /* seconds */
#define SHOWN_EVERY 0.25

/* ---- options ---- */

static const struct hd_pattern_kind *find_kind(const char *name)
{
	char known[512] = "";
	size_t used = 0;
	unsigned count;
	const struct hd_pattern_kind *kind = hd_pattern_find(name);

	const struct hd_pattern_kind *const *kinds = hd_pattern_kinds(&count);
	for (unsigned i = 0; i < count && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 kinds[i]->name);
	if (!kind)
		message_error("unknown pattern '%s'; there are: %s", name, known);
	return kind;
}

static int set_options(struct workload *workload, char *rest)
{
	struct hd_error err = {""};
	int rc;

	hd_options_free(workload->options);
	workload->options = hd_options_new(workload->kind->options, workload->kind->option_count);
	if (!workload->options)
		return message_no_memory();
	rc = hd_options_set_pairs(workload->options, rest, &err);
	if (!rc)
		rc = hd_options_complete(workload->options, &err);
	return rc ? message_error("pattern %s: %s", workload->kind->name, err.text) : 0;
}

/* NAME, or NAME:KEY=VALUE:KEY=VALUE */
static int take_pattern(struct workload *workload, const char *text)
{
	char *copy = strdup(text), *rest = copy;

	if (!copy)
		return message_no_memory();
	workload->kind = find_kind(strsep(&rest, ":"));
	int status = workload->kind ? set_options(workload, rest) : STATUS_BAD;
	snprintf(workload->pattern_text, sizeof(workload->pattern_text), "%s", text);
	free(copy);
	return status;
}

/* Index of text among the words of `choices`, "a|b|c"; -1 after a message. */
static int choose(const struct argument *argument, const char *choices, const char *text)
{
	size_t length = strlen(text);
	int index = 0;

	for (const char *word = choices; word; index++) {
		const char *bar = strchr(word, '|');
		size_t word_length = bar ? (size_t)(bar - word) : strlen(word);
		if (word_length == length && !strncmp(word, text, length))
			return index;
		word = bar ? bar + 1 : NULL;
	}
	message_error("option '--%s': '%s' is not one of %s", argument->name, text, choices);
	return -1;
}

static int take_map(struct workload *workload, const char *text)
{
	bool named = !strcmp(text, "random") || !strcmp(text, "identity");

	workload->mapping = strcmp(text, "random") ? HD_MAP_IDENTITY : HD_MAP_RANDOM;
	workload->host_file = named ? NULL : text;
	return 0;
}

static int take_choice(struct workload *workload, const struct argument *argument, unsigned row,
		       const char *text)
{
	int choice = choose(argument, argument->value, text);

	if (choice < 0)
		return STATUS_BAD;
	if (row == WORKLOAD_LIDS)
		workload->lids = (enum hd_lid_choice)choice;
	else
		workload->rate_weights = choice;
	return 0;
}

static void take_count(struct workload *workload, uint64_t count)
{
	workload->count = count;
	workload->count_given = true;
}

static int take_number(struct workload *workload, const struct argument *argument, unsigned row,
		       const char *text)
{
	int64_t number;
	int64_t most = row == WORKLOAD_THREADS ? (int64_t)HD_THREADS_MAX
		       : row == WORKLOAD_COUNT ? COUNT_MAX
		       : row == WORKLOAD_LMC   ? HD_LMC_INFINIBAND
					       : INT64_MAX;
	bool from_zero = row == WORKLOAD_SEED || row == WORKLOAD_LMC;

	if (!arguments_number(argument, text, !from_zero, most, &number))
		return STATUS_BAD;
	if (row == WORKLOAD_THREADS)
		workload->threads = (unsigned)number;
	else if (row == WORKLOAD_LMC)
		workload->lmc = (int)number;
	else if (row == WORKLOAD_COUNT)
		take_count(workload, (uint64_t)number);
	else
		workload->seed = (uint64_t)number;
	return 0;
}

int workload_take(struct workload *workload, const struct argument *argument, unsigned row,
		  const char *value)
{
	switch ((enum workload_row)row) {
	case WORKLOAD_PATTERN:
		return take_pattern(workload, value);
	case WORKLOAD_MAP:
		return take_map(workload, value);
	case WORKLOAD_LIDS:
	case WORKLOAD_WEIGHTS:
		return take_choice(workload, argument, row, value);
	case WORKLOAD_FAIR:
		workload->shares = HD_SHARE_MAX_MIN;
		return 0;
	case WORKLOAD_AGGREGATION:
		workload->aggregation_nodes = true;
		return 0;
	case WORKLOAD_JSON:
		workload->json = true;
		return 0;
	case WORKLOAD_VERBOSE:
		workload->verbose = true;
		return 0;
	case WORKLOAD_LIST:
		workload->list = true;
		return 0;
	default:
		return take_number(workload, argument, row, value);
	}
}

bool workload_init(struct workload *workload, struct processes *processes)
{
	*workload = (struct workload){.mapping = HD_MAP_RANDOM,
				      .count = 10000,
				      .seed = 1,
				      .lmc = LMC_ANY,
				      .threads = processes_threads(processes),
				      .processes = processes};
	return !take_pattern(workload, "bisect");
}

void workload_release(struct workload *workload)
{
	hd_options_free(workload->options);
}

/* ---- the list ---- */

static json_t *list_json(const struct hd_pattern_kind *const *kinds, unsigned count)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++)
		list = json_value_append(
		    list, option_json_described(kinds[i]->name, kinds[i]->summary,
						kinds[i]->options, kinds[i]->option_count));
	return list;
}

int workload_list(bool json)
{
	unsigned count;

	const struct hd_pattern_kind *const *kinds = hd_pattern_kinds(&count);
	if (json)
		return json_value_print(list_json(kinds, count), STATUS_CLEAN);
	for (unsigned i = 0; i < count; i++) {
		printf("%s%s\n  %s\n", i ? "\n" : "", kinds[i]->name, kinds[i]->summary);
		arguments_print_options("  :", kinds[i]->options, kinds[i]->option_count);
	}
	return STATUS_CLEAN;
}

int workload_refuse_output(const struct workload *workload, const struct argument *argument,
			   const char *output, char **operands, int count)
{
	const struct hd_pattern_kind *kind = workload->kind;

	const char *const *inputs = (const char *const *)operands;
	int status = output_refuse(argument->name, output, inputs, (size_t)count);
	if (!status)
		status = output_refuse(argument->name, output, &workload->host_file, 1);
	for (unsigned i = 0; !status && i < kind->option_count; i++) {
		const char *text = hd_options_get(workload->options, kind->options[i].name)->text;
		if (kind->options[i].type == HD_OPTION_STRING)
			status = output_refuse(argument->name, output, &text, 1);
	}
	return status;
}

const char *workload_share_name(const struct workload *workload)
{
	return workload->shares == HD_SHARE_MAX_MIN ? "max-min fair share"
	       : workload->rate_weights		    ? "share by link rate"
						    : "1/pi";
}

const char *workload_map_name(const struct workload *workload)
{
	if (workload->host_file)
		return workload->host_file;
	return workload->mapping == HD_MAP_RANDOM ? "random" : "identity";
}

const char *workload_lids_name(const struct workload *workload)
{
	static const char *const names[] = {[HD_LIDS_BASE] = "base",
					    [HD_LIDS_SOURCE] = "source",
					    [HD_LIDS_RANDOM] = "random",
					    [HD_LIDS_ROTATE] = "rotate",
					    [HD_LIDS_SPREAD] = "spread"};

	return names[workload->lids];
}

const char *workload_lids_remark(const struct workload *workload)
{
	static const char *const remarks[] = {[HD_LIDS_BASE] = "",
					      [HD_LIDS_SOURCE] = ", LIDs by source",
					      [HD_LIDS_RANDOM] = ", LIDs at random",
					      [HD_LIDS_ROTATE] = ", LIDs in turn",
					      [HD_LIDS_SPREAD] = ", spread over all LIDs"};

	return remarks[workload->lids];
}

const char *workload_pi_remark(const struct workload *workload)
{
	return workload->lids == HD_LIDS_SPREAD ? ", pi rounded up" : "";
}

/* ---- on a fabric ---- */

/* Of `count` patterns with the same flows, how many differ by the LIDs that these go to. */
static uint64_t different_lids(const struct workload *workload, const struct hd_fabric *fabric,
			       uint64_t count)
{
	if (workload->lids == HD_LIDS_RANDOM)
		return count;
	uint64_t turns =
	    workload->lids == HD_LIDS_ROTATE ? UINT64_C(1) << hd_fabric_largest_lmc(fabric) : 1;
	return turns < count ? turns : count;
}

int workload_place(const struct workload *workload, const struct hd_fabric *fabric,
		   struct workload_on *out, struct hd_error *err)
{
	struct workload_on on = {NULL, NULL, workload->count};
	int rc = workload->host_file
		     ? hd_ranks_read(fabric, workload->host_file, &on.ranks, err)
		     : hd_ranks_new(fabric, workload->aggregation_nodes, &on.ranks, err);

	if (!rc)
		rc = hd_pattern_new(workload->kind, workload->options, on.ranks, &on.pattern, err);
	if (rc) {
		workload_on_release(&on);
		return rc;
	}
	if (!hd_pattern_varies(on.pattern, workload->mapping))
		on.count = different_lids(workload, fabric, on.count);
	*out = on;
	return 0;
}

void workload_on_release(struct workload_on *on)
{
	hd_pattern_free(on->pattern);
	hd_ranks_free(on->ranks);
}

struct hd_congestion_request workload_request(const struct workload *workload,
					      const struct workload_on *on,
					      const struct hd_routes *routes)
{
	return (struct hd_congestion_request){
	    .fabric = on->ranks->fabric,
	    .routes = routes,
	    .ranks = on->ranks,
	    .pattern = on->pattern,
	    .mapping = workload->mapping,
	    .lids = workload->lids,
	    .shares = workload->shares,
	    .rate_weights = workload->rate_weights,
	    .seed = workload->seed,
	    .patterns = on->count,
	    .threads = workload->threads,
	    .part = workload->processes->part,
	    .parts = workload->processes->parts,
	    .combine = processes_combine,
	};
}

/* ---- progress ---- */

struct watch {
	const char *title;
	double begin, shown;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int show_progress(void *context, const struct hd_congestion_progress *progress)
{
	struct watch *watch = context;
	double now = seconds(), passed = now - watch->begin;

	if (passed < FIRST_SHOWN || now - watch->shown < SHOWN_EVERY)
		return 0;
	watch->shown = now;
	fprintf(
	    stderr, "\r\033[K%s: %" PRIu64 " of %" PRIu64 " patterns, %.4f +- %.4f, %.0f s to go",
	    watch->title, progress->patterns, progress->wanted, progress->mean,
	    progress->half_width,
	    passed * (double)(progress->wanted - progress->patterns) / (double)progress->patterns);
	return 0;
}

int workload_run(struct hd_congestion_request *request, const char *title,
		 struct hd_congestion_report **out, struct hd_error *err)
{
	struct watch watch = {.title = title, .begin = seconds()};

	if (isatty(STDERR_FILENO)) {
		request->progress = show_progress;
		request->progress_context = &watch;
	}
	int rc = hd_congestion_run(request, out, err);
	if (watch.shown > 0)
		fputs("\r\033[K", stderr);
	return rc;
}
