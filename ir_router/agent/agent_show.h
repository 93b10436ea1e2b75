/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client of the control socket. */
#ifndef AGENT_SHOW_H
#define AGENT_SHOW_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdio.h>

/* Asks the running agent for a table, and prints it to `out`: aligned columns, or JSON. Errors:
 * errno of the connection, -EINVAL an answer that is not a table, with a reason. */
int agent_show(const char *socket_path, const char *table, bool as_json, FILE *out,
	       struct hd_error *err);

#endif
