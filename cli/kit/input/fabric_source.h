/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric from a file, with LIDs; and random groups of its hosts. */
#ifndef CLI_FABRIC_SOURCE_H
#define CLI_FABRIC_SOURCE_H

#include <heddle/fabric.h>

/* ---- random groups ---- */

/* Multicast groups of random hosts. */

#define RANDOM_GROUPS_MAX 16383 /* as many as there are MLIDs */
#define RANDOM_GROUP_SIZE 8 /* hosts, if not told otherwise */
#define RANDOM_GROUP_SIZE_MAX 65535

/*
 * Draws `size` hosts of the fabric, which has so many, and advances *seed. hosts[host_count] is a
 * permutation of the hosts, which changes. members[size]: their port indices.
 */
void fabric_source_draw_group(const struct hd_fabric *fabric, uint32_t size, uint64_t *seed,
			      uint32_t *hosts, uint32_t *members);

/* ---- fabrics ---- */

/* A fabric from a file, with LIDs. */

#define LMC_ANY (-1) /* the LIDs of the file; LMC 0 if it has none */
#define LMC_KEEP (-2) /* the LIDs of the file; none if it has none */

/* What was typed. */
struct fabric_source {
	const char *path; /* "-": standard input */
	const char *name_map; /* the names of nodes; NULL: those of the fabric file */
	int lmc; /* 0 .. 7, or one of the above */
	const char
	    *text; /* what the file has; NULL: it is to be read. `path` is only a name then */
};

/* hd_fabric_tell_apart(), in place. After an error the fabric is as it was. */
int fabric_source_tell_apart(struct hd_fabric **fabric, struct hd_error *err);

/*
 * Reads a fabric, and gives its nodes the names of the name map. If the file has no LIDs, or if its
 * hosts have another LMC than the one wanted, the fabric gets new LIDs in canonical order. Errors:
 * those of hd_fabric_read(), hd_fabric_rename() and hd_fabric_assign_lids().
 */
int fabric_source_load(const struct fabric_source *source, const struct hd_log *log,
		       struct hd_fabric **out, struct hd_error *err);

#endif
