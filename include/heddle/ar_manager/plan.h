/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The plan of adaptive routing: for each switch a table of groups of ports, and for each LID the
 * group among whose ports the switch may choose, packet by packet. A plan stands on forwarding
 * tables of any engine: each entry keeps the port of these tables as its static port, which is
 * valid in every state.
 *
 * An entry is adaptive where its group has two ports or more and the static port is one of them;
 * all others are static. LIDs of switches and of aggregation nodes are always static.
 *
 * Aggregation nodes and other adapters on upper switches may have to descend, then climb. The tables
 * make such turns in few places. If groups would let them close a credit loop elsewhere, TREE and
 * LAG leave ports out of these groups.
 *
 * On a fabric that is a tree only in part, TREE also leaves out ports by which hosts close a loop.
 * Directors, which are trees inside, and which leaves or other directors are cabled to, are trees.
 *
 * Source: adaptive routing as in InfiniBand HDR switches; the algorithms LAG, TREE and DFP are
 * those that vendors' subnet managers offer.
 */
#ifndef HEDDLE_AR_MANAGER_PLAN_H
#define HEDDLE_AR_MANAGER_PLAN_H

#include <heddle/ar_manager/proof.h>
#include <heddle/base/port_set.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>

#define HD_AR_GROUPS_MAX 4095u /* most that a switch can say in 12 bits */
#define HD_AR_OLD_GROUPS_MAX 256u /* an entry of the old form has 8 bits for the group */
#define HD_AR_NO_GROUP 0xFFFFu /* a static entry */
#define HD_AR_SUB_GROUPS 2u /* that a plan uses at most */
#define HD_AR_NOTES_MAX 4u
#define HD_AR_REMEDY_TEXT 192u
#define HD_AR_TABLES 3u /* that a plan uses at most: private forwarding tables of DFP */

enum hd_ar_algorithm {
	HD_AR_AUTO, /* DFP on Dragonfly+, else TREE, else LAG */
	HD_AR_LAG, /* a group is all ports to the neighbour to which the static port leads */
	/* a group is all ports on a path of fewest hops to the destination switch; where these can
	 * deadlock, on a path that climbs, then descends */
	HD_AR_TREE,
	HD_AR_DFP /* Dragonfly+: minimal ports, and ports to another island */
};

/* How an entry is used; the values are those on the wire. */
enum hd_ar_state {
	HD_AR_BOUNDED, /* the port changes only after a pause in the traffic */
	HD_AR_FREE, /* the port may change with each packet */
	HD_AR_STATIC, /* always the static port */
	HD_AR_HASH_BASED /* read from switches; no plan has it */
};

/* Which AR tables a switch understands. */
enum hd_ar_form { HD_AR_FORM_NONE, HD_AR_FORM_OLD, HD_AR_FORM_REV1 };

/* What a switch says that it can do. */
struct hd_ar_capability {
	enum hd_ar_form form;
	uint32_t group_cap; /* groups that it has room for; 0: no AR */
	uint32_t sub_groups; /* in a group; 0 counts as 1 */
	bool private_tables; /* private forwarding tables, which DFP needs */
};

/* All that a plan can use: what a fabric is taken for when nothing is known of its switches. */
extern const struct hd_ar_capability hd_ar_capability_full;

struct hd_ar_group {
	struct hd_port_set ports[HD_AR_SUB_GROUPS]; /* all empty: the number is not in use */
};

struct hd_ar_row;

struct hd_ar_switch {
	uint64_t guid;
	/* Owns the groups and entries. Several plans may have the same row, which nobody changes then. NULL:
	 * the plan itself owns them. */
	const struct hd_ar_row *row;
	enum hd_ar_form form; /* NONE: all entries are static, there is nothing to program */
	uint32_t sub_groups; /* of each group: 1 or HD_AR_SUB_GROUPS */
	uint32_t group_count; /* the highest number in use + 1 */
	const struct hd_ar_group *groups; /* [group_count] by number */
	uint32_t used; /* numbers in use */
	uint32_t wanted; /* groups that the switch would need if it had room for all */
	/* With private tables: packets that arrive by these ports come from above. */
	struct hd_port_set above;
	uint32_t port_count; /* highest port of the switch; only with private tables */
	/* By table, [lid_count] each; tables beyond the plan's table_count are NULL. */
	const uint16_t *lid_group[HD_AR_TABLES]; /* HD_AR_NO_GROUP: static */
	const uint8_t *lid_port[HD_AR_TABLES]; /* the static port; HD_NO_PORT: no route */
};

struct hd_ar_plan {
	enum hd_ar_algorithm algorithm; /* the one that was used, never AUTO */
	enum hd_ar_state mode; /* of adaptive entries: BOUNDED or FREE */
	uint32_t switch_count, lid_count;
	/*
	 * Forwarding tables of a switch: 1, or for DFP 3. Of these table 0 is for packets that come
	 * from above, 1 for those from below, and 2 for those from below on the raised lane.
	 */
	uint32_t table_count;
	const struct hd_ar_switch
	    *switches; /* [switch_count] by ascending GUID, as in the fabric */
	uint64_t entries; /* of all tables that have a port */
	uint64_t possible; /* that would be adaptive if all switches had AR and room */
	uint64_t adaptive; /* that are adaptive */
	uint32_t full; /* switches with AR that had no room for all groups */
	struct hd_ar_proof proof; /* what was proved */
};

enum hd_ar_note_kind {
	HD_AR_NOTE_REFUSED, /* the algorithm makes no plan */
	HD_AR_NOTE_FEWER, /* by the algorithm fewer entries would be adaptive than in the plan */
	HD_AR_NOTE_STATIC, /* entries are static that the definition of the algorithm makes adaptive */
	HD_AR_NOTE_NOTHING /* no entry is adaptive */
};

/* Why not more entries are adaptive. */
struct hd_ar_note {
	enum hd_ar_note_kind kind;
	enum hd_ar_algorithm algorithm;
	uint64_t entries; /* of STATIC */
	char cause[HD_ERROR_TEXT]; /* which switch, which cable */
	char remedy[HD_AR_REMEDY_TEXT]; /* what would allow it; "": that is not known */
};

struct hd_ar_notes {
	uint32_t count;
	struct hd_ar_note list[HD_AR_NOTES_MAX]; /* [count] in the order of the algorithms */
};

struct hd_ar_request {
	const struct hd_fabric *fabric;
	const struct hd_routes *routes; /* in the fabric's shape, with their service levels */
	const struct hd_ar_capability *capabilities; /* [switch_count]; NULL: all full */
	/* The plan in force, of this fabric or of an earlier state of it, or NULL: a group with the
	 * same ports keeps its number. */
	const struct hd_ar_plan *previous;
	enum hd_ar_algorithm algorithm;
	enum hd_ar_state mode; /* BOUNDED or FREE */
	uint32_t group_cap; /* upper limit for all switches; 0: none but their own */
	/* The caller proves the plan, and asks again without this if he finds a credit loop: only then ports are left
	 * out where groups could close one, or another algorithm is taken. The plan's `proof` is zero. */
	bool unproved;
	unsigned threads; /* 0 = 1; never changes the result */
	const struct hd_log *log; /* remarks; NULL = none */
	struct hd_go_on go_on; /* asked for every few switches and destinations */
	/* Result, also if there is no plan: why not more entries are adaptive. NULL: nobody asks. A
	 * fabric that is no Dragonfly+ is no cause, unless DFP is asked for by name. */
	struct hd_ar_notes *notes;
};

/*
 * Makes and proves a plan; *out is freed with hd_ar_plan_free(). The proof covers all ports of all
 * groups. If hosts alone close a credit loop in them, TREE looks for the levels of the fabric, and follows
 * paths that climb, then descend. If there are none, and with the other algorithms, the plan is refused with
 * -ELOOP, the reason names the loop, and *loop has it (loop may be NULL; free it with hd_ar_loop_free()). If the tables
 * have a loop without any group, reason and loop are those of the tables. AUTO
 * goes on with the next algorithm instead; also if TREE has left ports out of hosts' groups, and more entries are
 * adaptive by LAG. Where a switch has too few groups, it keeps those that serve most (ports times
 * LIDs). A group that has lost or got ports keeps its number; other new groups get numbers that are
 * free in `previous` too, as long as there are any.
 *
 * A switch whose groups and entries are those of `previous` shares its row with it.
 *
 * Errors: -ELOOP, -ENOTSUP DFP on a fabric that is no Dragonfly+ or whose switches cannot do it,
 * -EINVAL shapes that differ, -ECANCELED, -ENOMEM. Cost: O(switches * (LIDs + links)) and the proof.
 * Where ports are left out: that of some proofs more, LID by LID; at most ten rounds, then as many as there
 * are destination switches with a loop. If `previous` is a plan of this function by the
 * same algorithm, TREE or LAG without such ports: a comparison of the static ports, and O(LIDs) for each switch
 * that has other entries than before; the rest costs as much as what has changed.
 */
int hd_ar_plan_new(const struct hd_ar_request *request, struct hd_ar_plan **out,
		   struct hd_ar_loop **loop, struct hd_error *err);

/* NULL is allowed. */
void hd_ar_plan_free(struct hd_ar_plan *plan);

/* Whether two switches share their row: they have the same groups and entries. False says nothing. O(1). */
static inline bool hd_ar_switch_same(const struct hd_ar_switch *a, const struct hd_ar_switch *b)
{
	return a->row && a->row == b->row;
}

/* Group of an entry, HD_AR_NO_GROUP for a static one. All numbers must be within the plan's. */
static inline uint32_t hd_ar_plan_group(const struct hd_ar_plan *plan, uint32_t sw, uint32_t table,
					uint32_t lid)
{
	return plan->switches[sw].lid_group[table][lid];
}

/* State of an entry. */
static inline enum hd_ar_state hd_ar_plan_state(const struct hd_ar_plan *plan, uint32_t sw,
						uint32_t table, uint32_t lid)
{
	return hd_ar_plan_group(plan, sw, table, lid) == HD_AR_NO_GROUP ? HD_AR_STATIC : plan->mode;
}

/* Index of the switch with that GUID, or HD_NONE. O(log switches). */
uint32_t hd_ar_plan_find(const struct hd_ar_plan *plan, uint64_t guid);

/* Whether both would program the same groups and entries. O(switches), and O(LIDs) for each switch that does not
 * share its row. */
bool hd_ar_plan_equal(const struct hd_ar_plan *a, const struct hd_ar_plan *b);

/* adaptive / entries, 0 without entries; and possible / entries. */
double hd_ar_plan_share(const struct hd_ar_plan *plan);
double hd_ar_plan_possible_share(const struct hd_ar_plan *plan);

/* "lag", "tree", "dfp", "auto"; and back: false if it is none of them. */
const char *hd_ar_algorithm_name(enum hd_ar_algorithm algorithm);
bool hd_ar_algorithm_find(const char *name, enum hd_ar_algorithm *out);

/* "refused", "fewer", "static", "nothing". */
const char *hd_ar_note_kind_name(enum hd_ar_note_kind kind);

/* The note as one sentence without a full stop: what is so, its cause, and what would allow more. Writes at most
 * size bytes, always terminated, and returns buffer. */
const char *hd_ar_note_text(const struct hd_ar_note *note, char *buffer, size_t size);

#define HD_AR_NOTE_TEXT 1024u /* room for any such sentence */

/* "bounded", "free", "static", "hash". */
const char *hd_ar_state_name(enum hd_ar_state state);

/* A group has no port. */
static inline bool hd_ar_group_is_empty(const struct hd_ar_group *group)
{
	return hd_port_set_is_empty(&group->ports[0]) && hd_port_set_is_empty(&group->ports[1]);
}

static inline bool hd_ar_group_equal(const struct hd_ar_group *a, const struct hd_ar_group *b)
{
	return hd_port_set_equal(&a->ports[0], &b->ports[0]) &&
	       hd_port_set_equal(&a->ports[1], &b->ports[1]);
}

/* ---- plans and tables ---- */

/* Whether a plan that was read from a file belongs to these tables. */

/*
 * Looks for entries of the plan by which packets would be lost, at switches with groups, for LIDs
 * that the tables route: an entry that is missing; a static port that is not that of the tables (in
 * plans without private tables); a port of a group that has no cable, that leads to an adapter
 * without the LID, or to a switch without a route to the LID. *wrong is their number. Returns 0 if that
 * is 0, else -EINVAL with the first one in `err`. Whether packets arrive is not proved beyond the
 * next hop. `go_on` (NULL: never stop) is asked three times for each switch. Errors: -ECANCELED, -ENOMEM; then *wrong is
 * not written. Cost: O(switches * LIDs), a comparison of bytes; times the ports of a group at switches where something may
 * be wrong.
 */
int hd_ar_plan_check(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
		     const struct hd_routes *routes, const struct hd_go_on *go_on, uint64_t *wrong,
		     struct hd_error *err);

/* ---- what switches hold ---- */

/* What switches may hold when some of them have not answered. */

/*
 * A plan for proofs, in the shape of the fabric, to be freed with hd_ar_plan_free(). It says what
 * the switches may do: those that are stuck[switch_count] whatever `held` or `plan` says, static
 * ports too; all others what `plan` says (NULL: they have no AR). Nobody may program it: it has
 * groups of one port. Plans with private tables (DFP) are not united: it is a copy of `plan`, or of
 * `held` if only that has private tables and a switch is stuck. It shares the rows of the others. Errors: -ENOMEM.
 * Cost: that of hd_ar_plan_copy_new(), and O(LIDs * groups) for each stuck switch; without `plan` O(switches * LIDs).
 */
int hd_ar_plan_held(const struct hd_ar_plan *plan, const struct hd_ar_plan *held,
		    const struct hd_fabric *fabric, const bool *stuck, struct hd_ar_plan **out);

/* Whether any switch has AR. */
bool hd_ar_plan_has_groups(const struct hd_ar_plan *plan);

#endif
