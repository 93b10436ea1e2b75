/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle ar probe: holds what is inferred of the switches' formats against real switches, by Gets alone. */
#include "ar_probe.h"
#include "commands.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "shared_arguments.h"

#include <heddle/ar_manager/plan_files.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe_job {
	struct ar_probe probe;
	const char *fabric_path, *far_path;
	bool json, anonymous;
	struct hd_ar_fact *facts;
	unsigned fact_count;
	struct hd_ar_plan *dump;
};

/* Records that are the same count together: a site has few kinds of switches. */
struct record {
	const char *attribute;
	const uint8_t *data;
	uint32_t switches;
};

#define RECORDS_MAX 64u

static void add_record(struct record *records, unsigned *count, const char *attribute,
		       const struct hd_ar_probe_answer *answer)
{
	unsigned i = 0;

	if (answer->rc)
		return;
	while (i < *count && (strcmp(records[i].attribute, attribute) != 0 ||
			      memcmp(records[i].data, answer->data, HD_AR_DATA) != 0))
		i++;
	if (i == RECORDS_MAX)
		return;
	if (i == *count)
		records[(*count)++] = (struct record){attribute, answer->data, 0};
	records[i].switches++;
}

static unsigned collect(const struct ar_probe *probe, struct record records[RECORDS_MAX])
{
	unsigned count = 0;

	for (uint32_t i = 0; i < probe->count; i++) {
		add_record(records, &count, "GeneralInfo", &probe->switches[i].general);
		add_record(records, &count, "AdaptiveRoutingInfo", &probe->switches[i].info);
		add_record(records, &count, "pFRNConfig", &probe->switches[i].pfrn);
	}
	return count;
}

static void print_hex(char text[2 * HD_AR_DATA + 1], const uint8_t data[HD_AR_DATA])
{
	for (unsigned i = 0; i < HD_AR_DATA; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", data[i]);
}

/* "0x0002c90300001234", or the number of the switch in the fabric. */
static void print_switch(const struct probe_job *job, uint64_t guid, char text[32])
{
	const struct hd_fabric *fabric = job->probe.fabric;
	uint32_t sw = 0;

	while (sw < fabric->switch_count && fabric->node_guid[sw] != guid)
		sw++;
	if (job->anonymous)
		snprintf(text, 32, "switch %" PRIu32, sw);
	else
		snprintf(text, 32, "0x%016" PRIx64, guid);
}

static void print_fact(const struct probe_job *job, const struct hd_ar_fact *fact)
{
	char sw[32];

	printf("%-13s %s: %s\n", hd_ar_verdict_name(fact->verdict), fact->name, fact->assumed);
	printf("              %s%s\n",
	       fact->verdict == HD_AR_NOT_BY_GETS ? "what decides it: " : "", fact->evidence);
	if (fact->verdict != HD_AR_CONTRADICTED)
		return;
	print_switch(job, fact->first, sw);
	printf("              the first switch that disagrees: %s\n", sw);
	if (fact->option)
		printf("              [ar.quirks] %s changes it\n", fact->option);
}

static json_t *fact_json(const struct probe_job *job, const struct hd_ar_fact *fact)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:I, s:s}", "name", fact->name, "assumed",
				   fact->assumed, "verdict", hd_ar_verdict_name(fact->verdict),
				   "agree", (json_int_t)fact->agree, "disagree",
				   (json_int_t)fact->disagree, "evidence", fact->evidence);
	char sw[32];

	if (fact->option)
		object = json_value_set(object, "option", json_string(fact->option));
	if (!fact->first)
		return object;
	print_switch(job, fact->first, sw);
	return json_value_set(object, "first", json_string(sw));
}

static json_t *to_json(const struct probe_job *job)
{
	json_t *facts = json_array();
	json_t *report = json_pack("{s:i, s:i, s:i, s:i}", "switches", (int)job->probe.count,
				   "answered", (int)job->probe.answered, "adaptive",
				   (int)job->probe.able, "full", (int)job->probe.full);

	for (unsigned i = 0; i < job->fact_count; i++)
		facts = json_value_append(facts, fact_json(job, &job->facts[i]));
	report = json_value_set(report, "facts", facts);
	struct record records[RECORDS_MAX];
	const unsigned count = collect(&job->probe, records);
	json_t *list = json_array();
	char hex[2 * HD_AR_DATA + 1];
	for (unsigned i = 0; i < count; i++) {
		print_hex(hex, records[i].data);
		list = json_value_append(list, json_pack("{s:s, s:s, s:i}", "attribute",
							 records[i].attribute, "data", hex,
							 "switches", (int)records[i].switches));
	}
	return json_value_set(report, "records", list);
}

static const struct argument arguments[] = {
    {0, "far", "FILE", "hold what is read against this .far file, too",
     ARGUMENT_TEXT(struct probe_job, far_path)},
    {0, "switches", "N", "read at most N switches in full (1..100000, default 32)",
     ARGUMENT_NUMBER(struct probe_job, probe.most, 1, 100000)},
    {0, "anonymous", NULL, "print no GUIDs", ARGUMENT_FLAG(struct probe_job, anonymous)},
    {0, "device", "NAME", "send by this adapter, such as mlx5_0 (default: any)",
     ARGUMENT_TEXT(struct probe_job, probe.device)},
    {0, "port", "N", "send by this port of the adapter (1..255, default: any)",
     ARGUMENT_NUMBER(struct probe_job, probe.port_number, 1, 255)},
    {0, "timeout", "MS", "wait so long for the first answer (1..10000, default 200)",
     ARGUMENT_NUMBER(struct probe_job, probe.timeout_ms, 1, 10000)},
    SHARED_JSON(struct probe_job, json),
};

static const struct usage usage = {
    .synopsis = "heddle ar probe [OPTION]... FABRIC",
    .summary =
	"Asks the switches, by Gets alone, whether their formats are what Heddle assumes, and "
	"writes a report that can be sent.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "FABRIC: the output of ibnetdiscover, with the LIDs of the switches.\n"
	     "The switches are asked by MADs, which needs the rights of root.",
    .statuses = {"nothing contradicts", "something contradicts, or no switch has adaptive routing",
		 "bad input or usage, or no adapter can be opened"},
};

static int read_dump(struct probe_job *job, struct hd_error *err)
{
	struct hd_text text;
	int rc = job->far_path ? hd_text_open(arguments_path(job->far_path), &text, err) : 0;

	if (rc || !job->far_path)
		return rc;
	text.name = job->far_path;
	rc = hd_ar_read_far(&text, job->probe.fabric, &job->dump, err);
	hd_text_close(&text);
	return rc;
}

static int examine(struct probe_job *job, struct hd_error *err)
{
	const struct hd_log log = message_log(false);
	const struct fabric_source source = {job->fabric_path, NULL, LMC_KEEP, NULL};
	int rc = fabric_source_load(&source, &log, &job->probe.fabric, err);

	if (!rc)
		rc = read_dump(job, err);
	if (!rc)
		rc = ar_probe_read(&job->probe, job->fabric_path, err);
	job->fact_count = hd_ar_probe_fact_count();
	job->facts = need(calloc(job->fact_count, sizeof(*job->facts)));
	if (rc)
		return rc;
	const struct hd_ar_probe probe = {.fabric = job->probe.fabric,
					  .switches = job->probe.switches,
					  .count = job->probe.count,
					  .dump = job->dump};
	hd_ar_probe_judge(&probe, job->facts);
	return 0;
}

static int status_of(const struct probe_job *job)
{
	bool contradicted = false;

	for (unsigned i = 0; i < job->fact_count; i++)
		contradicted |= job->facts[i].verdict == HD_AR_CONTRADICTED;
	return contradicted || !job->probe.able ? STATUS_FAULTS : STATUS_CLEAN;
}

static int run(void *context, const struct operands *operands)
{
	struct probe_job *job = context;
	int status = arguments_expect(&usage, operands, "one FABRIC", 1, 1);
	struct hd_error err;

	if (status)
		return status;
	job->fabric_path = operands->items[0];
	if (examine(job, &err))
		return message_fail(&err);
	if (job->json)
		return json_value_print(to_json(job), status_of(job));
	struct record records[RECORDS_MAX];
	const unsigned count = collect(&job->probe, records);
	char hex[2 * HD_AR_DATA + 1];
	printf("%" PRIu32 " switches asked, %" PRIu32 " answered, %" PRIu32
	       " have adaptive routing; %" PRIu32 " were read in full\n\n",
	       job->probe.count, job->probe.answered, job->probe.able, job->probe.full);
	for (unsigned i = 0; i < job->fact_count; i++)
		print_fact(job, &job->facts[i]);
	if (count)
		printf("\nRecords as they travel:\n");
	for (unsigned i = 0; i < count; i++) {
		print_hex(hex, records[i].data);
		printf("%s, switches %" PRIu32 ":\n%s\n", records[i].attribute, records[i].switches,
		       hex);
	}
	return status_of(job);
}

int ar_probe_command(int argc, char **argv)
{
	struct probe_job job = {.probe = {.most = 32, .timeout_ms = 200}};
	int status = arguments_run(&usage, argc, argv, &job, run);

	ar_probe_release(&job.probe);
	hd_ar_plan_free(job.dump);
	hd_fabric_free(job.probe.fabric);
	free(job.facts);
	return status;
}
