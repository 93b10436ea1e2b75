/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups: who is a member, and what each member has got of a message.
 *
 * groups_of_hosts_prepare() finds the members of each group once, from the multicast tables: the hosts to which entries
 * lead. A message that is sent to a group gets a block of counters, one for each member (begin), each packet that
 * comes to a member counts there, and the block goes back to the group when no copy is left (end). Blocks of a group
 * have the same size, so they are used again. groups_of_hosts_ports() says by which ports a switch forwards.
 */
#include "sim_hosts.h"

#include <errno.h>
#include <heddle/base/grow.h>

/* The endpoint to which a port of a switch leads; HD_NONE: to no host. */
static uint32_t endpoint_behind(const struct hd_sim *sim, uint32_t node, uint32_t number)
{
	const struct sim_port *port;

	if (!number || number >= sim->nodes[node].ports)
		return HD_NONE;
	port = &sim->ports[sim->nodes[node].first_port + number];
	if (port->peer == HD_NONE || port->peer_kind != SIM_HOST)
		return HD_NONE;
	return sim->nodes[sim->ports[port->peer].node].index;
}

/* Counts the hosts that entries[count] name, and lists them if `members` is not NULL. */
static uint32_t list_members(const struct hd_sim *sim, uint32_t s,
			     const struct hd_mft_entry *entries, uint32_t count, uint32_t *members)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++)
		HD_PORT_SET_FOREACH(number, &entries[i].ports) {
			uint32_t node = sim->subnets[s].first_node + entries[i].sw;
			uint32_t endpoint = endpoint_behind(sim, node, number);
			if (endpoint == HD_NONE)
				continue;
			if (members)
				members[found] = endpoint;
			found++;
		}
	if (members) {
		for (uint32_t i = 1; i < found; i++) {
			uint32_t item = members[i], place = i;
			for (; place && members[place - 1] > item; place--)
				members[place] = members[place - 1];
			members[place] = item;
		}
	}
	return found;
}

int groups_of_hosts_prepare(struct hd_sim *sim)
{
	int rc = 0;

	for (uint32_t s = 0; !rc && s < sim->subnet_count; s++) {
		const struct hd_mfts *mfts = sim->given[s].mfts;
		struct sim_subnet *subnet = &sim->subnets[s];
		uint32_t count;

		if (!mfts)
			continue;
		subnet->groups = hd_arena_alloc(&sim->arena, mfts->count, sizeof(*subnet->groups));
		if (!subnet->groups)
			return -ENOMEM;
		for (uint32_t i = 0; i < mfts->count; i += count) {
			const struct hd_mft_entry *entries = &mfts->entries[i];
			struct sim_group *group = &subnet->groups[subnet->group_count++];
			for (count = 1;
			     i + count < mfts->count && entries[count].mlid == entries->mlid;)
				count++;
			group->mlid = entries->mlid;
			group->free = HD_NONE;
			group->member_count = list_members(sim, s, entries, count, NULL);
			group->members =
			    hd_arena_alloc(&sim->arena, group->member_count, sizeof(uint32_t));
			if (!group->members)
				return -ENOMEM;
			list_members(sim, s, entries, count, group->members);
		}
	}
	return rc;
}

struct sim_group *groups_of_hosts_find(const struct hd_sim *sim, uint32_t subnet, uint32_t mlid)
{
	struct sim_group *groups = sim->subnets[subnet].groups;
	uint32_t low = 0, high = sim->subnets[subnet].group_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (groups[middle].mlid < mlid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sim->subnets[subnet].group_count && groups[low].mlid == mlid ? &groups[low]
										  : NULL;
}

/* The place of a member; member_count: it is none. */
static uint32_t place_of(const struct sim_group *group, uint32_t endpoint)
{
	uint32_t low = 0, high = group->member_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (group->members[middle] < endpoint)
			low = middle + 1;
		else
			high = middle;
	}
	return low < group->member_count && group->members[low] == endpoint ? low
									    : group->member_count;
}

bool groups_of_hosts_has(const struct sim_group *group, uint32_t endpoint)
{
	return place_of(group, endpoint) < group->member_count;
}

static struct sim_group *group_of(const struct hd_sim *sim, const struct sim_message *message)
{
	return groups_of_hosts_find(sim, sim->hosts[message->what.source].subnet,
				    message->what.mlid);
}

int groups_of_hosts_begin(struct hd_sim *sim, struct sim_message *message)
{
	struct sim_group *group = group_of(sim, message);
	uint32_t size = group->member_count ? group->member_count : 1;

	message->members = group->member_count - groups_of_hosts_has(group, message->what.source);
	if (group->free != HD_NONE) {
		message->counts = group->free;
		group->free = sim->counts[group->free];
	} else {
		uint32_t *grown = hd_grow(sim->counts, sim->counts_count, size, &sim->counts_room,
					  sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		sim->counts = grown;
		message->counts = sim->counts_count;
		sim->counts_count += size;
	}
	for (uint32_t i = 0; i < size; i++)
		sim->counts[message->counts + i] = 0;
	return 0;
}

uint32_t groups_of_hosts_count(struct hd_sim *sim, const struct sim_message *message,
			       uint32_t endpoint)
{
	const struct sim_group *group = group_of(sim, message);
	uint32_t place = place_of(group, endpoint);

	if (place == group->member_count || endpoint == message->what.source)
		return 0;
	return ++sim->counts[message->counts + place];
}

void groups_of_hosts_end(struct hd_sim *sim, const struct sim_message *message)
{
	struct sim_group *group = group_of(sim, message);

	sim->counts[message->counts] = group->free;
	group->free = message->counts;
}

struct hd_port_set groups_of_hosts_ports(const struct hd_sim *sim, uint32_t node, uint32_t mlid,
					 uint32_t input)
{
	const struct sim_node *here = &sim->nodes[node];
	const struct hd_mfts *mfts = sim->given[here->subnet].mfts;
	uint32_t low = 0, high = mfts ? mfts->count : 0;
	struct hd_port_set ports = {{0}};

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct hd_mft_entry *entry = &mfts->entries[middle];
		if (entry->mlid < mlid || (entry->mlid == mlid && entry->sw < here->index))
			low = middle + 1;
		else
			high = middle;
	}
	if (!mfts || low == mfts->count || mfts->entries[low].mlid != mlid ||
	    mfts->entries[low].sw != here->index)
		return ports;
	HD_PORT_SET_FOREACH(number, &mfts->entries[low].ports)
		if (number && number != input && number < here->ports &&
		    sim->ports[here->first_port + number].peer != HD_NONE)
			hd_port_set_add(&ports, number);
	return ports;
}
