/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of heddle-keyd. Only the event thread touches it. */
#ifndef KEYD_H
#define KEYD_H

#include "keyd_config.h"
#include "keyd_http.h"
#include "keyd_job.h"
#include "keyd_manager.h"
#include "keyd_offsets.h"
#include "keyd_origins.h"
#include "keyd_store.h"
#include "keyd_tokens.h"
#include "keyd_workers.h"

/* Counters for GET /metrics. */
#define KEYD_METRICS_CALLS 24u
#define KEYD_METRICS_STATUSES 600u

struct keyd_metrics {
	const char *names[KEYD_METRICS_CALLS]; /* of calls; NULL: none was made */
	uint64_t answers[KEYD_METRICS_CALLS][KEYD_METRICS_STATUSES / 100]; /* by call and class */
	uint64_t dropped[KEYD_METRICS_STATUSES]; /* connections, by status */
	uint64_t sets, results[HD_CHANNEL_STATUS_COUNT], lost; /* lost: the manager has gone */
	uint64_t set_microseconds; /* from SET to RESULT, all together */
	uint64_t blocks, changed; /* of all results */
	uint64_t fabrics, broken, remade;
	uint64_t keys, key_microseconds; /* phases for which keys were made, and the time */
	uint64_t abandoned; /* calls whose clients had gone before they were carried out */
	uint64_t not_ready; /* requests without a key in force */
	uint64_t attempts; /* keys that were sent in place of a refused one */
	uint64_t foreign; /* calls of schedulers from hosts that are not listed */
};

/* Active phases of all jobs, as they were counted last. */
struct keyd_phase_counts {
	uint32_t active, in_force;
	uint64_t changes; /* keyd->changes then */
	uint64_t end, took; /* microseconds */
};

struct keyd_fabric_task;
struct keyd_proposals;
struct keyd_show;

struct keyd {
	struct keyd_config *config;
	const struct hd_log *log;
	struct event_base *base;
	struct keyd_mailbox *mailbox;
	struct keyd_workers *workers; /* make keys */
	struct keyd_workers *authenticators; /* wait for munged, so that nobody else does */
	struct keyd_workers *writers; /* make texts of what is shown */
	struct keyd_store *store;
	struct keyd_http *http;
	struct keyd_show *show;
	struct keyd_proposals *proposals;
	struct keyd_managers *managers;
	struct keyd_hosts *hosts;
	struct keyd_origins *origins; /* of schedulers */
	const struct keyd_task *finding; /* the newest list of them, if a worker reads one */
	struct keyd_jobs jobs;
	uint64_t changes; /* grows with each change of what is shown of jobs and links */
	uint64_t next_key;
	struct keyd_view *view; /* NULL: none yet, or one without a tree */
	char no_view[HD_ERROR_TEXT]; /* why there is no view */
	bool unsupported; /* the fabric or the engine takes no keys */
	struct keyd_fabric_task *reading; /* the newest fabric, if a worker reads one */
	struct hd_key_loads *loads; /* of the view */
	struct keyd_offsets offsets; /* of the view */
	struct keyd_tokens tokens;
	struct keyd_metrics metrics;
	struct keyd_phase_counts phases;
	unsigned checks; /* of credentials, under way or queued */
	unsigned parsings; /* of long bodies, under way or queued */
	struct event *retry;
	unsigned broken; /* keys since the last time that they were made again */
	char broken_reason[HD_ERROR_TEXT]; /* of the first */
	unsigned removals; /* keys of released jobs that the manager did not remove at once */
	uint64_t op_numbers; /* of operations until now */
	unsigned op_count; /* operations under way or queued */
	uint64_t foreign_logged; /* microseconds; when the log had a line about these calls */
	bool draining;
};

#endif
