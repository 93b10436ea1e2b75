/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random damaged fabrics with multicast groups, and an oracle that follows packets in their tables.
 * Include after <cmocka.h>. */
#ifndef MULTICAST_REPAIR_TESTING_H
#define MULTICAST_REPAIR_TESTING_H

#include "multicast_testing.h"

#include <heddle/base/random.h>
#include <heddle/change/repair.h>
#include <heddle/change/repair_mfts.h>

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
	bool left_over; /* switches have entries in blocks of which nobody knows */
};

static inline uint32_t draw(struct world *world, uint32_t bound)
{
	return (uint32_t)hd_random_below(&world->random, bound);
}

static inline uint16_t *masks_of(const struct world *world, uint32_t sw, uint32_t group)
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

static inline void carry(struct packet *packet, uint32_t sw, uint32_t by)
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

static inline bool is_left(const struct world *world, uint32_t port)
{
	const struct hd_fabric *fabric = world->fabric;

	return hd_fabric_find_node(world->damaged, fabric->node_guid[fabric->port_node[port]]) !=
	       HD_NONE;
}

static inline bool delivers_from(const struct world *world, uint32_t group, uint32_t sender,
				 bool healed, bool all)
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
static inline bool delivers(const struct world *world, uint32_t group, bool healed, bool all)
{
	bool right = true;

	for (uint32_t i = 0; right && i < world->member_count[group]; i++)
		if (is_left(world, world->members[group][i]))
			right = delivers_from(world, group, world->members[group][i], healed, all);
	return right;
}

static inline bool is_safe(const struct world *world)
{
	bool safe = true;

	for (uint32_t group = 0; safe && group < GROUPS; group++)
		safe = delivers(world, group, false, false) && delivers(world, group, true, false);
	return safe;
}

/* ---- fabrics and groups ---- */

static inline void draw_groups(struct world *world)
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
static inline uint32_t find_members(const struct world *world, uint32_t group,
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

static inline int compare_entries(const void *left, const void *right)
{
	const struct hd_mft_entry *a = left, *b = right;

	return a->mlid != b->mlid ? (a->mlid < b->mlid ? -1 : 1) : (int)a->sw - (int)b->sw;
}

/* As a sweep does: one group after the other, with the loads of those before. */
static inline void plan_all(const struct world *world, const struct hd_fabric *fabric,
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
static inline void damage(struct world *world)
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
	assert_int_equal(hd_fabric_without(fabric, losses, count,
					   fabric->port_node[fabric->host_port[0]], &world->damaged,
					   &err),
			 0);
}

static inline void fill(struct world *world, const struct hd_mfts *mfts)
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

static inline void open_world(struct world *world, const char *kind, const char *settings,
			      uint64_t seed)
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

static inline bool has_entry_in_block(const struct hd_mfts *mfts, uint32_t sw, uint32_t mlid)
{
	bool has = false;

	for (uint32_t i = 0; i < mfts->count; i++)
		has |= mfts->entries[i].sw == sw &&
		       (mfts->entries[i].mlid - HD_MLID_FIRST) / HD_MFT_BLOCK ==
			   (mlid - HD_MLID_FIRST) / HD_MFT_BLOCK;
	return has;
}

/* Switches that came back, say: OpenSM has not written blocks in which they have no tree. */
static inline void leave_over(struct world *world)
{
	world->left_over = true;
	for (uint32_t sw = 0; sw < world->fabric->switch_count; sw++)
		for (uint32_t group = 0; group < GROUPS; group++) {
			if (has_entry_in_block(&world->in_place, sw, world->mlids[group]))
				continue;
			for (uint32_t port = 1; port <= hd_node_ports(world->fabric, sw); port++)
				if (draw(world, 2))
					masks_of(world, sw, group)[port / 16] |=
					    (uint16_t)(1u << port % 16);
		}
}

static inline void close_world(struct world *world)
{
	free(world->in_place.entries);
	free(world->repaired.entries);
	free(world->tables);
	free(world->lost);
	hd_fabric_free(world->fabric);
	hd_fabric_free(world->damaged);
}

#endif
