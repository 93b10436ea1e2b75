/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The map of a subnet says which router port packets to other subnets go to. It is a text file that
 * the subnet manager reads. Each line has a destination and router ports, the preferred one first:
 *
 *	# comment
 *	fec0:0:0:2:2:c903:0:1	0x0002c90300aa0001 0x0002c90300bb0001
 *	fec0:0:0:3::/64		0x0002c90300aa0002
 *	*			0x0002c90300aa0001
 *	*			0x0002c90300bb0001
 *
 * A destination is a GID, a block of GIDs (first GID / number of leading bits), or `*` for all
 * others. Router ports are port GUIDs. A GID and a block may be on one line only; several `*` lines
 * share the destinations that no other line has.
 *
 * A GID is resolved in this order: the line of that GID, the blocks from the longest to the
 * shortest, the `*` lines. On each line the first usable port counts; a line without a usable port
 * is passed over. So if a port vanishes, only its own destinations move, and they return with it.
 *
 * A struct hd_map never changes. Any number of threads may read it without a lock. A program that
 * loads the file again makes another one, and replaces its pointer.
 */
#ifndef HEDDLE_IR_ROUTER_MAP_H
#define HEDDLE_IR_ROUTER_MAP_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>
#include <heddle/base/text.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- GIDs ---- */

/* GIDs: the addresses of ports across subnets. All numbers are in host byte order. */

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

/* ---- maps ---- */

#define HD_MAP_PORTS_MAX 16u /* router ports on one line */
#define HD_MAP_LARGEST ((size_t)256 << 20) /* bytes of a file */
#define HD_MAP_GID 128 /* length of a line with a GID */
#define HD_MAP_DEFAULT 0 /* length of a `*` line */

struct hd_map_line {
	struct hd_gid gid; /* the GID, or the first one of the block; 0 on a `*` line */
	uint32_t first; /* its ports: choices[first .. first + port_count - 1] */
	uint32_t number; /* of the line in the file, from 1; 0: not from a file */
	uint8_t length; /* leading bits that count: HD_MAP_GID, 1..127, HD_MAP_DEFAULT */
	uint8_t port_count; /* 1 .. HD_MAP_PORTS_MAX */
};

struct hd_map {
	/* In canonical order: GIDs ascending, blocks by their first GID, then the shorter one first;
	 * `*` lines by their ports. */
	const struct hd_map_line *lines; /* [gid_count + block_count + default_count] */
	uint32_t gid_count, block_count, default_count;
	const uint32_t *choices; /* numbers of ports, line by line, the preferred one first */
	/* The router ports of all lines, each once. Their numbers are their places here. */
	const uint64_t *port_guid; /* [port_count] ascending */
	uint32_t port_count;

	/* ---- for map.c ---- */
	struct hd_arena arena;
	struct hd_lookup by_gid, by_block;
	uint8_t lengths[128]; /* of blocks, descending */
	uint32_t length_count;
};

/* ---- loading ---- */

/*
 * Reads a map from a regular file. Never waits for a pipe or a device. Tolerates a byte-order mark
 * and Windows line ends. *out is freed with hd_map_free(). Every error in the content has the form
 * "PATH:LINE: reason: 'the line'" and the code -EINVAL: not a GID, a GID or block that no other
 * subnet can have (link-local, multicast, prefix 0), GUID 0, a block with bits behind its length, a
 * length that is not 1..127, no router port, a word that is no port GUID, a port twice on a line,
 * more than HD_MAP_PORTS_MAX ports, a destination that an earlier line has, two equal `*` lines, a
 * last line without a line end (the file may be cut), line ends of both kinds, a line that is too
 * long, zero bytes. Other errors: -ENODATA no line has a destination, the errno of open and read,
 * -EFBIG, -ENOMEM. Cost: O(bytes + lines log lines); 100,000 GIDs take less than 100 ms.
 */
int hd_map_read(const char *path, struct hd_map **out, struct hd_error *err);

/* The same from a text in memory, to which the map does not refer afterwards. */
int hd_map_parse(const struct hd_text *text, struct hd_map **out, struct hd_error *err);

/* Frees the map; NULL is allowed. */
void hd_map_free(struct hd_map *map);

/*
 * Checks that every router port of the map is one of `ports`, [count] port GUIDs in ascending
 * order. Errors: -ENOENT, with `name` (of the file), the line, and the first port that is not; with
 * an empty message if err is NULL. `unknown`, if it is not NULL, gets the number of ports that are
 * not among them.
 */
int hd_map_check_ports(const struct hd_map *map, const char *name, const uint64_t *ports,
		       uint32_t count, uint32_t *unknown, struct hd_error *err);

/* ---- resolving ---- */

struct hd_map_answer {
	uint32_t line; /* index into map->lines */
	uint32_t choice; /* which of the line's ports: 0 is the preferred one */
	uint32_t port; /* number of the port in map->port_guid */
	uint64_t port_guid;
};

/* Number of a router port of the map, or HD_NONE. O(log ports). */
uint32_t hd_map_find_port(const struct hd_map *map, uint64_t port_guid);

/*
 * Finds the router port for a GID. usable[map->port_count] says which router ports can be used now,
 * by their numbers; NULL: all of them. A subnet manager makes that array once a sweep. Returns
 * false if no line has a usable port for the GID; then the subnet has no route to it. Without a
 * lock, without allocation. Expected cost: O(different lengths of blocks), under 200 ns with
 * 100,000 GIDs. Among `*` lines, a hash of the GID chooses the line; if that has no usable port,
 * all usable `*` lines share its destinations by a second hash.
 */
bool hd_map_resolve(const struct hd_map *map, const struct hd_gid *gid, const bool *usable,
		    struct hd_map_answer *answer);

/* ---- making and writing ---- */

/* Collects lines. Only the functions below use it. */
struct hd_map_builder;

/* NULL: no memory. Freed with hd_map_builder_free(). */
struct hd_map_builder *hd_map_builder_new(void);
void hd_map_builder_free(struct hd_map_builder *builder);

/*
 * Adds a line, with the number `number` for messages (0: none). length: HD_MAP_GID, 1..127 or
 * HD_MAP_DEFAULT. ports[count] are port GUIDs, the preferred one first. Errors: -EINVAL with a
 * reason but without a place, as listed at hd_map_read(); -ENOMEM. Destinations that are there
 * twice are found by hd_map_builder_build().
 */
int hd_map_builder_add(struct hd_map_builder *builder, const struct hd_gid *gid, unsigned length,
		       const uint64_t *ports, unsigned count, uint32_t number,
		       struct hd_error *err);

/*
 * Makes the map. The builder stays as it is. `name` is that of the file for messages, or NULL. An
 * empty map is allowed here. Errors: -EINVAL a destination is there twice (names both lines),
 * -ENOMEM. Cost: O(lines log lines).
 */
int hd_map_builder_build(struct hd_map_builder *builder, const char *name, struct hd_map **out,
			 struct hd_error *err);

/* Writes the map in canonical order; reading that makes an equal map. Flushes the stream, which
 * stays the caller's. Errors: the errno of the stream. Cost: O(lines). */
int hd_map_write(const struct hd_map *map, FILE *stream, struct hd_error *err);

/* Writes the destination of a line as in the file: "fec0::1", "fec0::/64", "*". Returns `buffer`,
 * which has HD_MAP_DESTINATION_TEXT bytes. */
char *hd_map_destination(const struct hd_map_line *line, char *buffer);

#define HD_MAP_DESTINATION_TEXT (HD_GID_TEXT + 4)

/* ---- comparing ---- */

/* One difference: a line that only one map has, or whose ports differ. */
struct hd_map_difference {
	uint32_t before,
	    after; /* index of the line in each map; HD_NONE: the map has no such line */
};

/*
 * Compares two maps line by line. *out is malloc'ed, [*count] in canonical order; NULL if count is
 * 0. A `*` line is the same only if it has the same ports. Errors: -ENOMEM. Cost: O(lines).
 */
int hd_map_compare(const struct hd_map *before, const struct hd_map *after,
		   struct hd_map_difference **out, uint32_t *count, struct hd_error *err);

#endif
