/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `heddle doctor` looks at: the files and switches of a site. */
#ifndef CLI_DOCTOR_SITE_H
#define CLI_DOCTOR_SITE_H

#include "config_faults.h"

#include <heddle/base/error.h>
#include <heddle/config/opensm_conf.h>
#include <heddle/engines.h>
#include <heddle/fabric.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- findings ---- */

/* What `heddle doctor` finds: findings with a mend, checks that were made, and checks that could not be made. */

/* A note is for the reader; only warnings and errors count. */
enum doctor_severity { DOCTOR_NOTE, DOCTOR_WARNING, DOCTOR_ERROR, DOCTOR_SEVERITIES };

/* Zero-initialise before use; to be released with doctor_report_release(). */
struct doctor_report {
	json_t *findings; /* [{severity, check, where, text, mend}] */
	json_t *checks; /* [{name, made, reason}] */
	unsigned counts[DOCTOR_SEVERITIES];
	unsigned made, unmade; /* checks */
	const char *check; /* the present one */
};

/* Begins a check, which counts as made unless doctor_report_skip() follows. */
void doctor_report_begin(struct doctor_report *report, const char *check);

/* The present check could not be made, and why. */
void doctor_report_skip(struct doctor_report *report, const char *format, ...) HD_PRINTF(2, 3);

/* A finding of the present check. `where` and `mend` are copied; "" for none. */
void doctor_report_add(struct doctor_report *report, enum doctor_severity severity,
		       const char *where, const char *mend, const char *format, ...)
    HD_PRINTF(5, 6);

/* Prints for people; errors first. A check has at most DOCTOR_SHOWN lines of each severity. */
#define DOCTOR_SHOWN 10u
void doctor_report_print(const struct doctor_report *report);

/* {findings, checks, errors, warnings} */
json_t *doctor_report_json(const struct doctor_report *report);

/* The first finding of that severity, as text; NULL: no finding is. Valid as long as the report. */
const char *doctor_report_first(const struct doctor_report *report, enum doctor_severity severity);

void doctor_report_release(struct doctor_report *report);

#define DOCTOR_VERSION_SIZE 64
#define DOCTOR_VERSION_BEGINS "OpenSM "
#define DOCTOR_PLACE_SIZE 256

struct doctor_site {
	struct doctor_report report;
	/* as typed; NULL: where the file usually is */
	const char *opensm_conf_path, *config_path, *fabric_path, *log_path, *name_map;
	const char *opensm_path, *plugin_path, *logrotate;
	/* the live fabric */
	bool live;
	const char *device; /* NULL: any */
	int32_t port_number; /* 0: any */
	int64_t timeout_ms;
	unsigned threads;
	/* what was read; NULL or "": it could not be */
	struct hd_opensm_conf *conf;
	char named[DOCTOR_PLACE_SIZE]; /* heddle.conf as opensm.conf names it */
	struct config_faults heddle;
	struct hd_fabric *fabric;
	char version[DOCTOR_VERSION_SIZE]; /* of the program OpenSM */
};

/* opensm.conf */

/* The value of an option; `fallback` if opensm.conf does not have it or was not read. */
const char *doctor_option(const struct doctor_site *site, const char *name, const char *fallback);
bool doctor_option_is_true(const struct doctor_site *site, const char *name, bool fallback);
/* The same; lines whose numbers OpenSM cannot read do not count. */
unsigned doctor_option_number(const struct doctor_site *site, const char *name, unsigned fallback);

/* "opensm.conf:12", or "opensm.conf" if it has no such line. Returns place. */
const char *doctor_option_place(const struct doctor_site *site, const char *name,
				char place[DOCTOR_PLACE_SIZE]);

/* The value of heddle.conf; NULL: it was not read. */
const struct hd_option_value *doctor_setting(const struct doctor_site *site, const char *section,
					     const char *name);

/* An engine of Heddle by a name in routing_engine; *adaptive: the name asks for adaptive routing. NULL: it is no name
 * of ours. */
const struct hd_engine *doctor_engine(const struct doctor_site *site, const char *name,
				      bool *adaptive);

/* Calls take() for each word of routing_engine; it returns false to end. */
void doctor_each_engine(const struct doctor_site *site,
			bool (*take)(void *context, const char *name), void *context);

/* Whether a name in routing_engine, or heddle.conf, asks for adaptive routing. */
bool doctor_wants_adaptive(const struct doctor_site *site);

/* Whether routing_engine names an engine of ours. */
bool doctor_uses_heddle(const struct doctor_site *site);

/* the fabric */

/* "'S1' 0x0002c90300001234[5]": a port, which belongs to the fabric. Returns place. */
const char *doctor_port_place(const struct doctor_site *site, uint32_t port,
			      char place[DOCTOR_PLACE_SIZE]);

/* the checks */

void doctor_check_options(struct doctor_site *site);
void doctor_check_routing(struct doctor_site *site);
void doctor_check_files(struct doctor_site *site);
void doctor_check_log(struct doctor_site *site);
/* Opens a regular file; never waits for a FIFO. NULL: the error is set. */
FILE *doctor_open_regular(const char *path, struct stat *about, struct hd_error *err);
/* That the files that were typed can be read. Errors: errno of open; -EINVAL. */
int doctor_expect_files(const struct doctor_site *site, struct hd_error *err);
void doctor_check_fabric(struct doctor_site *site);
/* Asks switches and hosts; only Gets. */
void doctor_check_live(struct doctor_site *site);

/* ---- firmware ---- */

/* Which firmware the switches have. */

struct hd_smp_port;

/* Asks all switches of the fabric, by a queue of its own on the port. A switch that knows the class answers at once, so
 * the others are not waited for long. */
void doctor_check_firmware(struct doctor_site *site, const struct hd_smp_port *port);

#endif
