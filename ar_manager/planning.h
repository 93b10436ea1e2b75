/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The making of a plan, switch by switch. An algorithm says for each switch which entries want
 * which groups; the rest is the same for all.
 */
#ifndef AR_MANAGER_PLANNING_H
#define AR_MANAGER_PLANNING_H

#include "groups.h"
#include "host_lids.h"
#include "link_sets.h"
#include "plan_data.h"

/* Entries of the switches that one thread has done. */
struct planner_tally {
	uint64_t entries, possible, adaptive;
	uint32_t full;
};

struct planner_worker {
	struct groups_chooser chooser;
	/* Of the switch at hand, [tables * lid_count]: what becomes its row. */
	uint16_t *lid_group;
	uint8_t *lid_port;
	struct plan_again_work *again; /* NULL: the plan is not made by the one before */
	bool failed; /* no memory */
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
	const struct planner_algorithm *algorithm;
	const bool
	    *stray; /* [isl_count] the link is in no group, and in no hop count; NULL: none */
	const uint8_t *hops; /* [switch_count * hop_stride] of TREE */
	size_t hop_stride; /* of a row */
	const uint8_t *
	    level; /* [hop_stride] hops to the nearest switch with hosts; NULL: groups may turn at leaves */
	uint8_t top; /* the highest level */
	struct plan_changes
	    *changes; /* what has changed since the previous plan; NULL: all counts as changed */
	uint32_t words; /* of a set of links */
	uint32_t wish_room; /* most wishes of a switch */
	void *context; /* of the algorithm, in the arena */
	struct planner_worker *workers;
	unsigned worker_count;
	struct plan_holder *holder;
	struct hd_ar_switch *switches; /* of the holder's plan */
};

struct planner_algorithm {
	enum hd_ar_algorithm algorithm;
	const char *name;
	uint32_t table_count;
	uint32_t sub_groups;
	/* Says how many wishes a switch can have at most, and prepares context and workers. Errors:
	 * -ENOTSUP the fabric is not of the algorithm's kind, -ENOMEM. */
	int (*prepare)(struct planner *planner, struct hd_error *err);
	/* Fills the wishes of the worker, and in its rows the static ports
	 * and, in place of groups, the wish of each entry. */
	void (*wish)(const struct planner *planner, struct planner_worker *worker, uint32_t sw);
	/* For plans that are made by the one before; both NULL: none is. Entries of one class want the same
	 * links. The class of a LID with that static port, HD_NONE: the entry is static. */
	uint32_t (*class_of)(const struct planner *planner, uint32_t sw, uint32_t lid,
			     uint8_t link);
	/* Fills worker->set with the links of a class. */
	void (*set_of)(const struct planner *planner, struct planner_worker *worker, uint32_t sw,
		       uint32_t class);
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

/* The entries of the switch at hand. */
static inline uint16_t *planning_groups(const struct planner *planner,
					const struct planner_worker *worker, uint32_t table)
{
	return worker->lid_group + (size_t)table * planner->fabric->lid_count;
}

static inline uint8_t *planning_ports(const struct planner *planner,
				      const struct planner_worker *worker, uint32_t table)
{
	return worker->lid_port + (size_t)table * planner->fabric->lid_count;
}

/* What a switch can do. */
static inline const struct hd_ar_capability *planning_capability(const struct planner *planner,
								 uint32_t sw)
{
	return planner->request->capabilities ? &planner->request->capabilities[sw]
					      : &hd_ar_capability_full;
}

/* Groups that the switch has room for; 0: it has no AR. */
static inline uint32_t planning_room(const struct planner *planner, uint32_t sw)
{
	const struct hd_ar_capability *can = planning_capability(planner, sw);
	uint32_t most = can->form == HD_AR_FORM_OLD ? HD_AR_OLD_GROUPS_MAX : HD_AR_GROUPS_MAX;
	uint32_t limit = planner->request->group_cap;

	if (can->form == HD_AR_FORM_NONE)
		return 0;
	most = can->group_cap < most ? can->group_cap : most;
	return limit && limit < most ? limit : most;
}

/* Makes a plan with one algorithm, without its proof. Groups leave out the links that are cut
 * (NULL: none). *out is freed with hd_ar_plan_free(). Errors:
 * those of the algorithm, -ECANCELED, -ENOMEM. */
int planner_run(const struct hd_ar_request *request, const struct planner_algorithm *algorithm,
		const struct cuts *cuts, struct hd_ar_plan **out, struct hd_error *err);

#endif
