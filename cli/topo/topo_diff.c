/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo diff: a fabric beside its plan. */
#include "catalogue.h"
#include "commands.h"
#include "json_value.h"
#include "live_fabric.h"
#include "message.h"
#include "need.h"
#include "progress.h"
#include "shared_arguments.h"
#include "topo_diff_report.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct diff_job {
	const char *name_map, *html;
	enum hd_match match;
	uint8_t width; /* of --rate */
	enum hd_speed speed; /* of --rate */
	bool any_rate, json, nagios, verbose;
	enum live_source live;
	struct plugin_address address;
	const char *expected_name, *live_name;
	bool generated; /* the plan comes from a generator */
	bool compared; /* the exit status is that of a result */
};

static enum hd_speed speed_named(const char *name)
{
	for (enum hd_speed speed = HD_SPEED_SDR; speed < HD_SPEED_COUNT; speed++) {
		const char *known = hd_speed_name(speed);
		size_t i = 0;
		while (known[i] && toupper((unsigned char)name[i]) == known[i])
			i++;
		if (!known[i] && !name[i])
			return speed;
	}
	return HD_SPEED_UNKNOWN;
}

/* "4xHDR", "any" */
static int take_rate(const struct typed *typed, void *place)
{
	struct diff_job *job = place;
	char *end;
	unsigned long width = strtoul(typed->text, &end, 10);

	job->any_rate = !strcmp(typed->text, "any");
	if (job->any_rate)
		return 0;
	bool lanes = width == 1 || width == 2 || width == 4 || width == 8 || width == 12;
	if (isdigit((unsigned char)*typed->text) && lanes && *end == 'x') {
		job->width = (uint8_t)width;
		job->speed = speed_named(end + 1);
		if (job->speed)
			return 0;
	}
	return message_error(
	    "option '--rate': '%s' is neither 'any' nor lanes and a speed, such as 4xHDR",
	    typed->text);
}

static const struct argument arguments[] = {
    {0, "match", "auto|guid|name|shape",
     "how nodes of the plan are found in the fabric (default auto)",
     ARGUMENT_CHOICE(struct diff_job, match)},
    {0, "rate", "RATE", "what every cable should be, such as 4xHDR; any: do not compare",
     .take = take_rate},
    SHARED_NAME_MAP(struct diff_job, name_map),
    {0, "live", "opensm|ibnetdiscover",
     "compare with the fabric as OpenSM's plugin or ibnetdiscover sees it now",
     ARGUMENT_BY(live_fabric_take, struct diff_job, live)},
    PLUGIN_ARGUMENTS(struct diff_job, address),
    SHARED_JSON(struct diff_job, json),
    {0, "nagios", NULL, "print one line for Nagios, and end with its statuses",
     ARGUMENT_FLAG(struct diff_job, nagios)},
    {0, "html", "FILE", "write a report for a browser, one file",
     ARGUMENT_TEXT(struct diff_job, html)},
    SHARED_VERBOSE(struct diff_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle topo diff [OPTION]... EXPECTED LIVE\n"
		"   or: heddle topo diff [OPTION]... --live opensm|ibnetdiscover EXPECTED",
    .summary =
	"Lists where a fabric is not cabled as planned: cables that are missing, extra, moved or "
	"swapped, have "
	"another width or speed, and nodes that are missing, extra, replaced or moved. EXPECTED is "
	"a file, or "
	"a kind of heddle topo generate with its options, such as xgft:children=18,12,parents=1,9.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "With --nagios the exit status is 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN.",
    .statuses = {"the fabric is as planned", "there are differences",
		 "bad input or usage: nothing was compared"},
};

/* Whether an operand is a kind of generated fabric, and no file. */
static bool is_kind(const char *operand)
{
	char name[32];
	size_t length = strcspn(operand, ":");

	if (length >= sizeof(name) || !access(operand, F_OK))
		return false;
	memcpy(name, operand, length);
	name[length] = '\0';
	return hd_generator_find(name) ||
	       (operand[length] == ':' && strchr(operand, '=') && !strchr(operand, '/'));
}

static int generate(const char *operand, struct hd_fabric **out)
{
	struct catalogue_entry entry;
	struct hd_options *options = NULL;
	struct hd_error err;
	int status = catalogue_choose(&catalogue_fabrics, operand, &entry, &options);

	if (!status && hd_generator_find(entry.name)->generate(options, out, &err))
		status = message_error("%s: %s", entry.name, err.text);
	hd_options_free(options);
	return status;
}

static int load_expected(struct diff_job *job, const struct hd_log *log, struct hd_fabric **out)
{
	const struct fabric_source source = {arguments_path(job->expected_name), job->name_map,
					     LMC_KEEP, NULL};
	struct hd_error err;

	job->generated = is_kind(job->expected_name);
	if (job->generated && job->match == HD_MATCH_AUTO)
		job->match = HD_MATCH_SHAPE; /* the generator's GUIDs and names are no plan */
	if (job->generated)
		return generate(job->expected_name, out);
	return fabric_source_load(&source, log, out, &err) ? message_fail(&err) : 0;
}

static int write_html(const struct topo_diff_view *view, const char *path, struct hd_error *err)
{
	struct output output;
	int rc = output_open(&output, path, err);

	if (rc)
		return rc;
	topo_diff_html(view, output.stream);
	return output_close(&output, 0, err);
}

static int show(struct diff_job *job, const struct topo_diff_view *view)
{
	int status = view->comparison->count ? STATUS_FAULTS : STATUS_CLEAN;
	struct hd_error err;

	if (job->html && write_html(view, job->html, &err))
		return message_fail(&err);
	job->compared = true;
	if (job->nagios)
		return topo_diff_nagios(view);
	if (job->json)
		return json_value_print(topo_diff_json(view), status);
	topo_diff_text(view);
	return status;
}

static int tell_apart(struct hd_fabric **fabric, struct hd_error *err)
{
	struct hd_fabric *apart;
	int rc = hd_fabric_tell_nodes_apart(*fabric, &apart, err);

	if (rc || !apart)
		return rc;
	hd_fabric_free(*fabric);
	*fabric = apart;
	return 0;
}

static int check_usage(struct diff_job *job, const struct operands *operands)
{
	unsigned wanted = job->live ? 1 : 2;
	int status = arguments_expect(
	    &usage, operands, job->live ? "EXPECTED alone, with --live" : "EXPECTED and LIVE",
	    wanted, wanted);

	if (status)
		return status;
	job->expected_name = operands->items[0];
	job->live_name = job->live ? live_fabric_name(job->live) : operands->items[1];
	if (job->nagios)
		need_end = message_nagios_no_memory;
	if (job->nagios && job->json)
		return message_error("--nagios cannot be used with --json");
	if (!job->live && !strcmp(job->expected_name, "-") && !strcmp(job->live_name, "-"))
		return message_error("only one of EXPECTED and LIVE can be standard input");
	const char *const inputs[] = {job->expected_name, job->name_map,
				      job->live ? NULL : job->live_name};
	return output_refuse("html", job->html, inputs, 3);
}

static int run(void *context, const struct operands *operands)
{
	struct diff_job *job = context;
	int status = check_usage(job, operands);

	if (!status) {
		struct hd_log log = message_log(job->verbose);
		struct hd_fabric *expected = NULL, *live = NULL;
		status = load_expected(job, &log, &expected);
		if (!status) {
			const struct fabric_source source = {arguments_path(job->live_name),
							     job->name_map, LMC_KEEP, NULL};
			struct hd_error err;
			int rc = job->live ? live_fabric_load(job->live, &job->address,
							      job->name_map, &log, &live, &err)
					   : fabric_source_load(&source, &log, &live, &err);
			status = rc ? message_fail(&err) : 0;
		}
		if (!status) {
			/* Rates of a generated plan are no plan of the site's. */
			struct hd_compare_request request = {
			    .expected = expected,
			    .live = live,
			    .match = job->match,
			    .rates = !job->any_rate && (!job->generated || job->width),
			    .width = job->width,
			    .speed = job->speed};
			struct hd_comparison comparison = {.count = 0};
			struct hd_error err;
			progress_begin("comparing");
			int rc = hd_fabric_compare(&request, &comparison, &err);
			progress_end();
			if (!rc)
				rc = tell_apart(&expected, &err);
			if (!rc)
				rc = tell_apart(&live, &err);
			const struct topo_diff_view view = {.expected = expected,
							    .live = live,
							    .comparison = &comparison,
							    .expected_name = job->expected_name,
							    .live_name = job->live_name,
							    .request = &request};
			status = rc ? message_fail(&err) : show(job, &view);
			hd_comparison_release(&comparison);
		}
		hd_fabric_free(expected);
		hd_fabric_free(live);
	}
	if (job->compared || !job->nagios)
		return status;
	return (int)message_nagios_unknown("nothing was compared; standard error has the reason");
}

int topo_diff(int argc, char **argv)
{
	struct diff_job job = {.match = HD_MATCH_AUTO};

	return arguments_run(&usage, argc, argv, &job, run);
}
