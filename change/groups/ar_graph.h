/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of a graph of adaptive routing, step by step. While entries change, a switch may have the old ones or the new
 * ones, and nobody knows which.
 *
 *	ar_graph_take_fabric()     what is lost carries nothing
 *	ar_graph_mark()            what the change concerns: entries of a switch for a destination
 *	ar_graph_try()             these become what they are in a step; -ELOOP: that has a loop
 *	ar_graph_keep() or ar_graph_undo()
 *
 * A switch has a slot, which it keeps while it is away. Each has two destinations: the LIDs of its hosts, and those of
 * adapters that are set aside. The former may have groups, and the latter have turns of their own: together they
 * would show loops that no packet makes.
 */
#ifndef CHANGE_AR_GRAPH_H
#define CHANGE_AR_GRAPH_H

#include <heddle/ar_manager/plan.h>
#include <heddle/base/arena.h>
#include <heddle/change/ar_graph.h>

/* What is known of one destination. */
struct ar_column {
	/* [slots * words] ports to other switches; NULL: it never was a destination */
	uint64_t *sets;
	bool *reached; /* [slots] packets come to the switch */
};

/* A switch and a destination. */
struct ar_pair {
	uint32_t slot, destination;
	uint32_t step; /* of a change, from 1; 0: not known */
};

/* What was known of a pair before. */
struct ar_undo {
	struct ar_pair pair;
	bool reached;
	uint64_t set[HD_PORT_SET_WORDS];
};

/* A pair that gets other ports. */
struct ar_renewal {
	struct ar_pair pair; /* its step is not known */
	uint32_t next; /* the next one for the destination; HD_NONE: none */
	uint64_t set[HD_PORT_SET_WORDS];
};

/* A channel is a directed link: slot * ports + the port that it leaves. */
struct hd_ar_graph {
	struct hd_arena arena;
	uint32_t slots, destinations; /* two for each switch, and room for LIDs by themselves */
	uint32_t split; /* from there on no destination is in use */
	uint32_t *home; /* by destination beyond those of switches: where its LID came from */
	uint32_t ports, words; /* ports: above the highest one; words: of a set of ports */
	uint64_t *guid; /* [slots] ascending */
	uint32_t *sw; /* [slots] of the fabric; HD_NONE: it is away */
	uint32_t *slot; /* [slots] of the switches of the fabric */
	bool *sends; /* [slots] adapters are cabled to it */
	uint32_t *far_slot; /* [channels] where it leads; HD_NONE: to no switch */
	uint8_t *far_port; /* [channels] */
	uint32_t lid_count;
	uint32_t *destination; /* [lid_count] HD_NONE: none; freed with free() */
	uint32_t *lids; /* LIDs by destination; freed with free() */
	uint32_t *first_lid; /* [destinations + 1] into lids */
	struct ar_column *columns; /* [destinations] */
	uint16_t *count; /* [channels * ports] destinations that have the dependency */
	uint64_t *waits; /* [channels * words] whether that is not 0 */
	uint32_t *rank; /* [channels] a channel comes after all that it waits for */
	bool disordered; /* by a dependency that was added since */
	/* ---- of the change at hand ---- */
	bool *unstable; /* [destinations] it has other LIDs */
	uint64_t *is_marked, *has_changed; /* [slots * destinations / 64] by slot and destination */
	struct ar_pair *marked; /* until the change is settled */
	size_t mark_count, mark_room, sorted;
	struct ar_renewal *renewals; /* of the step at hand */
	size_t renewed, renewal_room;
	uint32_t *first_renewal; /* [destinations] HD_NONE: none */
	struct ar_undo *log;
	size_t logged, log_room;
	struct ar_pair *pairs; /* where it may have changed whether packets come */
	size_t paired, pair_room;
	bool failed; /* memory was short */
	/* ---- memory of searches ---- */
	uint64_t *group[2]; /* [(HD_AR_GROUPS_MAX + 1) * words] */
	uint64_t *left; /* [channels * words] */
	uint32_t *path; /* [channels]; after -ELOOP the loop */
	uint32_t loop;
	uint8_t *state; /* [channels] */
};

/*
 * What switches have: a switch on which the plan has AR sends by the static ports and groups of the plan, any other
 * one by its forwarding table.
 */
struct ar_state {
	const uint8_t *const
	    *rows; /* [switch_count] forwarding tables; NULL: there is no such state */
	const struct hd_ar_plan *plan; /* in the shape of the fabric; NULL: no AR */
};

/*
 * Takes over the cables, the adapters and the LIDs of the fabric. Marks what changes by that. Errors: -ESTALE a
 * switch that the graph does not know, -ENOMEM. Cost: O(ports + LIDs), and that of what is lost.
 */
int ar_graph_take_fabric(struct hd_ar_graph *graph, const struct hd_fabric *fabric);

/* Says that the entries of a switch of the fabric for a destination may change, or do (`changes`). Their
 * step is 0. */
void ar_graph_mark(struct hd_ar_graph *graph, uint32_t sw, uint32_t destination, bool changes);

/* Whether they do, by slot. */
static inline bool ar_graph_has_changed(const struct hd_ar_graph *graph, uint32_t slot,
					uint32_t destination)
{
	const size_t bit = (size_t)slot * graph->destinations + destination;

	return graph->has_changed[bit / 64] >> bit % 64 & 1;
}

/* No entries do. They stay marked. */
void ar_graph_begin_change(struct hd_ar_graph *graph);

/* The destination of a LID; HD_NONE: none. */
static inline uint32_t ar_graph_destination(const struct hd_ar_graph *graph, uint32_t lid)
{
	return lid < graph->lid_count ? graph->destination[lid] : HD_NONE;
}

/* Sorts what is marked by slot and destination. */
void ar_graph_sort(struct hd_ar_graph *graph);

/*
 * All that is marked becomes what it is in a step of the change from states[0] to states[1]: entries of earlier steps
 * have changed, those of later ones have not, and of those of the step nobody knows. In step 0 all is as in states[0], in
 * AR_GRAPH_LAST as in states[1]. Errors: -ELOOP, -ENOMEM; without a reason. Cost: O(LIDs of the marked entries),
 * O(radix) for each entry that changes, and O(links * radix) where the order of channels does not fit what is new.
 */
#define AR_GRAPH_LAST UINT32_MAX
int ar_graph_try(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t step);

/* Destinations whose LIDs may have the last loop, which was found in states[state], only together, into
 * out[destinations]. Returns how many. */
uint32_t ar_graph_find_split(struct hd_ar_graph *graph, const struct ar_state states[2],
			     unsigned state, uint32_t *out);

/*
 * Gives each of their LIDs a destination of its own; all is as in states[0].
 * Errors: -ELOOP no room for them, nothing has changed; -ENOMEM.
 */
int ar_graph_split(struct hd_ar_graph *graph, const struct ar_state states[2], const uint32_t *list,
		   uint32_t count);

/* All that was tried since the last one of both is kept, or was never tried. */
void ar_graph_keep(struct hd_ar_graph *graph);
void ar_graph_undo(struct hd_ar_graph *graph);

/* The loop that the last ar_graph_try() has found, as a reason. Returns -ELOOP. */
int ar_graph_name_loop(const struct hd_ar_graph *graph, const struct hd_fabric *fabric,
		       struct hd_error *err);

/* ---- entries ---- */

/* The entries of a switch in both states. Valid until another switch is loaded. */
struct ar_entries {
	const uint8_t *ports[2]; /* by LID; NULL: there is no such state */
	const uint16_t *groups[2]; /* by LID; NULL: none is adaptive */
	const uint64_t *group[2]; /* ports to switches, by group */
	const uint32_t *far_slot; /* by port */
};

void ar_graph_load(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t slot,
		   struct ar_entries *entries);

/* Adds the ports to switches of one state for a LID to set[words]. */
void ar_graph_unite_lid(const struct hd_ar_graph *graph, const struct ar_entries *entries,
			unsigned state, uint32_t lid, uint64_t *set);

/* Adds the ports to switches of one state for all LIDs of a destination to set[words]. */
void ar_graph_unite(const struct hd_ar_graph *graph, const struct ar_entries *entries,
		    unsigned state, uint32_t destination, uint64_t *set);

/* ---- for the files of the graph ---- */

static inline bool ar_graph_has(const uint64_t *set, uint32_t port)
{
	return set[port / 64] >> port % 64 & 1;
}

/* Whether packets to the destination have a dependency of a channel on the next one. */
static inline bool ar_graph_depends(const struct hd_ar_graph *graph, uint32_t destination,
				    uint32_t channel, uint32_t next)
{
	const struct ar_column *column = &graph->columns[destination];
	const size_t from = channel / graph->ports, to = next / graph->ports;

	return column->sets && column->reached[from] &&
	       ar_graph_has(column->sets + from * graph->words, channel % graph->ports) &&
	       ar_graph_has(column->sets + to * graph->words, next % graph->ports);
}

static inline size_t ar_graph_channels(const struct hd_ar_graph *graph)
{
	return (size_t)graph->slots * graph->ports;
}

/* Other ports for a destination. Then ar_graph_spread(). */
void ar_graph_change(struct hd_ar_graph *graph, uint32_t destination, uint32_t slot,
		     const uint64_t *set);

/* Packets may come to the switch now, or no longer. */
void ar_graph_pair(struct hd_ar_graph *graph, uint32_t destination, uint32_t slot);

/* Follows packets from there on. */
void ar_graph_spread(struct hd_ar_graph *graph);

/* Only where packets come that did not; nothing is noted for ar_graph_undo(). */
void ar_graph_follow(struct hd_ar_graph *graph);

/* The slot of a switch; HD_NONE: none. O(log slots). */
uint32_t ar_graph_find_slot(const struct hd_ar_graph *graph, uint64_t guid);

/* Memory for a destination, unless it has it. Errors: -ENOMEM. */
int ar_graph_open(struct hd_ar_graph *graph, uint32_t destination);

/* Lists the LIDs of each destination again. Errors: -ENOMEM. */
int ar_graph_list_lids(struct hd_ar_graph *graph);

/* Ranks all channels. Errors: -ELOOP. */
int ar_graph_order(struct hd_ar_graph *graph);

#endif
