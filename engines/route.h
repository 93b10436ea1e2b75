/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For engines that run other engines. */
#ifndef ENGINES_ROUTE_H
#define ENGINES_ROUTE_H

#include <heddle/engines.h>

/* hd_engine_route() without the remark that another engine would balance better: it is for those who
 * chose the engine themselves. */
int route_delegated(const struct hd_engine *engine, const struct hd_route_request *request,
		    struct hd_routes **out, struct hd_error *err);

#endif
