/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From which hosts schedulers call over the network: scheduler_hosts in [keyd]. Root of any node has
 * the key of MUNGE, and so can make credentials of any user and with any origin, but cannot have the
 * address of another host. So both must be in the list: the origin that the credential has, and the
 * address from which the connection comes.
 */
#ifndef KEYD_ORIGINS_H
#define KEYD_ORIGINS_H

#include <heddle/base/error.h>
#include <netinet/in.h>
#include <stdbool.h>

struct keyd_origins;

/* Reads a list with commas: host names, addresses, "local" for this machine, "any". Asks name servers.
 * *out is freed with keyd_origins_free(). Errors: -ENOENT a host is not found, -ENOMEM. */
int keyd_origins_read(const char *text, struct keyd_origins **out, struct hd_error *err);

/* NULL is allowed. */
void keyd_origins_free(struct keyd_origins *origins);

/* Whether a scheduler may call with this origin from this peer. peer: an address as text; NULL or "":
 * this machine. Cost: O(hosts + addresses of this machine). */
bool keyd_origins_allow(const struct keyd_origins *origins, struct in_addr origin,
			const char *peer);

#endif
