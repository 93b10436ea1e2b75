/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routing all columns without tables in place: one way after the other is tried. Its parts also serve
 * to route with tables in place. */
#ifndef ENGINES_ASIDE_WAYS_H
#define ENGINES_ASIDE_WAYS_H

#include "aside_escape.h"
#include "aside_job.h"

/* Lanes that the routes use. */
unsigned aside_ways_lanes(const struct hd_fabric *fabric, const struct hd_routes *routes);

/* Memory of the job's paths, for aside_paths_release(), on so many lanes. Errors: -ENOMEM. */
int aside_ways_init(struct aside_job *job, unsigned lanes, unsigned most, bool guarded);

/* The same, after clearing what the lane assignment left where it has no traffic. */
int aside_ways_begin(struct aside_job *job, unsigned lanes, bool guarded);

/* Orders what the paths between hosts depend on. *done is false where that is a credit loop which
 * other paths may have closed. Errors: -ENOMEM. */
int aside_ways_order(struct aside_job *job, bool *done, struct hd_error *err);

/* All columns in bulk, if that serves all. Errors: -ENOMEM. */
int aside_ways_bulk(struct aside_job *job, bool guarded, bool *done, struct hd_error *err);

/* Whether sources without a path may get that of a spanning tree. */
bool aside_ways_may_escape(const struct aside_job *job, const struct aside_way *way);

/* A function of aside_escape.h. */
typedef int aside_escape_fn(struct aside_job *job, bool *done, struct hd_error *err);

/* Calls it with paths between hosts that are collected and ordered. *done is false, too, if these have
 * a credit loop. */
int aside_ways_escape(struct aside_job *job, aside_escape_fn *escape, bool *done,
		      struct hd_error *err);

/* In bulk, then path by path. hosts_stay: no path between hosts makes room for others. Errors: -ENOSPC,
 * -ENOMEM, -ECANCELED. */
int aside_ways_afresh(struct aside_job *job, const struct aside_way *way, bool hosts_stay,
		      struct hd_error *err);

#endif
