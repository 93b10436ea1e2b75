/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dialects of forwarding tables and service levels, for whoever finds such a file elsewhere. */
#ifndef FABRIC_READ_ROUTES_H
#define FABRIC_READ_ROUTES_H

#include <heddle/base/text.h>

/* Name of the dialect that this line alone shows, NULL if it shows none. */
const char *read_routes_dialect(struct hd_cursor line);

#endif
