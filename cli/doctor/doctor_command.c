/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle doctor: a look at a site that changes nothing. */
#include "commands.h"
#include "doctor_site.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "shared_arguments.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPENSM_CONF "/etc/opensm/opensm.conf"
#define DISCOVER "ibnetdiscover"
#define PLUGIN_OPTION "heddle="
#define NO_CHECK "no check was made: name files by options, such as --opensm-conf and --fabric"

struct doctor_job {
	struct doctor_site site;
	bool json, nagios;
};

/* Whether a file that was not typed is missing. */
static bool is_missing(const char *typed, const char *path)
{
	return !typed && access(path, F_OK) && errno == ENOENT;
}

static void report_faults(struct doctor_site *site)
{
	char place[DOCTOR_PLACE_SIZE];
	json_t *fault;
	size_t i;

	json_array_foreach(site->heddle.list, i, fault)
	{
		const json_t *line = json_object_get(fault, "line");
		if (line)
			snprintf(place, sizeof(place), "%s:%d", site->config_path,
				 (int)json_integer_value(line));
		else
			snprintf(place, sizeof(place), "%s", site->config_path);
		doctor_report_add(&site->report, DOCTOR_ERROR, place, "see heddle.conf(5)", "%s",
				  json_string_value(json_object_get(fault, "reason")));
	}
}

/* The path in event_plugin_options: alone, or as heddle=PATH. NULL: it names no file. */
static const char *named_config(struct doctor_site *site)
{
	const char *at = doctor_option(site, "event_plugin_options", ""), *blanks = " \t,";

	if (*at == '/' && !at[strcspn(at, blanks)])
		return at;
	for (at += strspn(at, blanks); *at; at += strcspn(at, blanks), at += strspn(at, blanks))
		if (!strncmp(at, PLUGIN_OPTION, strlen(PLUGIN_OPTION))) {
			at += strlen(PLUGIN_OPTION);
			snprintf(site->named, sizeof(site->named), "%.*s", (int)strcspn(at, blanks),
				 at);
			return site->named;
		}
	return NULL;
}

static int read_heddle(struct doctor_site *site, struct hd_error *err)
{
	const char *typed = site->config_path ? site->config_path : named_config(site);

	site->config_path = typed ? typed : HD_CONFIG_PATH;
	doctor_report_begin(&site->report, "heddle.conf");
	if (is_missing(typed, HD_CONFIG_PATH)) {
		doctor_report_skip(&site->report, "%s: %s", HD_CONFIG_PATH, strerror(ENOENT));
		return 0;
	}
	int rc = config_faults_find(&site->heddle, site->config_path, false, err);
	if (!rc)
		report_faults(site);
	return rc;
}

/* Reads the output of ibnetdiscover by the name that the system gives its pipe. */
static int discover(const struct fabric_source *source, const struct hd_log *log,
		    struct hd_fabric **out, struct hd_error *err)
{
	FILE *stream = popen(DISCOVER, "re");
	char path[32];
	struct fabric_source piped = *source;

	if (!stream)
		return hd_error_set(err, -errno, DISCOVER ": %s", strerror(errno));
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(stream));
	piped.path = path;
	int rc = fabric_source_load(&piped, log, out, err);
	const int status = pclose(stream);
	if (rc && status)
		return hd_error_set(err, rc, DISCOVER " has failed; give the fabric with --fabric");
	return rc ? hd_error_prefix(err, rc, DISCOVER) : 0;
}

static const char *fabric_mend(int rc)
{
	if (rc == -EEXIST || rc == -EINVAL)
		return "mend what the reason names, such as two ports with one LID or GUID, or "
		       "give the output of ibnetdiscover";
	return "give the output of ibnetdiscover";
}

/* A file that contradicts itself is a finding. */
static void read_fabric(struct doctor_site *site)
{
	const struct hd_log log = message_log(false);
	const struct fabric_source source = {site->fabric_path, NULL, LMC_KEEP, NULL};
	struct hd_error err = {""};
	int rc;

	doctor_report_begin(&site->report, "fabric");
	if (!site->fabric_path && !site->live) {
		doctor_report_skip(&site->report, "no fabric is given: see --fabric and --live");
		return;
	}
	rc = site->fabric_path ? fabric_source_load(&source, &log, &site->fabric, &err)
			       : discover(&source, &log, &site->fabric, &err);
	if (rc)
		doctor_report_add(&site->report, DOCTOR_ERROR,
				  site->fabric_path ? site->fabric_path : DISCOVER, fabric_mend(rc),
				  "the fabric cannot be read: %s", err.text);
}

static int examine(struct doctor_site *site, struct hd_error *err)
{
	int rc = doctor_expect_files(site, err);

	if (!rc) {
		const char *typed = site->opensm_conf_path;
		site->opensm_conf_path = typed ? typed : OPENSM_CONF;
		rc = is_missing(typed, OPENSM_CONF)
			 ? 0
			 : hd_opensm_conf_read(site->opensm_conf_path, &site->conf, err);
	}
	if (!rc)
		rc = read_heddle(site, err);
	if (rc)
		return rc;
	read_fabric(site);
	doctor_check_files(site);
	doctor_check_options(site);
	doctor_check_routing(site);
	doctor_check_fabric(site);
	doctor_check_live(site);
	return 0;
}

static const struct argument arguments[] = {
    {0, "opensm-conf", "FILE", "OpenSM's options (default " OPENSM_CONF ")",
     ARGUMENT_TEXT(struct doctor_job, site.opensm_conf_path)},
    {0, "config", "FILE",
     "Heddle's options (default: as opensm.conf says, else " HD_CONFIG_PATH ")",
     ARGUMENT_TEXT(struct doctor_job, site.config_path)},
    {0, "fabric", "FILE", "the output of ibnetdiscover (with --live, it is run by default)",
     ARGUMENT_TEXT(struct doctor_job, site.fabric_path)},
    {0, "log", "FILE",
     "OpenSM's log (default: with --live, what the running OpenSM writes; else as opensm.conf "
     "says, and "
     "those of Debian's service)",
     ARGUMENT_TEXT(struct doctor_job, site.log_path)},
    SHARED_NAME_MAP(struct doctor_job, site.name_map),
    {0, "opensm", "FILE", "the program OpenSM (default: where it usually is)",
     ARGUMENT_TEXT(struct doctor_job, site.opensm_path)},
    {0, "plugin", "FILE", "libheddle.so (default: where it usually is)",
     ARGUMENT_TEXT(struct doctor_job, site.plugin_path)},
    {0, "logrotate", "PATH", "the folder of logrotate (default /etc/logrotate.d)",
     ARGUMENT_TEXT(struct doctor_job, site.logrotate)},
    {0, "live", NULL, "ask switches and hosts, too; only Gets are sent",
     ARGUMENT_FLAG(struct doctor_job, site.live)},
    {0, "device", "NAME", "ask by this adapter, such as mlx5_0 (default: any)",
     ARGUMENT_TEXT(struct doctor_job, site.device)},
    {0, "port", "N", "ask by this port of the adapter (1..255, default: any)",
     ARGUMENT_NUMBER(struct doctor_job, site.port_number, 1, 255)},
    {0, "timeout", "MS", "wait so long for the first answer (1..10000, default 200)",
     ARGUMENT_NUMBER(struct doctor_job, site.timeout_ms, 1, 10000)},
    SHARED_THREADS(struct doctor_job, site.threads),
    SHARED_JSON(struct doctor_job, json),
    {0, "nagios", NULL, "print one line for Nagios, and end with its statuses",
     ARGUMENT_FLAG(struct doctor_job, nagios)},
};

static const struct usage usage = {
    .synopsis = "heddle doctor [OPTION]...",
    .summary =
	"Looks at a site without changing anything, and says what is wrong and how to mend it: "
	"versions, options that contradict, virtual lanes, LIDs, cables, names, the log, subnet "
	"managers, and what the switches can do.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "Checks that could not be made are listed with the reason.\n"
	     "With --nagios the exit status is 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN.",
    .statuses = {"neither warnings nor errors", "warnings, and no errors",
		 "errors, no check was made, or bad input or usage"},
};

static int status_of(const struct doctor_report *report)
{
	if (report->counts[DOCTOR_ERROR])
		return STATUS_BAD;
	if (report->counts[DOCTOR_WARNING])
		return STATUS_FAULTS;
	return report->made ? STATUS_CLEAN : STATUS_BAD;
}

static int print_nagios(const struct doctor_report *report)
{
	static const enum nagios_status statuses[] = {NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL};
	const enum nagios_status status = statuses[status_of(report)];
	const char *first = doctor_report_first(report, DOCTOR_ERROR);

	if (!report->made && !report->counts[DOCTOR_ERROR] && !report->counts[DOCTOR_WARNING])
		return (int)message_nagios_unknown(NO_CHECK);
	if (!first)
		first = doctor_report_first(report, DOCTOR_WARNING);
	message_nagios_begin(status);
	message_nagios_text(first ? first : "nothing is wrong");
	printf(" | errors=%u;;0;0 warnings=%u;0;;0 unmade=%u;;;0\n", report->counts[DOCTOR_ERROR],
	       report->counts[DOCTOR_WARNING], report->unmade);
	return (int)status;
}

static int run(void *context, const struct operands *operands)
{
	struct doctor_job *job = context;
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);
	struct hd_error err;

	if (job->nagios)
		need_end = message_nagios_no_memory;
	if (!status && job->nagios && job->json)
		status = message_error("--nagios cannot be used with --json");
	if (status)
		return job->nagios
			   ? (int)message_nagios_unknown("bad usage; standard error has the reason")
			   : status;
	if (!examine(&job->site, &err)) {
		const struct doctor_report *report = &job->site.report;
		if (job->json)
			return json_value_print(doctor_report_json(report), status_of(report));
		if (job->nagios)
			return print_nagios(report);
		doctor_report_print(report);
		if (!report->made)
			message_error(NO_CHECK);
		return status_of(report);
	}
	return job->nagios ? (int)message_nagios_unknown(err.text) : message_fail(&err);
}

int doctor_command(int argc, char **argv)
{
	struct doctor_job job = {.site = {.timeout_ms = 200, .threads = hd_parallel_cores()}};
	int status = arguments_run(&usage, argc, argv, &job, run);

	doctor_report_release(&job.site.report);
	config_faults_release(&job.site.heddle);
	hd_opensm_conf_free(job.site.conf);
	hd_fabric_free(job.site.fabric);
	return status;
}
