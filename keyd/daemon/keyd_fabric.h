/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric that the subnet manager sends: it becomes the view, and the jobs follow. */
#ifndef KEYD_FABRIC_H
#define KEYD_FABRIC_H

#include "keyd_op.h"

/* What the connection to the managers calls. */
void keyd_fabric_take(void *context, struct hd_channel_message *message);
void keyd_fabric_changed(void *context);

/* Finds the hosts of all jobs in the view again, after hosts_file has changed. */
void keyd_fabric_resolve(struct keyd *keyd);

/* "ready", "waiting", "none", "unsupported", and the reason, or "". */
const char *keyd_fabric_state(const struct keyd *keyd, const char **reason);

/* Releases the view. */
void keyd_fabric_release(struct keyd *keyd);

#endif
