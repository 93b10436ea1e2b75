/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A module whose engine has the name of a built-in one. */
#include <heddle/engines/module.h>

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	return hd_engine_route(hd_engine_find("spf"), request, out, err);
}

static const struct hd_engine engine = {
    .name = "updown", .summary = "a sample", .description = "A sample.", .route = route};

HD_ENGINE_MODULE(&engine)
