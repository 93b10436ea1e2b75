/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One run of the engine `multipath`, and the methods by which it makes tables. */
#ifndef ENGINES_MULTIPATH_JOB_H
#define ENGINES_MULTIPATH_JOB_H

#include "balance.h"

#include <heddle/engines/multipath.h>

enum { MULTIPATH_AUTO, MULTIPATH_CYCLES, MULTIPATH_OFFSETS, MULTIPATH_LAYERS }; /* option `mode` */
enum { MULTIPATH_THROUGH, MULTIPATH_ALL }; /* option `match` */

struct multipath_job {
	const struct hd_route_request *request;
	const struct hd_fabric *fabric;
	struct resolved_policy policy;
	struct hd_cycles *cycles; /* NULL: LID offsets get other shortest paths */
	struct hd_error too_many; /* why mode=auto cannot have path bits, "" where it can */
	struct hd_routes *fresh; /* tables of a routing afresh, once they are needed */
};

/* ---- multipath_fresh.c: afresh ---- */

int64_t multipath_option(const struct multipath_job *job, const char *name);

/* LIDs of a host, from the base LID on, that never have path bits: with option `indicator` the lower
 * half, of one LID none. */
uint32_t multipath_lids_without_bits(const struct multipath_job *job, uint32_t host);

/* A plan by the job's options, still without build(). */
struct balance_plan multipath_balance(const struct multipath_job *job,
				      const struct hd_route_request *request);

/* Shortest paths, with previous tables where the request has any. */
int multipath_route_spf(const struct multipath_job *job, const struct hd_route_request *request,
			struct hd_routes **out, struct hd_error *err);

/* Path bits by the job's cycles, or LID offsets without cycles. Ignores the tables in place. */
int multipath_route_fresh(const struct multipath_job *job, struct hd_routes **out,
			  struct hd_error *err);

/* ---- multipath_again.c: with tables in place ---- */

/* Whether the tables in place use path bits, whatever the fabric was when they were made. */
int multipath_find_path_bits(const struct multipath_job *job, bool *found, struct hd_error *err);

/*
 * Hosts of several LIDs keep their entries as multipath_again.c says. Switches, hosts of one LID, and
 * LIDs without the indicator have the entries of spf, which keeps them by its own rules. Only new LIDs are routed afresh.
 */
int multipath_route_again(struct multipath_job *job, struct hd_routes **out, struct hd_error *err);

/* ---- multipath_again.c: as many path bits as the virtual lanes allow ---- */

/*
 * Without an indicator base LIDs have a pattern too, and take longer paths than spf's. If even one
 * path to each switch needs more lanes than are available, the last bits, which gain least, are
 * given up, and the tables are made afresh. If no bit is left, hd_engine_route() makes the refusal.
 * *routes may be NULL after an error.
 */
int multipath_fit_lanes(struct multipath_job *job, struct hd_routes **routes, struct hd_error *err);

/* ---- further LIDs without path bits ---- */

/*
 * LID offsets without path bits, for fabrics with too many cycles to list their paths: every
 * further LID of a host gets shortest paths that keep away from those of its lower LIDs.
 */

/*
 * The base LIDs, and the LIDs of switches, get the tables of the engine `spf`. For LID base + n a
 * switch may take those next hops on shortest paths whose best continuation shares fewest links
 * with the trees of base .. base + n - 1. A link counts once for each of these trees that brings
 * any host's packets over it. Among the next hops that are left the balance decides. So from every
 * switch the path shares as few links as any shortest path can. Sets plan->build and what belongs
 * to it. Errors: -ENOMEM. Cost: that of balance_route(), plus O(offset * switches) for each LID and
 * pass.
 */
int multipath_offsets_route(struct balance_plan *plan, struct hd_routes **out,
			    struct hd_error *err);

/* ---- multipath_layers.c: longer paths, in layers ---- */

/* Tables for mode=layers, with service levels unless one lane is enough. Errors: those of spf, -ENOSPC base LIDs need
 * more lanes than there are. */
int multipath_route_layers(struct multipath_job *job, struct hd_routes **out, struct hd_error *err);

#endif
