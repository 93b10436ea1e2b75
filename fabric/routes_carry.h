/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies tables into the shape of another fabric. */
#ifndef FABRIC_ROUTES_CARRY_H
#define FABRIC_ROUTES_CARRY_H

#include <heddle/fabric/routes.h>

/* Where the rows and columns of new tables come from. */
struct routes_origin {
	uint32_t *row; /* [rows] a row of the old tables, HD_NONE: none */
	uint16_t *column; /* [columns] a column of the old tables, 0: none */
};

/* Arrays without origins. False: no memory. Release in both cases. */
bool routes_origin_init(struct routes_origin *origin, uint32_t rows, uint32_t columns);

void routes_origin_release(struct routes_origin *origin);

/* Copies entries, service levels and ranks of `from` into `to`, whose entries are all HD_NO_PORT,
 * and holds its labels. Leaves names of engine and options. Errors: -ENOMEM. O(entries). */
int routes_carry(const struct hd_routes *from, const struct routes_origin *origin,
		 struct hd_routes *to);

#endif
