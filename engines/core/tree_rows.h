/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees by destination, from tables and into tables. Row d of such trees has for each switch the number of the chosen
 * link among its own, LINK_NUMBER_NONE = none. So a destination's tree is a run of bytes and not one byte in every table.
 */
#ifndef ENGINES_TREE_ROWS_H
#define ENGINES_TREE_ROWS_H

#include "balance_plan.h"

#include <heddle/base/go_on.h>

/* Fills trees[list->count * switch_count]. Cost: O(switches * destinations). */
void tree_rows_read(const struct hd_fabric *fabric, const struct destinations *list,
		    const struct hd_routes *routes, uint8_t *trees);

/* Makes tables of trees, with the ports of the destinations; freed with hd_routes_free(). Errors: -ECANCELED, -ENOMEM.
 * Cost: O(switches * destinations). */
int tree_rows_write(const struct hd_route_request *request, const struct destinations *list,
		    const uint8_t *trees, struct hd_routes **out, struct hd_error *err);

#endif
