/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets that a plan would lose: entries whose next hop has no entry for the LID. `heddle check` and the plugin
 * call it before a plan is set.
 *
 * First LIDs are found that some switches route and others do not, which is rare; only their entries are followed.
 */
#include <errno.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/base/arena.h>
#include <inttypes.h>
#include <string.h>

/* LIDs that some switches route, and others not: normally none. */
struct missing {
	struct hd_arena arena;
	uint8_t *routed; /* [stride of the tables] HD_NO_PORT: no switch routes the LID */
	uint32_t *base; /* [switch_count + 1] */
	uint32_t *lids; /* [base[switch_count]] that the switch does not route */
	uint32_t room;
	bool known; /* false: they are too many, or the tables are of another shape */
};

struct checking {
	const struct hd_ar_plan *plan;
	const struct hd_fabric *fabric;
	const struct hd_routes *routes;
	uint32_t sw; /* of the fabric */
	const struct hd_ar_switch *planned;
	uint32_t lids; /* that both the plan and the fabric have */
	struct missing missing;
	uint64_t wrong;
	struct hd_error *err; /* of the first fault */
};

static void plan_check_note(struct checking *checking, uint32_t lid, const char *what,
			    uint32_t port)
{
	if (!checking->wrong++)
		hd_error_set(checking->err, -EINVAL, "switch 0x%016" PRIx64 ", LID %u, port %u: %s",
			     checking->fabric->node_guid[checking->sw], lid, port, what);
}

/* Why packets to the LID are lost at the next hop; NULL: they are not. */
static const char *find_fault(const struct checking *checking, uint32_t lid, uint32_t port)
{
	uint32_t link = hd_fabric_find_isl(checking->fabric, checking->sw, port), owner;
	uint8_t last;

	if (link != HD_NONE)
		return hd_routes_port(checking->routes, checking->fabric->isl_to[link], lid) ==
			       HD_NO_PORT
			   ? "the next switch has no route"
			   : NULL;
	if (hd_fabric_lid_destination(checking->fabric, lid, &owner, &last) &&
	    owner == checking->sw && last == port)
		return NULL;
	return "no cable leads from there to the LID";
}

static void check_group(struct checking *checking, uint32_t lid, const struct hd_ar_group *group)
{
	struct hd_port_set all = group->ports[0];

	hd_port_set_unite(&all, &group->ports[1]);
	HD_PORT_SET_FOREACH(port, &all) {
		const char *fault = find_fault(checking, lid, port);
		if (fault)
			plan_check_note(checking, lid, fault, port);
	}
}

/* ---- switches that need no look at each entry ---- */

/* Whether a block has any such LID; the compiler turns both loops into vector instructions. */
static bool block_misses(const uint8_t *restrict row, const uint8_t *restrict routed)
{
	uint8_t misses = 0;

	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		misses |= (uint8_t)((row[i] == HD_NO_PORT) & (routed[i] != HD_NO_PORT));
	return misses;
}

static void note_block(const uint8_t *restrict row, uint8_t *restrict routed)
{
	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		routed[i] &= row[i];
}

/* Adds the LIDs of a switch. False: there are too many. */
static bool add_missing(const struct checking *checking, uint32_t sw, struct missing *missing)
{
	const uint8_t *row = hd_routes_row(checking->routes, sw);
	uint32_t count = missing->base[sw];

	for (uint32_t lid = 0; lid < checking->lids; lid++) {
		if (lid % HD_LFT_BLOCK == 0 && !block_misses(row + lid, missing->routed + lid)) {
			lid += HD_LFT_BLOCK - 1;
			continue;
		}
		if (row[lid] != HD_NO_PORT || missing->routed[lid] == HD_NO_PORT)
			continue;
		if (count == missing->room)
			return false;
		missing->lids[count++] = lid;
	}
	missing->base[sw + 1] = count;
	return true;
}

/* Errors: -ENOMEM. */
static int begin_missing(const struct checking *checking, struct missing *missing)
{
	const uint32_t switches = checking->fabric->switch_count;

	missing->room = checking->lids + switches;
	missing->known = checking->routes->lid_count >= checking->lids &&
			 checking->routes->switch_count >= switches;
	missing->routed = hd_arena_alloc(&missing->arena, checking->routes->stride, 1);
	missing->base = hd_arena_alloc(&missing->arena, switches + 1u, sizeof(*missing->base));
	missing->lids = hd_arena_alloc(&missing->arena, missing->room, sizeof(*missing->lids));
	if (hd_arena_check(&missing->arena))
		return -ENOMEM;
	memset(missing->routed, HD_NO_PORT, checking->routes->stride);
	return 0;
}

/* Whether packets that may take the port have a route at the next switch. False: each entry has to be looked at. */
static bool port_is_fine(const struct checking *checking, uint32_t port)
{
	const struct missing *missing = &checking->missing;
	const uint32_t link = hd_fabric_find_isl(checking->fabric, checking->sw, port);

	if (link == HD_NONE)
		return false;
	const uint32_t to = checking->fabric->isl_to[link];
	for (uint32_t i = missing->base[to]; i < missing->base[to + 1]; i++)
		if (checking->planned->lid_group[0][missing->lids[i]] != HD_AR_NO_GROUP)
			return false;
	return true;
}

/* The static ports are those of the tables, and nothing is wrong with any port of any group. */
static bool is_fine(const struct checking *checking)
{
	const struct hd_ar_switch *planned = checking->planned;
	struct hd_port_set ports = {{0}};

	if (!checking->missing.known || checking->plan->table_count > 1 ||
	    memcmp(planned->lid_port[0], hd_routes_row(checking->routes, checking->sw),
		   checking->lids))
		return false;
	for (uint32_t group = 0; group < planned->group_count; group++) {
		hd_port_set_unite(&ports, &planned->groups[group].ports[0]);
		hd_port_set_unite(&ports, &planned->groups[group].ports[1]);
	}
	HD_PORT_SET_FOREACH(port, &ports)
		if (!port_is_fine(checking, port))
			return false;
	return true;
}

static int check_switches(struct checking *checking, const struct hd_go_on *go_on)
{
	for (uint32_t sw = 0; sw < checking->fabric->switch_count; sw++) {
		uint32_t index = hd_ar_plan_find(checking->plan, checking->fabric->node_guid[sw]);
		if (!hd_go_on_ask(go_on))
			return -ECANCELED;
		if (index == HD_NONE || !checking->plan->switches[index].used)
			continue;
		checking->sw = sw;
		checking->planned = &checking->plan->switches[index];
		if (!is_fine(checking)) {
			for (uint32_t table = 0; table < checking->plan->table_count; table++)
				for (uint32_t lid = 1; lid < checking->lids; lid++) {
					const struct hd_ar_switch *planned = checking->planned;
					uint16_t group = planned->lid_group[table][lid];
					uint32_t port =
					    hd_routes_port(checking->routes, checking->sw, lid);
					if (port == HD_NO_PORT)
						continue;
					if (group != HD_AR_NO_GROUP)
						check_group(checking, lid, &planned->groups[group]);
					else if (planned->lid_port[table][lid] == HD_NO_PORT &&
						 !table)
						plan_check_note(checking, lid,
								"the plan has no entry", port);
					else if (checking->plan->table_count == 1 &&
						 planned->lid_port[table][lid] != port)
						plan_check_note(
						    checking, lid,
						    "the plan has another static port than the "
						    "tables",
						    port);
				}
		}
	}
	return 0;
}

int hd_ar_plan_check(const struct hd_ar_plan *plan, const struct hd_fabric *fabric,
		     const struct hd_routes *routes, const struct hd_go_on *go_on, uint64_t *wrong,
		     struct hd_error *err)
{
	struct checking checking = {.plan = plan, .fabric = fabric, .routes = routes, .err = err};

	checking.lids = plan->lid_count < fabric->lid_count ? plan->lid_count : fabric->lid_count;
	struct missing *missing = &checking.missing;
	const uint32_t switches = checking.fabric->switch_count;
	int rc = begin_missing(&checking, missing);
	for (uint32_t sw = 0; !rc && missing->known && sw < switches; sw++) {
		const uint8_t *row = hd_routes_row(checking.routes, sw);
		for (uint32_t lid = 0; lid < checking.lids; lid += HD_LFT_BLOCK)
			note_block(row + lid, missing->routed + lid);
		rc = hd_go_on_ask(go_on) ? 0 : -ECANCELED;
	}
	for (uint32_t sw = 0; !rc && missing->known && sw < switches; sw++) {
		missing->known = add_missing(&checking, sw, missing);
		rc = hd_go_on_ask(go_on) ? 0 : -ECANCELED;
	}
	if (!rc)
		rc = check_switches(&checking, go_on);
	hd_arena_release(&checking.missing.arena);
	if (rc)
		return rc == -ECANCELED ? hd_go_on_stopped(err) : hd_error_no_memory(err);
	*wrong = checking.wrong;
	return checking.wrong ? -EINVAL : 0;
}
