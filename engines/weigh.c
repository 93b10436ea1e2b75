/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bisections.h"

#include <heddle/engines.h>

int hd_engine_weigh(const struct hd_engine *engine, const struct hd_route_request *request,
		    const struct hd_routes *routes, double worth[2], struct hd_error *err)
{
	struct hd_route_request afresh = *request;
	struct hd_routes *made = NULL;

	afresh.previous = afresh.baseline = afresh.in_place = NULL;
	int rc = hd_engine_route(engine, &afresh, &made, err);
	const struct hd_routes *const both[] = {routes, made};

	if (!rc)
		rc = hd_go_on_explain(bisections_worth(request->fabric, both, 2, request->threads,
						       &request->go_on, worth),
				      err);
	hd_routes_free(made);
	return rc;
}
