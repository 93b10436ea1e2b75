/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric as it was planned beside the fabric as it is: which cables are missing, were added or are plugged in
 * elsewhere, and which nodes are missing, were added or replaced, or have changed places. For two snapshots of one
 * subnet, in which nothing but losses and returns is of interest, heddle/fabric/changes.h is enough.
 */
#ifndef HEDDLE_FABRIC_COMPARE_H
#define HEDDLE_FABRIC_COMPARE_H

#include <heddle/base/arena.h>
#include <heddle/fabric/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How a live node is found for a planned one.
 *
 * GUID: by the GUID of the node, else of one of its ports. NAME: by the name, if no other node has it. Then cables are
 * compared port by port. A node that is not found so, and a switch most of whose cables are elsewhere, are looked for
 * at their place: where the ports that are cabled to them in the plan lead to. So a replaced switch, and two switches
 * that were exchanged with all their cables, are one difference.
 *
 * SHAPE: by the cables alone, for plans whose GUIDs and names are not those of the site, such as generated ones. Port
 * numbers are not compared. What a renaming of nodes and ports explains is no difference: two hosts of a leaf, two
 * cables between the same switches, or two whole leaves that were exchanged are not seen. Hosts with one cable are not
 * told apart; of these, and of others that are not mapped, only their number on each switch is compared. Adapters that
 * are set aside are left out. Of cables from a switch to itself only the number in the fabric is compared. The mapping is searched, not proved to be the best:
 * what is reported is enough to make the live fabric one of the plan's shape, but fewer steps may be enough, too.
 *
 * AUTO: GUID if at least half of the planned switches are found by it, else NAME if half of them are found by that,
 * else SHAPE.
 */
enum hd_match { HD_MATCH_AUTO, HD_MATCH_GUID, HD_MATCH_NAME, HD_MATCH_SHAPE };

enum hd_fabric_difference_kind {
	HD_DIFFERENCE_NODE_MISSING, /* expected[0]: the node. Its cables are not listed */
	HD_DIFFERENCE_NODE_EXTRA, /* found[0]: the node. Its cables are not listed */
	HD_DIFFERENCE_NODE_REPLACED, /* expected[0]: the place; found[0]: a node that the plan does not have */
	HD_DIFFERENCE_NODE_RENAMED, /* by name: as REPLACED, but the GUIDs are the same */
	HD_DIFFERENCE_NODE_MOVED, /* expected[0]: the place; found[0]: a node that has another place in the plan */
	HD_DIFFERENCE_NODES_EXCHANGED, /* found[i] is at the place expected[i]; the plan has them at these places */
	HD_DIFFERENCE_CABLE_MISSING, /* expected[0]: a port of it */
	HD_DIFFERENCE_CABLE_EXTRA, /* found[0]: a port of it */
	/* expected[0], found[0]: the ports of the end that is right; the other end is elsewhere */
	HD_DIFFERENCE_CABLE_MOVED,
	/* A ring of planned and live cables: expected[i] is the planned cable at the near end of number i, found[i] the live
	 * cable at its far end, which leads to the near end of number i + 1, and the last one to that of number 0. The
	 * ports are those at these ends. Two cables: the ends were swapped. */
	HD_DIFFERENCE_CABLES_EXCHANGED,
	HD_DIFFERENCE_RATE, /* expected[0], found[0]: ports of a cable of another width or speed */
	HD_DIFFERENCE_KINDS
};

/* One difference. Nodes and ports are indices: expected[] of the plan, found[] of the live fabric. */
struct hd_fabric_difference {
	enum hd_fabric_difference_kind kind;
	/* Steps that mend it. A step pulls a cable or plugs one in, moves one end of one, or exchanges an end of one with
	 * an end of another; or it does something with one node, or exchanges two. */
	uint32_t mends;
	uint32_t expected_count, found_count;
	uint32_t *expected, *found;
};

struct hd_compare_request {
	const struct hd_fabric *expected, *live;
	enum hd_match match;
	/* Compare width and speed, where both are known; with SHAPE and without the next two only those of cables to hosts, or
	 * between switches, that are all planned alike. */
	bool rates;
	uint8_t width; /* planned width of all cables; 0: that of each cable in the plan */
	enum hd_speed
	    speed; /* planned speed of all cables; HD_SPEED_UNKNOWN: that of each cable in the plan */
};

struct hd_comparison {
	enum hd_match match; /* never AUTO */
	/* [nodes of the plan] the live node at this place, or HD_NONE; with SHAPE also HD_NONE for hosts with one cable */
	uint32_t *live_of;
	uint32_t *expected_of; /* [live nodes] the reverse */
	uint32_t planned; /* planned cables that were compared */
	uint32_t agreeing; /* of these, cables that are where the plan has them */
	uint64_t mends; /* of all differences */
	uint32_t count;
	struct hd_fabric_difference
	    *differences; /* [count], nodes first, then cables, then rates */
	struct hd_arena arena; /* owns all but the list */
};

/*
 * Compares. `out` is zero-initialised, and released with hd_comparison_release(), also after an error. Both fabrics
 * must outlive it. Errors: -ENOMEM. Cost: GUID and NAME: O((nodes + ports) log nodes). SHAPE: O(switches * radix^2),
 * some twenty times at most; the search is by votes of neighbours that are mapped already (E. Kazemi, S. H. Hassani,
 * M. Grossglauser, "Growing a graph matching from a handful of seeds", PVLDB 8, 2015).
 */
int hd_fabric_compare(const struct hd_compare_request *request, struct hd_comparison *out,
		      struct hd_error *err);

void hd_comparison_release(struct hd_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif
