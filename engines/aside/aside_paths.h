/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The paths to one LID while they are looked for: a column of next hops, and what fits a lane. */
#ifndef ENGINES_ASIDE_PATHS_H
#define ENGINES_ASIDE_PATHS_H

#include <heddle/engines/lanes.h>
#include <heddle/fabric.h>
#include <heddle/fabric/dependencies.h>

struct aside_paths {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	bool guarded; /* false: credit loops are left to other means, every step fits */
	bool trying; /* between aside_paths_try() and its end */
	unsigned lanes, most; /* lanes in use; lanes that may be */
	struct hd_dependency_workspace workspace;
	struct hd_dependencies graph[HD_LANES_MAX];
	uint8_t *link_number; /* [switch_count * 256] of a port, among its switch's links */
	uint8_t *climbs; /* [isl_count] see aside_paths_orient() */
	bool *sends; /* [switch_count] the switch has adapters */

	/* ---- the column ---- */
	uint32_t lid, destination; /* destination: a switch */
	uint32_t *next; /* [switch_count] link to take, HD_NONE: none */
	bool *fixed; /* [switch_count] traffic uses the entry already: it stays */
	uint32_t *hops; /* [switch_count] of a path that fits */
	uint32_t visit; /* number of the column, for `known` */
	uint32_t
	    *known[HD_LANES_MAX]; /* [switch_count] visit and enum fit of the path from there */
	uint32_t *path; /* [switch_count] scratch */
	bool *legal; /* [switch_count] scratch */
	uint32_t *grown; /* [switch_count] round in which a switch got its next hop, 0: before */
};

/* Memory, and empty graphs for the lanes in use, into which the caller collects the dependencies of
 * the paths between hosts. Errors: -ENOMEM. */
int aside_paths_init(struct aside_paths *paths, const struct hd_fabric *fabric, unsigned lanes,
		     unsigned most, bool guarded);

/* Only link_number, and memory for `climbs`: enough for aside_paths_link(), for
 * aside_paths_orient() with ASIDE_UP_LEVELS, and for aside_turns_find(). Errors: -ENOMEM. */
int aside_paths_init_links(struct aside_paths *paths, const struct hd_fabric *fabric);

void aside_paths_release(struct aside_paths *paths);

/* What a link that climbs leads to; between switches of one level it leads to the lower index. */
enum aside_up {
	/* Away from the hosts. Switches that no collected path passes, such as line chips of a
	 * director without cables, are below all others: no path climbs to them and descends again.
	 */
	ASIDE_UP_IN_USE,
	ASIDE_UP_LEVELS, /* away from the hosts */
	/* Towards one switch, the lowest-numbered of its component: then every switch has a legal
	 * path to every other. */
	ASIDE_UP_ROOT
};

/* Says which links climb. Errors: -ENOMEM. Cost: O(links). */
int aside_paths_orient(struct aside_paths *paths, enum aside_up up);

/* Makes the collected graphs ordered ones. Errors: -ELOOP one has a cycle, -ENOMEM. */
int aside_paths_order(struct aside_paths *paths);

/* From here on what the lanes take can be taken back: by undo, until keep. */
void aside_paths_try(struct aside_paths *paths);
void aside_paths_keep(struct aside_paths *paths);
void aside_paths_undo(struct aside_paths *paths);

/* One more lane, empty and ordered. Errors: -ENOSPC, -ENOMEM. */
int aside_paths_open_lane(struct aside_paths *paths);

/* Starts on another column: no next hops, nothing fixed. */
void aside_paths_begin(struct aside_paths *paths, uint32_t lid, uint32_t destination);

/* The link behind a port of a switch, or HD_NONE. */
static inline uint32_t aside_paths_link(const struct aside_paths *paths, uint32_t sw, uint8_t port)
{
	uint8_t number = paths->link_number[(size_t)sw * 256 + port];

	return number == 0xFF ? HD_NONE : paths->fabric->isl_base[sw] + number;
}

/* Whether the path from `source` arrives and the lane takes all its steps. Steps nearer to the
 * destination than one that is refused stay in the graph. */
bool aside_paths_fit(struct aside_paths *paths, unsigned lane, uint32_t source);

/* Whether the path from a switch arrives, on whatever lane. */
bool aside_paths_arrives(const struct aside_paths *paths, uint32_t sw);

/* Marks the entries along the path from `source`, which arrives, as fixed. */
void aside_paths_fix(struct aside_paths *paths, uint32_t source);

/*
 * Gives switches whose path does not fit the lane, and whose entry is not fixed, other next hops:
 * first such that climb and then descend, then any that the lane takes, always the nearest first.
 */
void aside_paths_grow(struct aside_paths *paths, unsigned lane);

/* Gives every other switch from which nothing arrives some next hop, if `sends` does not forbid
 * it: what the switch itself sends is not data. Switches that send get none. */
void aside_paths_fill(struct aside_paths *paths);

#endif
