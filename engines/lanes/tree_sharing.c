/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_sharing.h"

#include <errno.h>
#include <stdlib.h>

#define NO_DESTINATION UINT32_MAX

/* Steps along paths and links searched after which no further LID gets a tree of its own: some
 * seconds. */
#define WORK_MAX UINT64_C(200000000)

/* Destinations with trees of their own, as a list for each switch. */
struct owners {
	uint32_t *head; /* [switch_count] the last of the list, NO_DESTINATION = none */
	uint32_t *next; /* [destination_count] */
	uint32_t *users; /* [destination_count] of that destination's tree */
};

/* ---- the order: base LIDs first, one of each switch after the other ---- */

struct ordered {
	struct lane_assignment_destination destination;
	uint32_t offset; /* of the LID, among those of its port */
	uint32_t turn; /* among the destinations of its switch that have that offset */
	uint32_t number;
};

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static uint32_t lid_offset(const struct hd_fabric *fabric, uint32_t lid)
{
	return lid - fabric->lid[fabric->lid_owner[lid]];
}

/* Sorts the destinations, and counts those that are the first of their switch. */
static int order_destinations(struct lane_assignment *assignment, uint32_t *first_count)
{
	uint32_t *met = calloc(assignment->fabric->switch_count, sizeof(*met));
	struct ordered *ordered = calloc(assignment->destination_count + 1, sizeof(*ordered));
	bool good = met && ordered;

	*first_count = 0;
	for (uint32_t i = 0; good && i < assignment->destination_count; i++) {
		struct lane_assignment_destination destination = assignment->destinations[i];
		uint32_t offset = lid_offset(assignment->fabric, destination.lid);
		*first_count += offset == 0 && met[destination.sw] == 0;
		ordered[i] =
		    (struct ordered){destination, offset, offset ? 0 : met[destination.sw]++, i};
	}
	if (good)
		qsort(ordered, assignment->destination_count, sizeof(*ordered), compare_ordered);
	for (uint32_t i = 0; good && i < assignment->destination_count; i++)
		assignment->destinations[i] = ordered[i].destination;
	free(met);
	free(ordered);
	return good ? 0 : -ENOMEM;
}

/* ---- sharing ---- */

static int owners_init(struct owners *owners, struct lane_assignment *assignment)
{
	uint32_t switches = assignment->fabric->switch_count;
	struct hd_arena *arena = &assignment->arena;

	owners->head = hd_arena_alloc(arena, switches, sizeof(*owners->head));
	owners->next = hd_arena_alloc(arena, assignment->destination_count, sizeof(*owners->next));
	owners->users =
	    hd_arena_alloc(arena, assignment->destination_count, sizeof(*owners->users));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memset(owners->head, 0xFF, switches * sizeof(*owners->head));
	return 0;
}

static void own(struct owners *owners, const struct lane_assignment *assignment,
		uint32_t destination)
{
	uint32_t sw = assignment->destinations[destination].sw;

	owners->next[destination] = owners->head[sw];
	owners->head[sw] = destination;
	owners->users[destination] = 1;
}

static uint8_t lmc_of(const struct lane_assignment *assignment, uint32_t destination)
{
	const struct hd_fabric *fabric = assignment->fabric;

	return fabric->lmc[fabric->lid_owner[assignment->destinations[destination].lid]];
}

/*
 * The tree with the fewest users at that switch, the earliest of equal ones. Trees of ports with
 * another LMC come last: engines may route these by other rules, and would undo the sharing.
 */
static uint32_t least_used(const struct owners *owners, const struct lane_assignment *assignment,
			   uint32_t wanting)
{
	uint32_t best = owners->head[assignment->destinations[wanting].sw];
	uint8_t lmc = lmc_of(assignment, wanting);

	for (uint32_t destination = best; destination != NO_DESTINATION;
	     destination = owners->next[destination]) {
		bool alike = lmc_of(assignment, destination) == lmc,
		     best_alike = lmc_of(assignment, best) == lmc;
		if (alike > best_alike ||
		    (alike == best_alike && owners->users[destination] <= owners->users[best]))
			best = destination;
	}
	return best;
}

/* Gives a destination the lanes of another one at its switch. */
static void share(struct lane_assignment *assignment,
		  const struct lane_assignment_destination *destination,
		  const struct lane_assignment_destination *like, struct lane_rounds_table *table,
		  struct tree_sharing *sharing)
{
	for (uint32_t s = 0; s < assignment->source_count; s++) {
		uint32_t source = assignment->sources[s];
		if (source != destination->sw)
			*lane_assignment_lane(assignment, table->lane, source, destination->lid) =
			    *lane_assignment_lane(assignment, table->lane, source, like->lid);
	}
	sharing->items[sharing->count++] =
	    (struct tree_sharing_item){destination->lid, like->lid, destination->sw};
}

static int add_others(struct lane_assignment *assignment, unsigned available, uint32_t first_count,
		      struct lane_rounds_table *table, struct tree_sharing *sharing)
{
	uint64_t most = lane_assignment_work(assignment) + WORK_MAX;
	struct owners owners;

	if (owners_init(&owners, assignment))
		return -ENOMEM;
	for (uint32_t i = 0; i < first_count; i++)
		own(&owners, assignment, i);
	for (uint32_t i = first_count; i < assignment->destination_count; i++) {
		const struct lane_assignment_destination *destination =
		    &assignment->destinations[i];
		int rc = lane_assignment_work(assignment) < most
			     ? lane_assignment_add(assignment, destination, available, table->lane)
			     : -ENOSPC;
		if (!rc) {
			own(&owners, assignment, i);
			continue;
		}
		if (rc != -ENOSPC)
			return rc;
		uint32_t like = least_used(&owners, assignment, i);
		owners.users[like]++;
		share(assignment, destination, &assignment->destinations[like], table, sharing);
	}
	return 0;
}

/* Assigns lanes to the first destination of each switch, as the last round of the assignment. */
static int assign_first(struct lane_assignment *assignment, unsigned available,
			uint32_t first_count, struct lane_rounds_table *table)
{
	uint32_t destination_count = assignment->destination_count;

	assignment->destination_count = first_count;
	int rc = lane_rounds_fresh(assignment, available, table);
	if (!rc && table->lanes > available)
		rc = -ENOSPC;
	if (!rc)
		rc = lane_assignment_keep(assignment, table->lanes, table->lane);
	assignment->destination_count = destination_count;
	return rc;
}

int tree_sharing_find(struct lane_assignment *assignment, unsigned available,
		      struct lane_rounds_table *table, struct tree_sharing *out)
{
	uint32_t first_count;

	*out = (struct tree_sharing){.items = hd_arena_alloc(&assignment->arena,
							     assignment->destination_count,
							     sizeof(*out->items))};
	if (hd_arena_check(&assignment->arena) || order_destinations(assignment, &first_count))
		return -ENOMEM;
	int rc = assign_first(assignment, available, first_count, table);
	if (!rc)
		rc = add_others(assignment, available, first_count, table, out);
	table->lanes = rc ? table->lanes : assignment->used;
	return rc;
}
