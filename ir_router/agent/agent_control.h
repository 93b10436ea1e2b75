/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket: a client sends one line, the name of a table, and gets the table as a JSON
 * array of objects, or {"error": "..."}.
 */
#ifndef AGENT_CONTROL_H
#define AGENT_CONTROL_H

#include <heddle/base/error.h>

struct agent;
struct agent_control;

/* Listens at a path, which only the owner and the group may use. Replaces a socket that nobody
 * listens at. Errors: -EADDRINUSE an agent listens there, errno of bind. */
int agent_control_new(struct agent *agent, const char *path, struct agent_control **out,
		      struct hd_error *err);

/* NULL is allowed. Removes the socket. */
void agent_control_free(struct agent_control *control);

#endif
