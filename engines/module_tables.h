/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of engines that are modules. Such an engine is not held to its facts by the tests of
 * this tree, so all that it returns is checked before anybody uses it.
 */
#ifndef ENGINES_MODULE_TABLES_H
#define ENGINES_MODULE_TABLES_H

#include <heddle/engines.h>

/*
 * Runs the function `route` of a module's engine. Of what it returns, only tables and ranks are
 * kept: virtual lanes and the entries for adapters that are set aside are not an engine's business.
 * Errors: the engine's, with a reason in any case; -EINVAL the tables do not fit the fabric, an entry
 * is missing, names a port that the switch does not have, or is for a LID without a destination;
 * -ENOMEM. Cost: that of the engine, and O(switches * LIDs).
 */
int module_tables_make(const struct hd_engine *engine, const struct hd_route_request *request,
		       struct hd_routes **out, struct hd_error *err);

/*
 * Proves the finished tables: all paths arrive, and if `guarded`, no virtual lane has a credit loop.
 * Errors: -EINVAL they do not (names a path), and those of hd_check(). Cost: hd_check().
 */
int module_tables_prove(const struct hd_route_request *request, const struct hd_routes *routes,
			bool guarded, struct hd_error *err);

#endif
