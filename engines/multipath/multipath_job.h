/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One run of the engine `multipath`, and the ways in which it makes tables. */
#ifndef ENGINES_MULTIPATH_JOB_H
#define ENGINES_MULTIPATH_JOB_H

#include "balance.h"

#include <heddle/engines/multipath.h>

enum { MULTIPATH_AUTO, MULTIPATH_CYCLES, MULTIPATH_OFFSETS }; /* option `mode` */
enum { MULTIPATH_THROUGH, MULTIPATH_ALL }; /* option `match` */

struct multipath_job {
	const struct hd_route_request *request;
	const struct hd_fabric *fabric;
	struct resolved_policy policy;
	struct hd_cycles *cycles; /* NULL: LID offsets get other shortest paths */
	struct hd_error too_many; /* why mode=auto cannot have path bits, "" where it can */
	struct hd_routes *fresh; /* tables made from nothing, once they are needed */
};

/* ---- multipath_fresh.c: from nothing ---- */

int64_t multipath_option(const struct multipath_job *job, const char *name);

/* A plan by the job's options, its way of building left open. */
struct balance_plan multipath_balance(const struct multipath_job *job,
				      const struct hd_route_request *request);

/* Shortest ways, with previous tables where the request has any. */
int multipath_route_spf(const struct multipath_job *job, const struct hd_route_request *request,
			struct hd_routes **out, struct hd_error *err);

/* Path bits by the job's cycles, or LID offsets without; tables in place are not looked at. */
int multipath_route_fresh(const struct multipath_job *job, struct hd_routes **out,
			  struct hd_error *err);

/* ---- multipath_again.c: with tables in place ---- */

/* Whether they go by path bits, whatever the fabric was then. */
int multipath_find_path_bits(const struct multipath_job *job, bool *found, struct hd_error *err);

/*
 * Hosts of several LIDs keep their entries as multipath_keep.h says; switches and hosts of one
 * LID are spf's, with its own way of staying put. Only LIDs that are new and those that option
 * `rebalance` moves are routed as from nothing.
 */
int multipath_route_again(struct multipath_job *job, struct hd_routes **out, struct hd_error *err);

/* ---- multipath_fit.c: as many path bits as the virtual lanes do for ---- */

/*
 * Base LIDs have a pattern too, and go by longer ways than spf's. Where even one way to each
 * switch needs more lanes than there are, the last bits, which gain least, are given up and the
 * routes made from nothing again, as they were; where none is left the refusal is for
 * hd_engine_route() to make. *routes may be NULL after an error.
 */
int multipath_fit_lanes(struct multipath_job *job, struct hd_routes **routes, struct hd_error *err);

#endif
