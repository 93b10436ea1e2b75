/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread of the part drain, and the socket of `heddle drain --apply`: doc/guide/drain.md. It resolves names, says
 * what is wanted (drained.h), asks OpenSM for a sweep, and answers when the sweep has decided and all switches have
 * their tables. Root, OpenSM's user and the group of [drain] may connect; the log says who has asked.
 *
 * An answer is a line with the exit status of the command, and lines for people. A client that asks for it hears what it
 * waits for meanwhile.
 */
#ifndef OPENSM_DRAIN_SERVER_H
#define OPENSM_DRAIN_SERVER_H

#include <heddle/base/error.h>

struct drain_server;
struct part_context;

/*
 * Starts the thread, and listens at the path, whose folder is made if only that is missing. `group`: who may connect,
 * too; "": nobody. `state`: where drain_file.h writes; NULL: nowhere. All texts are copied. If the thread starts, but
 * cannot listen, *deaf is the negative errno of socket_server_deaf(), else 0, and `err` says why; it tries again. To be
 * ended with drain_server_end(). Errors, which *deaf gets too: there is no thread, -ENOMEM.
 */
int drain_server_start(struct part_context *context, const char *path, const char *group,
		       const char *state, struct drain_server **out, int *deaf,
		       struct hd_error *err);

/* NULL is allowed. */
void drain_server_end(struct drain_server *server);

#endif
