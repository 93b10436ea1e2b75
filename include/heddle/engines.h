/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routing engines: pure functions from a fabric to forwarding tables.
 *
 * Adding an engine is one file pair in engines/ and one line in engines/registry.c; the
 * command, the OpenSM plugin, the man page and the conformance tests find it there.
 */
#ifndef HEDDLE_ENGINES_H
#define HEDDLE_ENGINES_H

#include <heddle/fabric.h>

struct hd_route_request {
	const struct hd_fabric *fabric;
	const struct hd_options *options; /* made from the engine's own table; NULL = defaults */
	const struct hd_policy *policy; /* NULL = none */
	/*
	 * Tables now in the switches, of the shape of `fabric` (hd_routes_rebase()), or NULL to
	 * compute from nothing. With them an engine changes no entry without need.
	 */
	const struct hd_routes *previous;
	/*
	 * Beside `previous` and of the same shape: the tables of the last routing from nothing,
	 * or NULL. An entry is there again as soon as it can be: when a link returns, so do the
	 * routes that had to leave it.
	 */
	const struct hd_routes *baseline;
	unsigned lanes; /* data VLs that every inter-switch link has; 0: not known, 8 by default */
	unsigned threads; /* 0 = 1; never changes the result */
	const struct hd_log *log; /* remarks; NULL = none */
};

struct hd_engine {
	const char *name; /* as in `routing_engine NAME` */
	const char *summary; /* half a sentence */
	const struct hd_option *options; /* `deadlock`, `vls` and `spread` among them */
	unsigned option_count;
	/* One lane is enough: routes climb, then descend, and where policy.max_reverse_hops allows
	 * more the engine proves that they are free of credit loops, or refuses. */
	bool one_lane;
	/*
	 * Computes tables for every LID of every host and switch. 0, or a negative errno with a
	 * reason: -ENOTSUP the fabric is not of the engine's kind (names the offending link or
	 * pair), -EINVAL bad policy, -ENOMEM. Between parts of the fabric that no cable joins the
	 * entries stay HD_NO_PORT, with a remark in the log. *out is
	 * written on success only; freed with hd_routes_free().
	 */
	int (*route)(const struct hd_route_request *request, struct hd_routes **out,
		     struct hd_error *err);
};

/* All engines, in the order of the documentation; *count of them. */
const struct hd_engine *const *hd_engines(unsigned *count);

/* Engine by name, or NULL. */
const struct hd_engine *hd_engine_find(const char *name);

/* Default options of an engine. NULL: no memory. */
struct hd_options *hd_engine_options(const struct hd_engine *engine);

/*
 * Runs the engine, sees to it that its routes are free of credit loops as its option `deadlock`
 * says (hd_lanes_assign()), and stamps its name and options into the result. Errors: the
 * engine's, and -ENOSPC where the routes need more virtual lanes than there are.
 */
int hd_engine_route(const struct hd_engine *engine, const struct hd_route_request *request,
		    struct hd_routes **out, struct hd_error *err);

#endif
