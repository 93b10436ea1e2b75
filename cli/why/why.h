/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle why finds, and how it is shown. */
#ifndef CLI_WHY_H
#define CLI_WHY_H

#include "json_value.h"
#include "plugin_answer.h"
#include "table_source.h"

#include <heddle/analysis/estimate.h>
#include <heddle/ar_manager.h>
#include <heddle/fabric.h>

/* ---- what was found ---- */

struct why_hot {
	uint32_t link; /* as in struct hd_measured */
	double score, hosts; /* of hd_bottlenecks_find() */
	bool bottleneck; /* above the bounds of `why_job` */
	bool as_likely; /* as the first one: the counters do not tell which */
	bool slow_host;
	struct hd_estimate_users users; /* empty without an estimate */
};

/* A port with errors. */
struct why_error {
	uint32_t port;
	uint64_t total; /* of all that count as a fault of the cable or its ends */
	bool hot; /* its cable is one of the hot links */
};

/* The traffic by other tables. Shares are relative to the busiest link between switches today. */
struct why_choice {
	char name[224];
	char refused[HD_ERROR_TEXT]; /* why there are no such tables; "": there are */
	double busiest; /* share of the busiest link between switches */
	uint32_t busiest_link;
	/* Of what crosses the first hot link today, if that is between switches: the largest share of a link that it
	 * meets. */
	double hot;
	double lost; /* bytes for which there is no path, as a share of all */
	bool even_lids; /* programs would have to use all LIDs evenly */
	const struct why_choice *same_as; /* an earlier one with the same loads; NULL: none */
};

struct why_view {
	const char *fabric_path, *counters_path, *before_path, *tables_name, *allocation_path;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	const struct hd_counters *counters;
	const struct hd_measured *measured;
	const struct hd_allocation *allocation; /* NULL: not given */
	const struct hd_estimate *estimate; /* NULL: none, for this reason */
	struct hd_error no_estimate;
	struct why_hot *hot; /* [hot_count] in descending order */
	uint32_t hot_count;
	struct why_error *errors; /* [error_count] in descending order */
	uint32_t error_count;
	struct why_choice *choices; /* [choice_count]; the first one is today's */
	uint32_t choice_count;
	double hosts; /* share of the busiest cable of a host, in the unit of the choices */
	uint32_t hosts_link;
	char doubt
	    [HD_ERROR_TEXT]; /* why it cannot be told whether there is a bottleneck; "": it can be */
};

/* The first hot link is a bottleneck. */
static inline bool why_has_bottleneck(const struct why_view *view)
{
	return view->hot_count && view->hot[0].bottleneck;
}

static inline bool why_is_host_link(const struct why_view *view, uint32_t link)
{
	return link >= view->fabric->isl_count;
}

/* Fills in the doubt. Where links between switches cannot be told apart, nothing is called a bottleneck. */
void why_find_doubt(struct why_view *view);

/* One or two sentences. Returns buffer. */
const char *why_verdict(const struct why_view *view, char *buffer, size_t size);
#define WHY_VERDICT_SIZE 1024

/* ---- what would help ---- */

#define WHY_TRIES_MAX 32u

struct why_tries {
	struct table_source engines[WHY_TRIES_MAX]; /* --try */
	uint32_t count;
	bool none; /* --no-try */
	uint32_t lmc; /* --try-lmc; 0: none */
};

struct why_choosing {
	const struct why_tries *tries;
	const struct hd_policy *policy;
	const struct hd_log *log;
	unsigned threads;
};

/* The place is a struct why_tries. */
arguments_take_fn why_take_try;

/* Fills in the choices of the view, which has an estimate. */
void why_choose(const struct why_choosing *choosing, struct why_view *view);

/* Bytes of links by some tables. */
struct why_loads {
	double *all; /* [link_count] */
	double *
	    hot; /* [link_count] of what crosses the first hot link today; NULL: that is the cable of a host */
	double lost;
};

/* The first hot link, if it is one between switches; else HD_NONE. */
static inline uint32_t why_hot_link(const struct why_view *view)
{
	return view->hot_count && view->hot[0].link < view->fabric->isl_count ? view->hot[0].link
									      : HD_NONE;
}

/* Makes a routing key for the largest flows of the estimate, and moves them to it: the loads are those of today's tables
 * before. Errors, with the reason: -ENOTSUP no tree, or traffic of another kind. */
int why_key_loads(const struct why_view *view, unsigned threads, struct why_loads *loads,
		  struct hd_error *err);

/* ---- reports ---- */

void why_print(const struct why_view *view);

/* NULL: no memory. */
json_t *why_json(const struct why_view *view);

/* ---- a running OpenSM ---- */

/* What heddle why asks a running OpenSM for. */

#define WHY_LIVE_NAME "OpenSM" /* of its answers in messages */

/* Answers of the plugin as texts; NULL: not asked for. Zero-initialise before use. */
struct why_live {
	char *fabric, *tables, *counters;
};

/* Asks for the fabric, the counters and, if they are wanted, the tables. To be released also after an error. Errors:
 * those of plugin_answer_get(); -ENODATA the plugin does not know it, with what to do. */
int why_live_ask(const struct plugin_address *address, bool tables, struct why_live *live,
		 struct hd_error *err);

void why_live_release(struct why_live *live);

#endif
