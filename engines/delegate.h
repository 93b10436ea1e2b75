/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines that choose another engine for a fabric. */
#ifndef ENGINES_DELEGATE_H
#define ENGINES_DELEGATE_H

#include <heddle/engines.h>

/*
 * Routes with `engine` and the options LANE_OPTIONS of the request, which is one to another engine.
 * one_lane: all paths to router ports must be on one virtual lane, whatever `spread` says. The
 * result says which engine was chosen. Errors: those of hd_engine_route(), and -ENOSPC where they need more lanes.
 */
int delegate_route(const struct hd_engine *engine, const struct hd_route_request *request,
		   bool one_lane, struct hd_routes **out, struct hd_error *err);

/* The same, with all options of the request, whose table has the options of `engine`. Lanes are as
 * these options say. Errors: those of hd_engine_route(). */
int delegate_route_whole(const struct hd_engine *engine, const struct hd_route_request *request,
			 struct hd_routes **out, struct hd_error *err);

#endif
