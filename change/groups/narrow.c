/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LIDs that loop without AR while the tables change become static, with their new port at once, and
 * their packets are left out while the tables change. Each round then looks at three graphs, and narrows what lies on their loops:
 *
 * - the static ports while the next plan is programmed, of all LIDs. A switch on a loop whose old
 *   port is part of it gets its AR switched off. Then it leads by its forwarding table, which is
 *   new by then.
 * - static ports and groups while the tables change,
 * - static ports and the groups of both plans while the next plan is programmed. For each
 *   dependency on a loop, the LIDs whose packets have it become static at one of its two switches.
 *
 * Only LIDs that both lose and get links are narrowed. The dependencies of all others are part of
 * the graph before or of the graph after, and neither has a loop.
 */
#include "excused.h"

#include <errno.h>
#include <heddle/ar_manager/circling.h>
#include <heddle/ar_manager/plan_copy.h>
#include <heddle/change/narrow.h>

#define ROUNDS 16

/* What a change does to the links of a LID: bits. */
enum { LOSES = 1, GETS = 2 };

struct narrowing {
	const struct hd_ar_narrow_request *request;
	struct hd_ar_plan_copy held; /* the plan in force */
	struct hd_ar_plan_copy interim; /* the next plan; plan NULL: AR will be off */
	bool *excused; /* [lid_count] the LID loops without AR while the tables change */
	bool *changes; /* [lid_count] the LID loses links, and gets others */
	bool arrived; /* the graph at hand is that of the programming */
	bool fixed; /* only the interim plan is narrowed */
	struct hd_ar_narrowing *out;
	bool found; /* a loop, in this round */
	bool failed; /* no memory */
	struct hd_arena arena;
};

static bool is_stuck(const struct narrowing *narrowing, uint32_t sw)
{
	return narrowing->fixed || (narrowing->request->stuck && narrowing->request->stuck[sw]);
}

/* Lets a switch of the copy be changed. */
static bool own(struct narrowing *narrowing, struct hd_ar_plan_copy *copy, uint32_t sw)
{
	if (hd_ar_plan_copy_own(copy, sw))
		narrowing->failed = true;
	return !narrowing->failed;
}

static uint64_t make_entry_static(struct narrowing *narrowing, struct hd_ar_plan_copy *copy,
				  uint32_t sw, uint32_t lid)
{
	if (!hd_ar_plan_copy_is_adaptive(copy, sw, lid) || !own(narrowing, copy, sw))
		return 0;
	return hd_ar_plan_copy_make_static(copy, sw, lid);
}

static uint64_t switch_off(struct narrowing *narrowing, uint32_t sw)
{
	if (!narrowing->held.switches[sw].used || is_stuck(narrowing, sw) ||
	    !own(narrowing, &narrowing->held, sw))
		return 0;
	narrowing->out->narrowed += hd_ar_plan_copy_switch_off(&narrowing->held, sw);
	narrowing->out->switched_off++;
	return 1;
}

static void switch_all_off(struct narrowing *narrowing)
{
	for (uint32_t sw = 0; sw < narrowing->held.plan->switch_count; sw++)
		switch_off(narrowing, sw);
	narrowing->out->off = true;
}

static uint64_t make_static(struct narrowing *narrowing, uint32_t sw, uint32_t lid)
{
	uint64_t changed =
	    is_stuck(narrowing, sw) ? 0 : make_entry_static(narrowing, &narrowing->held, sw, lid);

	narrowing->out->narrowed += changed;
	return changed;
}

/* ---- what packets can do ---- */

/* A link, and how packets to the LID at hand can take it. */
struct hop {
	uint32_t link, sw; /* that it leaves */
	uint8_t port;
	bool old, now; /* static port of the tables before, of those after */
	bool held, interim; /* a port of the group in that plan */
};

static struct hop hop_of(const struct hd_fabric *fabric, uint32_t link)
{
	return (struct hop){
	    .link = link, .sw = hd_isl_from(fabric, link), .port = fabric->isl_port[link]};
}

static bool has_port(const struct hd_ar_plan_copy *copy, const struct hop *hop, uint32_t lid)
{
	uint32_t number =
	    copy->plan ? hd_ar_plan_group(copy->plan, hop->sw, 0, lid) : HD_AR_NO_GROUP;

	if (number == HD_AR_NO_GROUP)
		return false;
	const struct hd_ar_group *group = &copy->switches[hop->sw].groups[number];
	return hd_port_set_has(&group->ports[0], hop->port) ||
	       hd_port_set_has(&group->ports[1], hop->port);
}

/* The static port that a switch may still have. */
static uint8_t old_port(const struct narrowing *narrowing, uint32_t sw, uint32_t lid)
{
	if (!narrowing->arrived)
		return hd_routes_port(narrowing->request->before, sw, lid);
	return narrowing->held.switches[sw].used ? narrowing->held.switches[sw].lid_port[0][lid]
						 : HD_NO_PORT;
}

/* False: no packet to the LID takes the link. */
static bool look(const struct narrowing *narrowing, struct hop *hop, uint32_t lid)
{
	const struct hd_ar_narrow_request *request = narrowing->request;

	hop->old = old_port(narrowing, hop->sw, lid) == hop->port;
	hop->now = hd_routes_port(request->after, hop->sw, lid) == hop->port;
	hop->held = has_port(&narrowing->held, hop, lid);
	hop->interim = has_port(&narrowing->interim, hop, lid);
	return hop->old || hop->now || hop->held || hop->interim;
}

static bool is_static(const struct hop *hop)
{
	return hop->old || hop->now;
}

/* ---- what is done about a dependency ---- */

/* What is done about a LID whose packets have a dependency. Returns how many entries or switches
 * change. */
typedef uint64_t leave_dependency(struct narrowing *narrowing, const struct hop *first,
				  const struct hop *second, uint32_t lid);

static uint64_t leave_old_ports(struct narrowing *narrowing, const struct hop *first,
				const struct hop *second, uint32_t lid)
{
	uint64_t changed = 0;

	(void)lid;
	if (first->old && !first->now)
		changed += switch_off(narrowing, first->sw);
	if (second->old && !second->now)
		changed += switch_off(narrowing, second->sw);
	return changed;
}

static uint64_t make_interim_static(struct narrowing *narrowing, uint32_t sw, uint32_t lid)
{
	return narrowing->interim.plan ? make_entry_static(narrowing, &narrowing->interim, sw, lid)
				       : 0;
}

/* For packets that arrive only because of a group somewhere before. */
static uint64_t leave_column(struct narrowing *narrowing, const struct hop *first,
			     const struct hop *second, uint32_t lid)
{
	uint64_t changed = 0;

	(void)first;
	(void)second;
	if (!narrowing->changes[lid])
		return 0;
	for (uint32_t sw = 0; sw < narrowing->held.plan->switch_count; sw++)
		changed +=
		    make_static(narrowing, sw, lid) + make_interim_static(narrowing, sw, lid);
	return changed;
}

static uint64_t leave_hop(struct narrowing *narrowing, const struct hop *hop, uint32_t lid)
{
	uint64_t changed = 0;

	if (is_static(hop))
		return 0;
	if (hop->held)
		changed += make_static(narrowing, hop->sw, lid);
	if (hop->interim)
		changed += make_interim_static(narrowing, hop->sw, lid);
	return changed;
}

static uint64_t leave_groups(struct narrowing *narrowing, const struct hop *first,
			     const struct hop *second, uint32_t lid)
{
	uint64_t changed = 0;

	if (!narrowing->changes[lid])
		return 0;
	changed = leave_hop(narrowing, first, lid);
	return changed ? changed : leave_hop(narrowing, second, lid);
}

static uint64_t leave_pair(struct narrowing *narrowing, const struct hd_ar_circling_pair *pair,
			   leave_dependency *leave)
{
	const struct hd_fabric *fabric = narrowing->request->fabric;
	struct hop first = hop_of(fabric, pair->link), second = hop_of(fabric, pair->next);
	uint64_t changed = 0;

	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		if (look(narrowing, &first, lid) && look(narrowing, &second, lid))
			changed += leave(narrowing, &first, &second, lid);
	return changed;
}

static uint64_t leave_pairs(struct narrowing *narrowing, const struct hd_ar_circling *circling,
			    leave_dependency *leave)
{
	uint64_t changed = 0;

	for (size_t i = 0; i < circling->count; i++)
		changed += leave_pair(narrowing, &circling->pairs[i], leave);
	return changed;
}

/* Narrows both switches of each dependency as a whole. */
static uint64_t leave_switches(struct narrowing *narrowing, const struct hd_ar_circling *circling)
{
	uint64_t changed = 0;

	for (size_t i = 0; i < circling->count; i++)
		for (unsigned end = 0; end < 2; end++) {
			const struct hd_ar_circling_pair *pair = &circling->pairs[i];
			uint32_t link = end ? pair->next : pair->link;
			changed +=
			    switch_off(narrowing, hd_isl_from(narrowing->request->fabric, link));
		}
	return changed;
}

/* ---- the rounds ---- */

/* Narrows what lies on the loops of one graph, as little as has an effect. */
static void leave_circling(struct narrowing *narrowing, const struct hd_ar_circling *circling,
			   bool groups)
{
	uint64_t changed = 0;

	if (groups)
		changed = leave_pairs(narrowing, circling, leave_groups);
	if (groups && !changed)
		changed = leave_pairs(narrowing, circling, leave_column);
	if (!groups)
		changed = leave_pairs(narrowing, circling, leave_old_ports);
	if (!changed)
		changed = leave_switches(narrowing, circling);
	if (!changed)
		switch_all_off(narrowing);
}

static int leave_loops(struct narrowing *narrowing, const struct hd_ar_proof_request *request,
		       bool groups, struct hd_error *err)
{
	struct hd_ar_circling circling;
	int rc = hd_ar_circling_find(request, groups, narrowing->changes, &circling, err);

	narrowing->arrived = request->arrived;
	if (!rc && circling.count) {
		narrowing->found = true;
		leave_circling(narrowing, &circling, groups);
	}
	hd_ar_circling_release(&circling);
	return rc;
}

static struct hd_ar_proof_request while_tables_change(const struct narrowing *narrowing)
{
	const struct hd_ar_narrow_request *request = narrowing->request;

	return (struct hd_ar_proof_request){.fabric = request->fabric,
					    .routes = request->after,
					    .before = request->before,
					    .plan = narrowing->held.plan,
					    .excused = narrowing->excused,
					    .threads = request->threads,
					    .go_on = {request->go_on, request->context}};
}

static struct hd_ar_proof_request while_programming(const struct narrowing *narrowing)
{
	struct hd_ar_proof_request request = while_tables_change(narrowing);

	request.arrived = true;
	request.excused = NULL;
	request.next = narrowing->interim.plan;
	return request;
}

/* The entries of one LID are static, with the new port. */
static void excuse_lid(struct narrowing *narrowing, uint32_t lid)
{
	const struct hd_ar_narrow_request *request = narrowing->request;

	narrowing->out->looping++;
	for (uint32_t sw = 0; sw < request->fabric->switch_count; sw++) {
		if (is_stuck(narrowing, sw))
			continue;
		make_static(narrowing, sw, lid);
		if (narrowing->held.switches[sw].lid_port[0][lid] ==
			hd_routes_port(request->after, sw, lid) ||
		    !own(narrowing, &narrowing->held, sw))
			continue;
		hd_ar_plan_copy_ports(&narrowing->held, sw, 0)[lid] =
		    hd_routes_port(request->after, sw, lid);
	}
}

static int excuse(struct narrowing *narrowing, struct hd_error *err)
{
	const struct hd_ar_proof_request tables = while_tables_change(narrowing);
	bool rest_loops = false;
	int rc = excused_find(&tables, narrowing->changes, narrowing->excused, &rest_loops, err);

	for (uint32_t lid = 1; !rc && lid < tables.fabric->lid_count; lid++)
		if (narrowing->excused[lid])
			excuse_lid(narrowing, lid);
	if (!rc && rest_loops)
		switch_all_off(narrowing);
	return rc;
}

static int do_round(struct narrowing *narrowing, struct hd_error *err)
{
	const struct hd_ar_proof_request tables = while_tables_change(narrowing);
	const struct hd_ar_proof_request programming = while_programming(narrowing);
	int rc;

	narrowing->found = false;
	rc = leave_loops(narrowing, &programming, false, err);
	if (!rc && !narrowing->fixed)
		rc = leave_loops(narrowing, &tables, true, err);
	if (!rc)
		rc = leave_loops(narrowing, &programming, true, err);
	return rc;
}

/* All but the stuck switches is off: whether these add to a loop. */
static int look_at_stuck(struct narrowing *narrowing, struct hd_error *err)
{
	struct hd_ar_circling circling = {0};
	const struct hd_ar_proof_request tables = while_tables_change(narrowing);
	int rc = narrowing->request->stuck
		     ? hd_ar_circling_find(&tables, true, narrowing->changes, &circling, err)
		     : 0;

	narrowing->out->unsafe = !rc && circling.count;
	hd_ar_circling_release(&circling);
	return rc;
}

static bool has_time(const struct hd_ar_narrow_request *request)
{
	return !request->go_on || request->go_on(request->context);
}

/* All but the stuck switches is switched off. */
static int give_up(struct narrowing *narrowing, struct hd_error *err)
{
	switch_all_off(narrowing);
	int rc = look_at_stuck(narrowing, err);
	if (rc != -ECANCELED)
		return rc;
	narrowing->out->unsafe = true; /* as far as is known */
	return 0;
}

static int narrow(struct narrowing *narrowing, struct hd_error *err)
{
	int rc = narrowing->fixed ? 0 : excuse(narrowing, err);

	narrowing->found = true;
	for (unsigned round = 0;
	     !rc && narrowing->found && !narrowing->out->off && !narrowing->failed; round++) {
		narrowing->out->late = !has_time(narrowing->request);
		if (round == ROUNDS || narrowing->out->late)
			break;
		rc = do_round(narrowing, err);
	}
	if (rc == -ECANCELED)
		narrowing->out->late = true;
	else if (rc)
		return rc;
	rc = rc || narrowing->found || narrowing->out->off ? give_up(narrowing, err) : 0;
	return !rc && narrowing->failed ? hd_error_no_memory(err) : rc;
}

/* Mixtures with private tables are not proved: all is off while anything changes. */
static int narrow_private(struct narrowing *narrowing, struct hd_error *err)
{
	const struct hd_ar_narrow_request *request = narrowing->request;
	bool stays = request->next && hd_ar_plan_equal(narrowing->held.plan, request->next);

	if (!stays || !hd_routes_equal(request->before, request->after))
		switch_all_off(narrowing);
	narrowing->out->unsafe = narrowing->out->off && request->stuck;
	return narrowing->failed ? hd_error_no_memory(err) : 0;
}

static bool is_private(const struct hd_ar_narrow_request *request)
{
	return request->plan->table_count > 1 || (request->next && request->next->table_count > 1);
}

/* ---- the beginning and the end ---- */

/* The ports to switches that an entry may use. */
static struct hd_port_set ports_of(const struct hd_routes *routes,
				   const struct hd_ar_plan_copy *copy, uint32_t sw, uint32_t lid,
				   const struct hd_port_set *links)
{
	uint32_t number = copy->plan ? hd_ar_plan_group(copy->plan, sw, 0, lid) : HD_AR_NO_GROUP;
	struct hd_port_set ports = {{0}};

	if (number != HD_AR_NO_GROUP) {
		const struct hd_ar_group *group = &copy->switches[sw].groups[number];
		ports = group->ports[0];
		hd_port_set_unite(&ports, &group->ports[1]);
	}
	hd_port_set_add(&ports, hd_routes_port(routes, sw, lid));
	hd_port_set_intersect(&ports, links);
	return ports;
}

static bool has_more(const struct hd_port_set *a, const struct hd_port_set *b)
{
	struct hd_port_set both = *a;

	hd_port_set_intersect(&both, b);
	return !hd_port_set_equal(&both, a);
}

/* Whether LIDs lose or get links at a switch. */
static void compare_switch(const struct narrowing *narrowing, uint32_t sw, uint8_t *moves)
{
	const struct hd_fabric *fabric = narrowing->request->fabric;
	struct hd_port_set links = {{0}};

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		hd_port_set_add(&links, fabric->isl_port[link]);
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++) {
		struct hd_port_set before =
		    ports_of(narrowing->request->before, &narrowing->held, sw, lid, &links);
		struct hd_port_set after =
		    ports_of(narrowing->request->after, &narrowing->interim, sw, lid, &links);
		if (has_more(&before, &after))
			moves[lid] |= LOSES;
		if (has_more(&after, &before))
			moves[lid] |= GETS;
	}
}

static int find_changes(struct narrowing *narrowing)
{
	const struct hd_fabric *fabric = narrowing->request->fabric;
	uint8_t *moves = hd_arena_alloc(&narrowing->arena, fabric->lid_count, sizeof(*moves));

	narrowing->excused =
	    hd_arena_alloc(&narrowing->arena, fabric->lid_count, sizeof(*narrowing->excused));
	narrowing->changes =
	    hd_arena_alloc(&narrowing->arena, fabric->lid_count, sizeof(*narrowing->changes));
	if (hd_arena_check(&narrowing->arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		compare_switch(narrowing, sw, moves);
	for (uint32_t lid = 1; lid < fabric->lid_count; lid++)
		narrowing->changes[lid] = moves[lid] == (LOSES | GETS);
	return 0;
}

static int init(struct narrowing *narrowing, const struct hd_ar_narrow_request *request)
{
	if (hd_ar_plan_copy_new(request->plan, request->fabric, NULL, &narrowing->held))
		return -ENOMEM;
	if (request->next &&
	    hd_ar_plan_copy_new(request->next, request->fabric, NULL, &narrowing->interim))
		return -ENOMEM;
	return find_changes(narrowing);
}

static void release(struct narrowing *narrowing)
{
	hd_ar_plan_free(narrowing->held.plan);
	hd_ar_plan_free(narrowing->interim.plan);
	hd_arena_release(&narrowing->arena);
}

int hd_ar_narrow(const struct hd_ar_narrow_request *request, struct hd_ar_narrowing *out,
		 struct hd_error *err)
{
	struct hd_ar_narrowing result = {0};
	struct narrowing narrowing = {.request = request, .out = &result};
	int rc = init(&narrowing, request) ? hd_error_no_memory(err) : 0;

	if (!rc && is_private(request))
		rc = narrow_private(&narrowing, err);
	else if (!rc)
		rc = narrow(&narrowing, err);
	if (!rc) {
		result.plan = narrowing.held.plan;
		narrowing.held.plan = NULL;
		*out = result;
	}
	release(&narrowing);
	return rc;
}

int hd_ar_find_interim(const struct hd_ar_narrow_request *request, struct hd_ar_plan **interim,
		       struct hd_error *err)
{
	struct hd_ar_narrowing result = {0};
	struct narrowing narrowing = {.request = request, .out = &result, .fixed = true};
	int rc = init(&narrowing, request) ? hd_error_no_memory(err) : 0;

	if (!rc && is_private(request))
		result.off = true;
	else if (!rc)
		rc = narrow(&narrowing, err);
	if (!rc && result.off)
		rc = hd_error_set(err, -ELOOP,
				  "both plans together have a credit loop, with any interim plan");
	if (!rc) {
		*interim = narrowing.interim.plan;
		narrowing.interim.plan = NULL;
	}
	release(&narrowing);
	return rc;
}
