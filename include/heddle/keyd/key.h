/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routing keys: routes for the flows of one phase of an application, chosen so that no two of these
 * flows share a link between switches (paper 003, restated with the gaps filled in).
 *
 *   hd_key_tree_new(fabric, &tree, &err);
 *   hd_key_make(&request, &key, &err);
 *   hd_key_shift_choose(tree, key, loads, objective, shift, &err);     NRK; ARK: no shift
 *   hd_key_overlay(tree, key, shift, first_offset, &overlay, &err);
 *   hd_key_loads_add(loads, key, shift, 1);
 *
 * A key belongs to the tree for which it was made. Pure functions; trees and keys never change after
 * they are made, so several threads may read them.
 */
#ifndef HEDDLE_KEYD_KEY_H
#define HEDDLE_KEYD_KEY_H

#include <heddle/fabric/graph.h>
#include <heddle/keyd/colour.h>
#include <stddef.h>

#define HD_KEY_LEVELS 8 /* of a tree, at most */

struct hd_key_tree;

/*
 * Finds the tree in a fabric, from which switches and cables may be missing: a regular fat tree, a tree of two levels
 * with all hosts on its leaves, or any other tree, with the levels by which dmodk routes it. Cables that do not join
 * neighbouring levels are left out. The fabric must outlive it; aggregation nodes and other adapters that are set
 * aside are not part of it. To be freed with hd_key_tree_free(). Errors: -ENOTSUP the fabric is no fat tree, with the
 * reason; -ENOMEM. Cost: O(links * switches / 64) for each tree that is tried.
 */
int hd_key_tree_new(const struct hd_fabric *fabric, struct hd_key_tree **out, struct hd_error *err);

/* NULL is allowed. */
void hd_key_tree_free(struct hd_key_tree *tree);

const struct hd_fabric *hd_key_tree_fabric(const struct hd_key_tree *tree);

/* Whether the tree is a regular one, or one of two levels: then keys are colourings and shifts move whole colours.
 * Paths in other trees are found one by one. */
bool hd_key_tree_is_regular(const struct hd_key_tree *tree);

/*
 * The cables that no key uses, because they have no place in the tree: one directed link of each, ascending, to
 * links[isl_count / 2]. Returns their number; links NULL: only counts. O(links), or O(links * cables) in a regular
 * tree.
 */
uint32_t hd_key_tree_strays(const struct hd_key_tree *tree, uint32_t *links);

struct hd_key_flow {
	uint32_t source, destination; /* hosts of the fabric */
};

struct hd_key_request {
	const struct hd_key_tree *tree;
	const struct hd_key_flow *flows; /* of one phase */
	uint32_t flow_count;
	enum hd_colour_algorithm algorithm;
	unsigned offsets; /* LID offsets of each destination that the phase may use; 0: 1 */
	const uint8_t *
	    flow_offsets; /* [flow_count] the offset of each flow, below `offsets`; NULL: they are chosen */
	bool best_effort; /* the key of least contention if none is free of contention */
	bool leave_out; /* flows without a path get no route, instead of -EHOSTUNREACH */
	/* All flows of a source host get one offset, for programs that choose it once (UCX_IB_LID_PATH_BITS). */
	bool one_offset_a_source;
	uint64_t
	    variant; /* another number: another key of the same kind, where choices are equal */
	unsigned threads; /* 0: 1; never changes the result */
};

/* The route of a flow. */
struct hd_key_route {
	uint32_t source, destination; /* hosts */
	uint8_t offset; /* of the phase's: 0 .. key->offsets - 1 */
	/* levels, before a shift; both 0: both hosts have the same switch, or the flow is left out */
	uint8_t climbs, descents;
	bool left_out; /* the key has no route for it: it follows the tables without keys */
	/* per level that it climbs, before a shift: the cable by which it leaves the lower switch
	 * upwards, 0 .. parents * parallel cables - 1; cable n leads to parent n % parents. And the
	 * cable by which it comes down again, in the numbers of the lower switch there; both lead to
	 * one parent. In a tree that is not regular: number of the link among those of the lower switch. */
	uint8_t up[HD_KEY_LEVELS], down[HD_KEY_LEVELS];
};

struct hd_key {
	uint32_t flow_count;
	struct hd_key_route *routes; /* [flow_count] in the order of the request */
	unsigned offsets; /* LID offsets that the key uses: 0 if no flow leaves its leaf */
	/* most flows from one leaf to one host: with so many offsets, none of them would have to
	 * share a cable upwards with another because both have one LID; 0 as above */
	unsigned wanted_offsets;
	uint32_t contention; /* most flows on a directed link between switches; 0: no such link */
	uint32_t left_out; /* flows without a route */
	/* Where the demand for each cable is highest: a switch, the flows that must leave or enter it
	 * upwards, and the cables upwards that it has. Contention 1 is impossible if demand > usable at
	 * a leaf. Another switch is named only if the leaves have cables enough; what it has to
	 * carry depends on the cables that were chosen below it. HD_NONE, 0, 0: no flow climbs. */
	uint32_t tightest_switch, demand, usable;
};

/*
 * Makes a key. Flows between hosts of one leaf have routes that climb no level. The same request gives the same key;
 * keys of different flows with few cables each use different middle switches. *out is freed with hd_key_free(). Errors:
 * -EDOM no key is free of contention and best_effort is false: the switch, the flows that it would have to carry, and
 * what it has; -EHOSTUNREACH two hosts have no path that climbs and then descends; -EINVAL a host does not exist;
 * -ENOMEM. Cost: that of the colouring; in trees that are not regular O(flows * links above the leaves) for each of a
 * few hundred rounds at most.
 */
int hd_key_make(const struct hd_key_request *request, struct hd_key **out, struct hd_error *err);

/*
 * The same with as few offsets as give the least contention, and not more than request->offsets. Cost: that of a few
 * keys.
 */
int hd_key_make_fewest(const struct hd_key_request *request, struct hd_key **out,
		       struct hd_error *err);

/* NULL is allowed. */
void hd_key_free(struct hd_key *key);

/* ---- loads and shifts ---- */

/* Flows of keys on each directed link between switches. */
struct hd_key_loads {
	uint32_t link_count; /* fabric->isl_count */
	uint32_t *flows; /* [link_count] */
};

/* No loads yet. To be freed with hd_key_loads_free(). NULL: no memory. */
struct hd_key_loads *hd_key_loads_new(const struct hd_key_tree *tree);
void hd_key_loads_free(struct hd_key_loads *loads);

struct hd_key_shift; /* other middle switches for the colours of a key */

/* Adds (sign 1) or takes away (sign -1) the flows of a key. shift NULL: the key as it was made.
 * O(flows * hops). */
void hd_key_loads_add(struct hd_key_loads *loads, const struct hd_key_tree *tree,
		      const struct hd_key *key, const struct hd_key_shift *shift, int sign);

enum hd_key_objective {
	HD_KEY_SHIFT_LINKS, /* lowest largest load of the links that a colour uses, then lowest sum
			     */
	HD_KEY_SHIFT_PAPER /* the most loaded middle switch of the key to the least loaded one of the
			    * network, by total load */
};

/*
 * Chooses the shift of a key for the present loads (NRK): colours, largest first, each to an unused
 * middle switch, in each subtree on its own. A shift never adds contention among the key's own
 * flows, and HD_KEY_SHIFT_LINKS never raises the largest load of the links that the key uses. *out
 * is freed with hd_key_shift_free(). Errors: -ENOMEM. Cost: O(flows * cables upwards) at most.
 */
int hd_key_shift_choose(const struct hd_key_tree *tree, const struct hd_key *key,
			const struct hd_key_loads *loads, enum hd_key_objective objective,
			struct hd_key_shift **out, struct hd_error *err);

/*
 * The same for a key that has a shift, `before`, which was chosen for it in this tree; NULL: the key as it was made. The
 * loads are without its flows. *out NULL: it keeps that shift, since another one would leave as many flows on the most
 * loaded link of the key. So a key that is in the switches only moves where that is of use. O(flows * hops) if no link
 * of the key carries flows of others.
 */
int hd_key_shift_renew(const struct hd_key_tree *tree, const struct hd_key *key,
		       const struct hd_key_loads *loads, enum hd_key_objective objective,
		       const struct hd_key_shift *before, struct hd_key_shift **out,
		       struct hd_error *err);

/* NULL is allowed. */
void hd_key_shift_free(struct hd_key_shift *shift);

/*
 * A shift as bytes, to be freed with free(), and back again, to be freed with hd_key_shift_free(). The bytes must be
 * those of a shift for the same tree: only their number is checked. Errors: -EINVAL another number, -ENOMEM. O(bytes).
 */
int hd_key_shift_write(const struct hd_key_tree *tree, const struct hd_key_shift *shift,
		       uint8_t **bytes, size_t *length);
int hd_key_shift_read(const struct hd_key_tree *tree, const uint8_t *bytes, size_t length,
		      struct hd_key_shift **out);

/* The directed links between switches of a flow's route, in order, to links[2 * HD_KEY_LEVELS];
 * returns their number. */
uint32_t hd_key_path(const struct hd_key_tree *tree, const struct hd_key_route *route,
		     const struct hd_key_shift *shift, uint32_t *links);

/*
 * Which flows share links: most[flow_count] is the most flows of the key on a link of each flow's route, 1: it has all
 * its links for itself, 0: it uses none, or is left out. *sharing: the flows with more than 1. Errors: -ENOMEM.
 * O(flows * hops + links).
 */
int hd_key_sharing(const struct hd_key_tree *tree, const struct hd_key *key,
		   const struct hd_key_shift *shift, uint32_t *most, uint32_t *sharing,
		   struct hd_error *err);

/*
 * Writes to *why why a flow of request->flows has no path: the switch that has no cables upwards, or the cable that has
 * no place in the tree. For flows that a key leaves out for want of a path. O(links).
 */
void hd_key_explain_flow(const struct hd_key_tree *tree, const struct hd_key_flow *flow,
			 struct hd_error *why);

/* How many of the links of hd_key_path() climb; the others descend. */
uint32_t hd_key_climbs(const struct hd_key_tree *tree, const struct hd_key_route *route,
		       const struct hd_key_shift *shift);

/* Whether a path of keys leads from a flow's source to its destination. Cost: O(1), more in trees of 4 levels or more
 * from which cables are missing. */
bool hd_key_has_path(const struct hd_key_tree *tree, const struct hd_key_flow *flow);

/* ---- the overlay ---- */

/* An entry of a forwarding table. */
struct hd_key_entry {
	uint64_t switch_guid; /* host byte order */
	uint16_t lid;
	uint8_t port;
};

struct hd_key_overlay {
	uint32_t count;
	struct hd_key_entry *entries; /* ascending by GUID, then LID; each pair once */
};

/*
 * The entries of the paths of a key's flows, from each source's leaf to the destination's, also
 * where the tables without keys have the same. The flow with offset o goes to the destination's LID
 * + first_offset + o. Written to *out, released with hd_key_overlay_release(). Errors: -ERANGE a
 * destination has no such LID (its LMC is too small), -ENOMEM. Cost: O(flows * hops log).
 */
int hd_key_overlay(const struct hd_key_tree *tree, const struct hd_key *key,
		   const struct hd_key_shift *shift, unsigned first_offset,
		   struct hd_key_overlay *out, struct hd_error *err);

void hd_key_overlay_release(struct hd_key_overlay *overlay);

#endif
