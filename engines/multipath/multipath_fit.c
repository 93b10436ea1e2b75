/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_options.h"
#include "multipath_job.h"

#include <errno.h>
#include <inttypes.h>

/* Whether hd_engine_route() will find lanes for the tables: 0, -ENOSPC, or another error. */
static int try_lanes(const struct multipath_job *job, const struct hd_routes *routes,
		     struct hd_error *err)
{
	struct hd_lanes_request wanted = {.fabric = job->fabric,
					  .available = lane_options_available(job->request),
					  .share = true};
	struct hd_routes *copy;

	if (multipath_option(job, "deadlock") != HD_DEADLOCK_VL)
		return 0;
	int rc = hd_routes_rebase(job->fabric, routes, job->fabric, &copy, err);
	if (rc)
		return rc;
	rc = hd_lanes_assign(&wanted, copy, NULL, err);
	hd_routes_free(copy);
	return rc;
}

int multipath_fit_lanes(struct multipath_job *job, struct hd_routes **routes, struct hd_error *err)
{
	uint32_t before = job->cycles->kept;
	struct hd_error reason = {""};
	int rc;

	while ((rc = try_lanes(job, *routes, &reason)) == -ENOSPC && job->cycles->kept) {
		job->cycles->kept--;
		hd_routes_free(*routes);
		*routes = NULL;
		rc = multipath_route_fresh(job, routes, err);
		if (rc)
			return rc;
	}
	if (rc)
		return rc == -ENOSPC ? 0 : hd_error_set(err, rc, "%s", reason.text);
	if (job->cycles->kept < before)
		hd_log(job->request->log, HD_LOG_WARNING,
		       "multipath: %" PRIu32 " of %" PRIu32
		       " path bits are used: more of them would need more than %u virtual lanes",
		       job->cycles->kept, before, lane_options_available(job->request));
	return 0;
}
