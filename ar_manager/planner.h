/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The making of a plan, switch by switch. An algorithm says for each switch which entries want
 * which groups; the rest is the same for all.
 */
#ifndef AR_MANAGER_PLANNER_H
#define AR_MANAGER_PLANNER_H

#include "cuts.h"
#include "host_lids.h"
#include "link_sets.h"
#include "plan_holder.h"

/* A group that entries of a switch want; all wishes of a switch differ. */
struct groups_wish {
	struct hd_ar_group group;
	uint64_t lids; /* entries that want it */
	uint32_t heir_of; /* group of the previous plan that the first of them has, or NO_GROUP */
	uint32_t number; /* result: HD_AR_NO_GROUP where there is no room */
	/* scratch */
	uint64_t benefit;
	uint32_t index; /* among the wishes */
	uint32_t before; /* its number in the previous plan, HD_AR_NO_GROUP: none */
};

/* Memory of one thread. */
struct groups_chooser {
	struct groups_wish *order; /* [room] */
	uint32_t room; /* most wishes of a switch */
	uint16_t *slots; /* numbers of the previous plan + 1, by hash */
	uint8_t *taken; /* [HD_AR_GROUPS_MAX] by number: in use in the new plan */
};

/* Entries of the switches that one thread has done. */
struct planner_tally {
	uint64_t entries, possible, adaptive;
	uint32_t full;
};

struct planner_worker {
	struct hd_arena *arena;
	struct groups_chooser chooser;
	struct groups_wish *wishes; /* [wish_room] of the switch at hand */
	uint32_t wish_count;
	struct link_sets sets; /* of TREE and LAG: one for each wish */
	uint32_t *set_of_class; /* of TREE and LAG: HD_AR_NO_GROUP where no choice is left */
	uint32_t *class_of_lid; /* of LAG */
	uint8_t *planes; /* of TREE */
	uint64_t *set; /* [words] */
	uint64_t *wanted; /* [words] of TREE: the set without what is cut */
	struct planner_tally tally;
};

struct planner {
	const struct hd_ar_request *request;
	const struct hd_fabric *fabric;
	struct hd_arena arena; /* until the plan is made */
	struct host_lids lids;
	const struct cuts *cuts; /* NULL: none */
	uint32_t words; /* of a set of links */
	uint32_t wish_room; /* most wishes of a switch */
	void *context; /* of the algorithm, in the arena */
	struct planner_worker *workers;
	struct plan_holder *holder;
	struct hd_ar_switch *switches; /* of the holder's plan */
	uint16_t *lid_group; /* [tables * switch_count * lid_count] of the plan */
	uint8_t *lid_port; /* the same */
};

struct planner_algorithm {
	enum hd_ar_algorithm algorithm;
	const char *name;
	uint32_t table_count;
	uint32_t sub_groups;
	/* Says how many wishes a switch can have at most, and prepares context and workers. Errors:
	 * -ENOTSUP the fabric is not of the algorithm's kind, -ENOMEM. */
	int (*prepare)(struct planner *planner, struct hd_error *err);
	/* Fills the wishes of the worker, and in the plan's rows of the switch the static ports
	 * and, in place of groups, the wish of each entry. */
	void (*wish)(const struct planner *planner, struct planner_worker *worker, uint32_t sw);
	/* A variant for fabrics on which groups could deadlock, or reach less; NULL: none. Of both
	 * plans that with more adaptive entries is taken. */
	const struct planner_algorithm *careful;
	/* A variant whose groups follow paths that climb, then descend, for fabrics on which those of
	 * the others could deadlock; NULL: none. */
	const struct planner_algorithm *climbing;
	/* One whose groups have also all ports of the algorithm itself, with `climbing`. */
	const struct planner_algorithm *united;
};

extern const struct planner_algorithm planner_lag, planner_tree, planner_dfp;

/* The rows of a switch in the plan's tables. */
static inline uint16_t *planner_groups(const struct planner *planner, uint32_t sw, uint32_t table)
{
	size_t row = (size_t)table * planner->fabric->switch_count + sw;

	return planner->lid_group + row * planner->fabric->lid_count;
}

static inline uint8_t *planner_ports(const struct planner *planner, uint32_t sw, uint32_t table)
{
	size_t row = (size_t)table * planner->fabric->switch_count + sw;

	return planner->lid_port + row * planner->fabric->lid_count;
}

/* Makes a plan with one algorithm, without its proof. Groups leave out the links that are cut
 * (NULL: none). *out is freed with hd_ar_plan_free(). Errors:
 * those of the algorithm, -ECANCELED, -ENOMEM. */
int planner_run(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		const struct cuts *cuts, struct hd_ar_plan **out, struct hd_error *err);

#endif
