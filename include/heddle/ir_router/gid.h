/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GIDs: the addresses of ports across subnets. All numbers are in host byte order. */
#ifndef HEDDLE_IR_ROUTER_GID_H
#define HEDDLE_IR_ROUTER_GID_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_gid {
	uint64_t prefix; /* of the subnet */
	uint64_t guid; /* of the port */
};

#define HD_GID_TEXT 40 /* room for a GID as text, with its terminating 0 */

/* The GID as IPv6 text, always terminated: "fec0::1:2:c903:0:1". Returns `buffer`, which has
 * HD_GID_TEXT bytes. */
char *hd_gid_print(const struct hd_gid *gid, char *buffer);

/*
 * Reads text[length] as IPv6 text of any form: "fec0:0:0:1::a", "FEC0:0000:...". Forms with dots or
 * a zone are refused. Errors: -EINVAL, without a place.
 */
int hd_gid_parse(const char *text, unsigned length, struct hd_gid *gid, struct hd_error *err);

static inline bool hd_gid_equal(const struct hd_gid *a, const struct hd_gid *b)
{
	return a->prefix == b->prefix && a->guid == b->guid;
}

/* Negative, 0 or positive: by prefix, then by GUID. */
static inline int hd_gid_compare(const struct hd_gid *a, const struct hd_gid *b)
{
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

/* Whether a subnet prefix is in fe80::/10: its GIDs are for the local subnet only. OpenSM treats
 * all prefixes of that block so. */
static inline bool hd_prefix_is_link_local(uint64_t prefix)
{
	return prefix >> 54 == 0x3FA;
}

/* 0 if ports of other subnets can be reached under that subnet prefix. Else -EINVAL, with the
 * reason: 0, link-local, or multicast (ff00::/8). */
int hd_prefix_check(uint64_t prefix, struct hd_error *err);

#endif
