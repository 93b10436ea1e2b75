/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sweeps leave out what is drained (drained.h). The engine gets the subnet without it, as if it were lost. So neither
 * engines, nor repairs, nor the order of a sweep's tables have a special case.
 *
 * Nobody is cut off by that. More than what is accepted is refused if it would cut off hosts, if the engine has no tables
 * then, if switches would lack entries that they have now, or if no order of the changes is proved, unless that is
 * wanted. What was accepted before is then left out as before. Less is never worse, and never refused. If what is
 * accepted would cut off hosts, because of later losses, or the engine has no tables, nothing is left out until it does
 * no harm again.
 *
 * For the sweeper thread, with OpenSM's lock held exclusively.
 */
#ifndef OPENSM_ENGINE_DRAINED_H
#define OPENSM_ENGINE_DRAINED_H

#include "drained.h"

#include <heddle/fabric/graph.h>

struct engine_binding;
struct part_context;

/* Routes a fabric into engines->pending. On success the fabric is not the caller's any more. */
typedef int engine_route_fn(struct engine_binding *binding, struct hd_fabric *fabric,
			    struct hd_error *err);

/*
 * Routes `found` without what is drained. On success the fabric is not the caller's any more, and *decision says what
 * was done; to be noted when OpenSM has the tables, or released. Errors: those of route() without anything left out.
 */
int engine_drained_route(struct engine_binding *binding, struct hd_fabric *found,
			 engine_route_fn *route, struct drained_decision *decision,
			 struct hd_error *err);

/* For trees between sweeps: replaces *fabric by one without what the routing in force leaves out. It stays if it has
 * nothing of that, if hosts would be cut off, or if memory is short. */
void engine_drained_leave_out(const struct part_context *context, struct hd_fabric **fabric);

#endif
