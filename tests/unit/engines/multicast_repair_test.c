/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repairs of multicast tables on random damaged fabrics. An oracle follows a packet of each member
 * after each single write, with the lost cables dead, and again as if they had come back: no packet
 * comes to a switch twice. In the end each member gets each packet once.
 */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "multicast_testing.h"

#include <heddle/fabric/repair.h>
#include <heddle/fabric/repair_mfts.h>

#define GROUPS 10u
#define MEMBERS 12u
#define SPREAD 7u /* MLIDs from group to group: several blocks */
#define POSITIONS 16u

/* A fabric before and after losses, its groups, and the tables in its switches. */
struct world {
	struct hd_fabric *fabric, *damaged;
	uint64_t random;
	uint32_t mlids[GROUPS];
	uint32_t members[GROUPS][MEMBERS], member_count[GROUPS]; /* ports of `fabric` */
	struct hd_mfts in_place, repaired;
	uint16_t *tables; /* [switch * GROUPS * POSITIONS] in the switches */
	bool *lost; /* [port_count] the cable of the port */
};

static uint32_t draw(struct world *world, uint32_t bound)
{
	return (uint32_t)hd_random_below(&world->random, bound);
}

static uint16_t *masks_of(const struct world *world, uint32_t sw, uint32_t group)
{
	return world->tables + ((size_t)sw * GROUPS + group) * POSITIONS;
}

/* ---- the oracle ---- */

struct packet {
	const struct world *world;
	uint32_t group;
	bool healed; /* lost cables work again */
	uint32_t *visits; /* [switch_count] */
	uint32_t *copies; /* [port_count] at ports of hosts, and port 0 of switches */
	bool twice; /* it came to a switch a second time */
};

static void carry(struct packet *packet, uint32_t sw, uint32_t by)
{
	const struct hd_fabric *fabric = packet->world->fabric;
	const uint16_t *masks = masks_of(packet->world, sw, packet->group);

	packet->twice |= packet->visits[sw]++ != 0;
	for (uint32_t port = 0; !packet->twice && port <= hd_node_ports(fabric, sw); port++) {
		const uint32_t index = hd_port_index(fabric, sw, port);
		if (port == by || !(masks[port / 16] >> port % 16 & 1))
			continue;
		if (port && (fabric->peer[index] == HD_NONE ||
			     (packet->world->lost[index] && !packet->healed)))
			continue;
		uint32_t peer = port ? fabric->peer[index] : index;
		if (port && hd_is_switch(fabric, fabric->port_node[peer]))
			carry(packet, fabric->port_node[peer], hd_port_number(fabric, peer));
		else
			packet->copies[peer]++;
	}
}

static bool is_left(const struct world *world, uint32_t port)
{
	const struct hd_fabric *fabric = world->fabric;

	return hd_fabric_find_node(world->damaged, fabric->node_guid[fabric->port_node[port]]) !=
	       HD_NONE;
}

static bool delivers_from(const struct world *world, uint32_t group, uint32_t sender, bool healed,
			  bool all)
{
	struct packet packet = {.world = world, .group = group, .healed = healed};
	uint32_t port, sw = entrance(world->fabric, sender, &port);

	packet.visits = calloc(world->fabric->switch_count, sizeof(uint32_t));
	packet.copies = calloc(world->fabric->port_count, sizeof(uint32_t));
	carry(&packet, sw, port);
	bool right = !packet.twice;
	for (uint32_t i = 0; right && i < world->member_count[group]; i++) {
		uint32_t to = world->members[group][i];
		right = packet.copies[to] <= 1 &&
			(!all || packet.copies[to] == (is_left(world, to) && to != sender));
	}
	free(packet.visits);
	free(packet.copies);
	return right;
}

/* Whether no packet of a member that is left comes to a switch twice, and no member gets one twice;
 * and with `all`, whether each member that is left gets each packet. */
static bool delivers(const struct world *world, uint32_t group, bool healed, bool all)
{
	bool right = true;

	for (uint32_t i = 0; right && i < world->member_count[group]; i++)
		if (is_left(world, world->members[group][i]))
			right = delivers_from(world, group, world->members[group][i], healed, all);
	return right;
}

static bool is_safe(const struct world *world)
{
	bool safe = true;

	for (uint32_t group = 0; safe && group < GROUPS; group++)
		safe = delivers(world, group, false, false) && delivers(world, group, true, false);
	return safe;
}

/* ---- fabrics and groups ---- */

static void draw_groups(struct world *world)
{
	const struct hd_fabric *fabric = world->fabric;

	for (uint32_t group = 0; group < GROUPS; group++) {
		uint32_t wanted = 2 + draw(world, MEMBERS - 1);
		world->mlids[group] = HD_MLID_FIRST + group * SPREAD;
		world->member_count[group] = 0;
		for (uint32_t tries = 0; world->member_count[group] < wanted && tries < 200;
		     tries++) {
			uint32_t *members = world->members[group],
				 *count = &world->member_count[group];
			bool host = draw(world, 6), known = false;
			uint32_t member =
			    host ? fabric->host_port[draw(world, fabric->host_count)]
				 : hd_port_index(fabric, draw(world, fabric->switch_count), 0);
			for (uint32_t i = 0; i < *count; i++)
				known |= members[i] == member;
			if (!known)
				members[(*count)++] = member;
		}
	}
}

/* The members as ports of a fabric that may lack some. */
static uint32_t find_members(const struct world *world, uint32_t group,
			     const struct hd_fabric *fabric, uint32_t *members)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < world->member_count[group]; i++) {
		uint32_t port = world->members[group][i];
		uint32_t node = hd_fabric_find_node(
		    fabric, world->fabric->node_guid[world->fabric->port_node[port]]);
		if (node != HD_NONE)
			members[count++] =
			    hd_port_index(fabric, node, hd_port_number(world->fabric, port));
	}
	return count;
}

static int compare_entries(const void *left, const void *right)
{
	const struct hd_mft_entry *a = left, *b = right;

	return a->mlid != b->mlid ? (a->mlid < b->mlid ? -1 : 1) : (int)a->sw - (int)b->sw;
}

/* As a sweep does: one group after the other, with the loads of those before. */
static void plan_all(const struct world *world, const struct hd_fabric *fabric,
		     struct hd_mfts *mfts)
{
	struct hd_multicast *multicast = planner(fabric, NULL);

	mfts->count = 0;
	mfts->entries = calloc((size_t)GROUPS * fabric->switch_count, sizeof(*mfts->entries));
	for (uint32_t group = 0; group < GROUPS; group++) {
		uint32_t members[MEMBERS];
		uint32_t count = find_members(world, group, fabric, members);
		struct hd_multicast_tree *tree = plan(multicast, members, count, HD_NONE);
		for (uint32_t i = 0; i < tree->branch_count; i++)
			mfts->entries[mfts->count++] =
			    (struct hd_mft_entry){.mlid = world->mlids[group],
						  .sw = tree->branches[i].sw,
						  .ports = tree->branches[i].ports};
		hd_multicast_add(multicast, tree);
		free(tree);
	}
	if (mfts->count)
		qsort(mfts->entries, mfts->count, sizeof(*mfts->entries), compare_entries);
	hd_multicast_free(multicast);
}

/* Loses some cables, or a switch. The manager stays at the first host. */
static void damage(struct world *world)
{
	const struct hd_fabric *fabric = world->fabric;
	struct hd_fabric_change losses[4];
	const uint32_t own = fabric->host_switch[0];
	uint32_t count = 1 + draw(world, 3);
	struct hd_error err;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t link = draw(world, fabric->isl_count), sw = hd_isl_from(fabric, link);
		uint32_t port = hd_port_index(fabric, sw, fabric->isl_port[link]);
		losses[i] = (struct hd_fabric_change){.lost = true, .cable = true, .index = port};
		world->lost[port] = world->lost[fabric->peer[port]] = true;
		if (i || draw(world, 4) || sw == own)
			continue;
		losses[i] = (struct hd_fabric_change){.lost = true, .index = sw};
		for (uint32_t end = fabric->port_base[sw]; end < fabric->port_base[sw + 1]; end++)
			if (fabric->peer[end] != HD_NONE)
				world->lost[end] = world->lost[fabric->peer[end]] = true;
	}
	assert_int_equal(hd_repair_fabric(fabric, losses, count,
					  fabric->port_node[fabric->host_port[0]], &world->damaged,
					  &err),
			 0);
}

static void fill(struct world *world, const struct hd_mfts *mfts)
{
	memset(world->tables, 0,
	       (size_t)world->fabric->switch_count * GROUPS * POSITIONS * sizeof(uint16_t));
	for (uint32_t i = 0; i < mfts->count; i++) {
		const struct hd_mft_entry *entry = &mfts->entries[i];
		uint32_t group = (entry->mlid - HD_MLID_FIRST) / SPREAD;
		HD_PORT_SET_FOREACH(port, &entry->ports)
			masks_of(world, entry->sw, group)[port / 16] |= (uint16_t)(1u << port % 16);
	}
}

static void open_world(struct world *world, const char *kind, const char *settings, uint64_t seed)
{
	*world = (struct world){.fabric = generate(kind, settings), .random = seed};
	world->tables = calloc((size_t)world->fabric->switch_count * GROUPS * POSITIONS, 2);
	world->lost = calloc(world->fabric->port_count, sizeof(bool));
	draw_groups(world);
	plan_all(world, world->fabric, &world->in_place);
	fill(world, &world->in_place);
	damage(world);
	plan_all(world, world->damaged, &world->repaired);
}

static void close_world(struct world *world)
{
	free(world->in_place.entries);
	free(world->repaired.entries);
	free(world->tables);
	free(world->lost);
	hd_fabric_free(world->fabric);
	hd_fabric_free(world->damaged);
}

/* ---- writes ---- */

/* What a switch does with a block; it had `expected` before, if that is given. */
static void take(struct world *world, const struct hd_mft_write *write, const uint16_t *expected,
		 const uint16_t *masks)
{
	for (uint32_t i = 0; i < HD_MFT_BLOCK; i++) {
		uint32_t offset = write->block * HD_MFT_BLOCK + i;
		if (offset % SPREAD || offset / SPREAD >= GROUPS) {
			assert_int_equal(masks[i], 0);
			continue;
		}
		uint16_t *held = masks_of(world, write->sw, offset / SPREAD) + write->position;
		if (expected)
			assert_int_equal(*held, expected[i]);
		*held = masks[i];
	}
}

static void shuffle(struct world *world, uint32_t *order, uint32_t begin, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		order[i] = begin + i;
	variants_shuffle(order, count, &world->random);
}

static uint32_t end_of_step(const struct hd_repair_mfts *plan, uint32_t begin)
{
	uint32_t end = begin;

	while (end < plan->write_count && plan->writes[end].step == plan->writes[begin].step)
		end++;
	return end;
}

/* A switch does not take the step away: what the others took is written back. */
static void undo(struct world *world, const struct hd_repair_mfts *plan, const uint32_t *order,
		 uint32_t taken)
{
	for (uint32_t i = 0; i < taken; i++) {
		const struct hd_mft_write *write = &plan->writes[order[i]];
		take(world, write, write->after, write->before);
		assert_true(is_safe(world));
	}
}

static void run_step(struct world *world, const struct hd_repair_mfts *plan, uint32_t begin,
		     uint32_t end)
{
	uint32_t *order = calloc(end - begin, sizeof(*order)), count = end - begin;

	shuffle(world, order, begin, count);
	if (!plan->writes[begin].adds && draw(world, 3) == 0) {
		uint32_t taken = draw(world, count);
		for (uint32_t i = 0; i < taken; i++)
			take(world, &plan->writes[order[i]], NULL, plan->writes[order[i]].after);
		undo(world, plan, order, taken);
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_mft_write *write = &plan->writes[order[i]];
		take(world, write, write->before, write->after);
		assert_true(is_safe(world));
	}
	free(order);
}

/* Groups that have lost a cable are whole after two steps. */
static void check_hit_first(const struct world *world, const struct hd_repair_mfts *plan,
			    uint32_t step)
{
	uint32_t whole = 0;

	for (uint32_t group = 0; group < GROUPS; group++)
		whole += delivers(world, group, false, true);
	if (plan->hit && step == 1)
		assert_true(whole >= plan->hit);
}

/* All tables at once, a switch at a time, without an order: how many states are not safe. */
static uint32_t count_unsafe(struct world *world)
{
	uint32_t unsafe = 0, switches = world->fabric->switch_count;
	const size_t row = GROUPS * POSITIONS;
	uint16_t *after = calloc(switches * row, sizeof(*after));
	uint32_t *order = calloc(switches, sizeof(*order));

	fill(world, &world->repaired); /* both have the same switches */
	memcpy(after, world->tables, switches * row * sizeof(*after));
	fill(world, &world->in_place);
	shuffle(world, order, 0, switches);
	for (uint32_t i = 0; i < switches; i++) {
		memcpy(masks_of(world, order[i], 0), after + order[i] * row, row * sizeof(*after));
		unsafe += !is_safe(world);
	}
	free(after);
	free(order);
	fill(world, &world->in_place);
	return unsafe;
}

struct tally {
	uint32_t plans, hit, moved, writes, unsafe, loops;
};

/* What a walk finds of the groups. */
static void follow(const struct world *world, const struct hd_repair_mfts_request *request,
		   const struct hd_repair_mfts *plan, uint32_t *loops, uint32_t *missed)
{
	*loops = *missed = 0;
	for (uint32_t group = 0; group < GROUPS; group++) {
		const struct hd_repair_mfts_group followed = {
		    world->mlids[group], world->members[group], world->member_count[group]};
		enum hd_repair_mfts_verdict verdict;
		struct hd_error err;
		assert_int_equal(hd_repair_mfts_follow(request, plan, &followed, &verdict, &err),
				 0);
		*loops += verdict == HD_REPAIR_MFTS_LOOP;
		*missed += verdict == HD_REPAIR_MFTS_MISSED;
	}
}

/* Members that are left may be without a path to each other. */
static bool is_whole(const struct world *world)
{
	bool whole = true;

	for (uint32_t group = 0; group < GROUPS; group++)
		whole &= delivers(world, group, false, true);
	return whole;
}

/* The walk agrees with the oracle on a plan, and finds what its steps and its writes are for. */
static void follow_worse_plans(const struct world *world,
			       const struct hd_repair_mfts_request *request,
			       struct hd_repair_mfts *plan, struct tally *tally)
{
	uint32_t loops, missed, writes = plan->write_count;

	follow(world, request, plan, &loops, &missed);
	assert_int_equal(loops, 0);
	assert_int_equal(missed != 0, !is_whole(world));
	if (!writes)
		return;
	plan->write_count--;
	follow(world, request, plan, &loops, &missed);
	assert_true(loops + missed > 0);
	plan->write_count++;
	for (uint32_t i = 0; i < writes; i++)
		plan->writes[i].step = 0;
	follow(world, request, plan, &loops, &missed);
	tally->loops += loops;
}

static void repair_once(const char *kind, const char *settings, uint64_t seed, struct tally *tally)
{
	struct hd_repair_mfts *plan = NULL;
	struct world world;
	struct hd_error err = {""};

	open_world(&world, kind, settings, seed);
	const struct hd_repair_mfts_request request = {.fabric = world.fabric,
						       .damaged = world.damaged,
						       .in_place = &world.in_place,
						       .repaired = &world.repaired,
						       .mlids = world.mlids,
						       .group_count = GROUPS};
	if (hd_repair_mfts_plan(&request, &plan, &err))
		fail_msg("%s %s, seed %u: %s", kind, settings, (unsigned)seed, err.text);
	if (world.fabric->switch_count == world.damaged->switch_count)
		tally->unsafe += count_unsafe(&world);
	for (uint32_t begin = 0, end; begin < plan->write_count; begin = end) {
		end = end_of_step(plan, begin);
		run_step(&world, plan, begin, end);
		check_hit_first(&world, plan, plan->writes[begin].step);
	}
	for (uint32_t group = 0; group < GROUPS; group++)
		assert_true(delivers(&world, group, false, true));
	tally->plans++;
	tally->hit += plan->hit;
	tally->moved += plan->groups - plan->hit;
	tally->writes += plan->write_count;
	follow_worse_plans(&world, &request, plan, tally);
	hd_repair_mfts_free(plan);
	close_world(&world);
}

/* Property: every interim state is safe, and the last one delivers. hd_repair_mfts_follow() says so, and
 * that it is not so without the last write, or without the order. */
static void test_every_interim_state(void **state)
{
	static const struct {
		const char *kind, *settings;
	} fabrics[] = {{"xgft", "children=4,4 parents=1,4"},
		       {"xgft", "children=3,3,3 parents=1,3,3"},
		       {"torus", "dims=4,4"},
		       {"irregular", "switches=14 radix=8 seed=3"},
		       {"irregular", "switches=9 radix=20 seed=5"}};
	struct tally tally = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++)
		for (uint64_t seed = 1; seed <= 30; seed++)
			repair_once(fabrics[i].kind, fabrics[i].settings, seed, &tally);
	print_message("%u plans: %u groups hit, %u moved, %u writes; without an order %u unsafe "
		      "states, and the walk sees loops of %u groups\n",
		      tally.plans, tally.hit, tally.moved, tally.writes, tally.unsafe, tally.loops);
	assert_true(tally.hit > 100 && tally.moved > 100);
	assert_true(tally.unsafe > 0); /* so the oracle sees what the order prevents */
	assert_true(tally.loops > 0); /* and so does hd_repair_mfts_follow() */
}

/* Property: new entries that are not a tree of cables that are left are refused, with a reason. */
static void test_a_tree_over_a_lost_cable_is_refused(void **state)
{
	struct hd_repair_mfts *plan = NULL;
	struct world world;
	struct hd_error err = {""};

	(void)state;
	open_world(&world, "torus", "dims=4,4", 3); /* loses no switch */
	assert_int_equal(world.fabric->switch_count, world.damaged->switch_count);
	struct hd_mfts old = world.in_place, nothing = {.entries = world.in_place.entries};
	assert_int_equal(
	    hd_repair_mfts_plan(&(struct hd_repair_mfts_request){.fabric = world.fabric,
								 .damaged = world.damaged,
								 .in_place = &nothing,
								 .repaired = &old,
								 .mlids = world.mlids,
								 .group_count = GROUPS},
				&plan, &err),
	    -EINVAL);
	assert_non_null(strstr(err.text, "has no cable"));
	close_world(&world);
}

/* Property: the same entries need no write. */
static void test_nothing_changes(void **state)
{
	struct hd_repair_mfts *plan = NULL;
	struct world world;
	struct hd_error err = {""};

	(void)state;
	open_world(&world, "xgft", "children=4,4 parents=1,4", 1);
	assert_int_equal(
	    hd_repair_mfts_plan(&(struct hd_repair_mfts_request){.fabric = world.fabric,
								 .damaged = world.fabric,
								 .in_place = &world.in_place,
								 .repaired = &world.in_place,
								 .mlids = world.mlids,
								 .group_count = GROUPS},
				&plan, &err),
	    0);
	assert_int_equal(plan->groups + plan->hit + plan->steps + plan->write_count, 0);
	hd_repair_mfts_free(plan);
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_interim_state),
	    cmocka_unit_test(test_a_tree_over_a_lost_cable_is_refused),
	    cmocka_unit_test(test_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
