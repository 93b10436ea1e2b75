/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric of one epoch as the subnet manager has sent it: its tree, and which host a name is.
 * A view never changes. Several threads may read it; only the event thread counts references.
 */
#ifndef KEYD_VIEW_H
#define KEYD_VIEW_H

#include <heddle/base/error.h>
#include <heddle/base/lookup.h>
#include <heddle/keyd/channel.h>
#include <stdbool.h>
#include <stdint.h>

/* The file that says which port each of the scheduler's node names is: lines `NAME GUID`. */

struct keyd_hosts;

/* Reads the file; path NULL: an empty list. *out is freed with keyd_hosts_free(). Errors: those of
 * open and read; -EINVAL with file and line: no GUID, a name that is listed twice; -ENOMEM. */
int keyd_hosts_read(const char *path, struct keyd_hosts **out, struct hd_error *err);

/* NULL is allowed. */
void keyd_hosts_free(struct keyd_hosts *hosts);

/* The port GUID of a name. False: the file does not list it. Expected cost: O(1). */
bool keyd_hosts_find(const struct keyd_hosts *hosts, const char *name, uint64_t *guid);

uint32_t keyd_hosts_count(const struct keyd_hosts *hosts);

struct keyd_view {
	unsigned references;
	uint64_t epoch;
	uint64_t instance; /* of the manager that counts the epochs; 0 until the view is in force */
	uint64_t fingerprint; /* of the fabric: another one has another fingerprint */
	struct hd_fabric *fabric;
	struct hd_key_tree *tree;
	unsigned lmc; /* the smallest of all hosts */
	struct hd_lookup names; /* of hosts, by the first word of their node's description */
};

/* Makes a view, with one reference. Errors: -EINVAL the netlist is damaged; -ENOTSUP the fabric is
 * no fat tree, or has no hosts; -ENOMEM. Cost: O(bytes + hosts). */
int keyd_view_new(const struct hd_channel_fabric *message, struct keyd_view **out,
		  struct hd_error *err);

struct keyd_view *keyd_view_hold(struct keyd_view *view);

/* Frees it if this was the last reference. NULL is allowed. */
void keyd_view_release(struct keyd_view *view);

/* The host with that name: a name in `hosts`, a port GUID or node GUID, or the first word of a node
 * description. Errors: -ENOENT no such host, -EEXIST several hosts have the name. */
int keyd_view_host(const struct keyd_view *view, const struct keyd_hosts *hosts, const char *name,
		   uint32_t *host, struct hd_error *err);

/* The LMC of a host. */
unsigned keyd_view_lmc(const struct keyd_view *view, uint32_t host);

#endif
