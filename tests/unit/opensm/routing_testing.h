/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A routing that no engine has made. */
#ifndef ROUTING_TESTING_H
#define ROUTING_TESTING_H

#include "routing.h"

#include <stdlib.h>

/* Takes over both. */
static inline struct routing *routing_of(struct hd_fabric *fabric, struct hd_routes *routes)
{
	struct routing *routing = calloc(1, sizeof(*routing));

	routing->fabric = fabric;
	routing->routes = routes;
	atomic_init(&routing->holders, 1);
	return routing;
}

#endif
