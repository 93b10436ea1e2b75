/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialects of forwarding tables and service levels, for readers that meet such a file by
 * mistake. */
#ifndef FABRIC_READ_ROUTES_H
#define FABRIC_READ_ROUTES_H

#include <heddle/base/text.h>

/* Name of the dialect that this line shows by itself, or NULL. */
const char *read_routes_dialect(struct hd_cursor line);

#endif
