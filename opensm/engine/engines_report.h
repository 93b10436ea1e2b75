/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which engine routes the subnet, and why: what the engines part says in the report of the plugin's
 * state. The sweeper thread notes what happens; the thread of the status part reads it.
 */
#ifndef OPENSM_ENGINES_REPORT_H
#define OPENSM_ENGINES_REPORT_H

#include "log.h"

#include <heddle/base/error.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define ENGINES_REPORT_NAME 32u
#define ENGINES_REPORT_TRIED 16u /* engines of routing_engine that are remembered */
#define ENGINES_REPORT_LINE 900u

struct osm_opensm;
struct routing;
struct status_report;

/* An engine that gave no tables. */
struct engines_refusal {
	char name[ENGINES_REPORT_NAME];
	char reason[HD_ERROR_TEXT];
};

struct engines_outcome {
	bool any; /* a sweep has asked for tables */
	char in_force[ENGINES_REPORT_NAME]; /* "" none */
	char first[ENGINES_REPORT_NAME]; /* of routing_engine that OpenSM knows; "" none */
	/* The first word of routing_engine, if OpenSM does not know an engine of that name; else "". */
	char unknown[ENGINES_REPORT_NAME];
	char pending
	    [HD_ERROR_TEXT]; /* routing_engine in opensm.conf, if OpenSM has read another one; else "" */
	bool ours; /* it is one of Heddle's */
	bool stranded; /* the last sweep found no engine at all; the tables are those before */
	unsigned refusal_count;
	struct engines_refusal refusals[ENGINES_REPORT_TRIED];
	/* ---- of the last tables of Heddle ---- */
	char line[ENGINES_REPORT_LINE]; /* "" none */
	char chosen[ENGINES_REPORT_NAME]; /* the engine that `auto` has taken; "" for others */
	time_t time;
	uint32_t switches, lids;
	uint64_t changes;
	double snapshot_ms, hops_ms, tables_ms;
	/* ---- since OpenSM was started ---- */
	uint64_t routings, changes_total, refusals_total;
};

struct engines_report {
	/* For the sweeper thread, of the sweep that is under way. */
	unsigned refusal_count;
	struct engines_refusal refusals[ENGINES_REPORT_TRIED];
	bool made; /* an engine of ours has made tables */
	pthread_mutex_t lock; /* of what is below */
	struct engines_outcome outcome;
};

void engines_report_init(struct engines_report *report);
void engines_report_release(struct engines_report *report);

/* ---- the sweeper thread ---- */

/* A sweep, or the command `reroute`, tries the engines from the first one on. */
void engines_report_begin(struct engines_report *report);

/* The engine gives no tables. `stranded`: no other is tried, and the switches keep their tables. */
void engines_report_refused(struct engines_report *report, const char *name, const char *reason,
			    bool stranded);

/* An engine of ours has made tables; the line is that of the log. */
void engines_report_made(struct engines_report *report, const struct routing *routing,
			 const char *line);

/* OpenSM has read opensm.conf again, but routing_engine only when it started. The log has a line if that is another one
 * now. A list on OpenSM's command line counts in the place of that in the file; then nothing is noted. */
void engines_report_conf(struct engines_report *report, const struct osm_opensm *osm,
			 const struct opensm_log *log);

/* OpenSM has written the tables of the engine that it says it has used. */
void engines_report_routed(struct engines_report *report, const struct osm_opensm *osm, bool ours);

/* ---- the thread of the status part ---- */

/* Adds the section `engines`. */
void engines_report_add(struct engines_report *report, struct status_report *out);

#endif
