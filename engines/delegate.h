/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines that choose another engine for a fabric. */
#ifndef ENGINES_DELEGATE_H
#define ENGINES_DELEGATE_H

#include <heddle/engines.h>

struct delegate_way {
	/* all paths to router ports must be on one virtual lane, whatever `spread` says */
	bool one_lane;
	const char *balance; /* for the engine's option of this name; NULL: none */
};

/*
 * Routes with `engine` and the options LANE_OPTIONS of the request, which is one to another engine. The result says
 * which engine was chosen. Errors: those of hd_engine_route(), and -ENOSPC where they need more lanes.
 */
int delegate_route(const struct hd_engine *engine, const struct hd_route_request *request,
		   struct delegate_way way, struct hd_routes **out, struct hd_error *err);

/* The same, with all options of the request, whose table has the options of `engine`. Lanes are as
 * these options say. Errors: those of hd_engine_route(). */
int delegate_route_whole(const struct hd_engine *engine, const struct hd_route_request *request,
			 struct hd_routes **out, struct hd_error *err);

#endif
