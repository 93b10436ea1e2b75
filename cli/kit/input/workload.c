/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload.h"
#include "catalogue.h"
#include "message.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

static int choose_pattern(struct workload *workload, const char *text)
{
	struct catalogue_entry entry;
	struct hd_options *options;
	int status = catalogue_choose(&catalogue_patterns, text, &entry, &options);

	if (status)
		return status;
	hd_options_free(workload->options);
	workload->options = options;
	workload->kind = hd_pattern_find(entry.name);
	snprintf(workload->pattern_text, sizeof(workload->pattern_text), "%s", text);
	return 0;
}

int workload_take_pattern(const struct typed *typed, void *place)
{
	struct workload *workload = place;

	workload->pattern_given = true;
	return choose_pattern(workload, typed->text);
}

int workload_take_map(const struct typed *typed, void *place)
{
	struct workload *workload = place;
	bool random = !strcmp(typed->text, "random"), identity = !strcmp(typed->text, "identity");

	workload->mapping = random ? HD_MAP_RANDOM : HD_MAP_IDENTITY;
	workload->host_file = random || identity ? NULL : typed->text;
	return 0;
}

int workload_init(struct workload *workload, struct processes *processes)
{
	*workload = (struct workload){.mapping = HD_MAP_RANDOM,
				      .seed = 1,
				      .lmc = LMC_ANY,
				      .threads = processes_threads(processes),
				      .processes = processes};
	return choose_pattern(workload, "bisect");
}

void workload_release(struct workload *workload)
{
	policy_arguments_release(&workload->policy);
	hd_options_free(workload->options);
}

int workload_refuse_output(const struct workload *workload, const char *option, const char *output,
			   const struct operands *operands)
{
	const struct hd_pattern_kind *kind = workload->kind;
	const char *const *inputs = (const char *const *)operands->items;
	int status = output_refuse(option, output, inputs, operands->count);

	if (!status)
		status = output_refuse(option, output, &workload->host_file, 1);
	if (!status)
		status = output_refuse(option, output, &workload->policy.name_map, 1);
	if (!status)
		status = output_refuse(option, output, workload->policy.files, HD_POLICY_FILES);
	for (unsigned i = 0; !status && i < kind->option_count; i++) {
		const char *text = hd_options_get(workload->options, kind->options[i].name)->text;
		if (kind->options[i].type == HD_OPTION_STRING)
			status = output_refuse(option, output, &text, 1);
	}
	return status;
}

const char *workload_share_name(const struct workload *workload)
{
	return workload->fair		? "max-min fair share"
	       : workload->rate_weights ? "share by link rate"
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
					      [HD_LIDS_ROTATE] = ", LIDs round robin",
					      [HD_LIDS_SPREAD] = ", spread over all LIDs"};

	return remarks[workload->lids];
}

const char *workload_pi_remark(const struct workload *workload)
{
	return workload->lids == HD_LIDS_SPREAD ? ", pi rounded up" : "";
}
