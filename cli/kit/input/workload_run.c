/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_SHOWN 1.0 /* seconds */
#define SHOWN_EVERY 0.25

/* How many of `count` patterns with the same flows differ by the LIDs of their flows. */
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
	    .shares = workload->fair ? HD_SHARE_MAX_MIN : HD_SHARE_CONGESTION,
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
