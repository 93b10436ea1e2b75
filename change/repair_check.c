/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the entries before and after each step of a plan can lead in a circle together. */
#include <heddle/change/repair.h>

#include <stdlib.h>
#include <string.h>

struct checking {
	const struct hd_fabric *fabric;
	struct hd_arena arena;
	uint32_t stride;
	uint8_t *now, *then; /* [switch_count * stride] */
	uint32_t *port_link; /* [port_count] link by which a switch's port leads on, or HD_NONE */
	bool *changes; /* [stride] an entry for the LID changes in some step */
	uint8_t *state; /* [switch_count] 0: not met, 1: on the present path, 2: done */
	uint32_t *path; /* [switch_count] */
	uint8_t *tried; /* [switch_count] entries of a switch that were followed: 0 .. 2 */
};

static int allocate(struct checking *checking)
{
	const size_t entries = (size_t)checking->fabric->switch_count * checking->stride;
	const uint32_t switches = checking->fabric->switch_count;

	checking->now = hd_arena_alloc(&checking->arena, entries, 1);
	checking->then = hd_arena_alloc(&checking->arena, entries, 1);
	checking->port_link = hd_arena_alloc(&checking->arena, checking->fabric->port_count,
					     sizeof(*checking->port_link));
	checking->changes = hd_arena_alloc(&checking->arena, checking->stride, sizeof(bool));
	checking->state = hd_arena_alloc(&checking->arena, switches, 1);
	checking->path = hd_arena_alloc(&checking->arena, switches, sizeof(uint32_t));
	checking->tried = hd_arena_alloc(&checking->arena, switches, 1);
	return hd_arena_check(&checking->arena);
}

static void list_links(struct checking *checking, const struct hd_fabric *damaged)
{
	const struct hd_fabric *fabric = checking->fabric;

	memset(checking->port_link, 0xFF, fabric->port_count * sizeof(*checking->port_link));
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t sw = hd_isl_from(fabric, link), number = fabric->isl_port[link];
		uint32_t node = hd_fabric_find_node(damaged, fabric->node_guid[sw]);
		if (node != HD_NONE &&
		    damaged->peer[hd_port_index(damaged, node, number)] != HD_NONE)
			checking->port_link[hd_port_index(fabric, sw, number)] = link;
	}
}

/* The switch to which one of the two entries of a switch leads, or HD_NONE. */
static uint32_t next_of(const struct checking *checking, uint32_t sw, uint32_t lid, unsigned which)
{
	const uint8_t *tables = which ? checking->then : checking->now;
	uint8_t port = tables[(size_t)sw * checking->stride + lid];
	uint32_t link = port <= hd_node_ports(checking->fabric, sw)
			    ? checking->port_link[hd_port_index(checking->fabric, sw, port)]
			    : HD_NONE;

	return link == HD_NONE ? HD_NONE : checking->fabric->isl_to[link];
}

/* Searches from a switch in depth. False: the search has met its own path. */
static bool search(struct checking *checking, uint32_t source, uint32_t lid)
{
	uint32_t depth = 0;

	checking->path[0] = source;
	checking->state[source] = 1;
	for (;;) {
		uint32_t sw = checking->path[depth];
		if (checking->tried[sw] == 2) {
			checking->state[sw] = 2;
			if (!depth--)
				return true;
			continue;
		}
		uint32_t next = next_of(checking, sw, lid, checking->tried[sw]++);
		if (next == HD_NONE || checking->state[next] == 2)
			continue;
		if (checking->state[next] == 1)
			return false;
		checking->state[next] = 1;
		checking->path[++depth] = next;
	}
}

static bool lid_is_loop_free(struct checking *checking, uint32_t lid)
{
	memset(checking->state, 0, checking->fabric->switch_count);
	memset(checking->tried, 0, checking->fabric->switch_count);
	for (uint32_t sw = 0; sw < checking->fabric->switch_count; sw++)
		if (!checking->state[sw] && !search(checking, sw, lid))
			return false;
	return true;
}

static void take(uint8_t *tables, uint32_t stride, const struct hd_repair_write *write)
{
	memcpy(tables + (size_t)write->sw * stride + (size_t)write->block * HD_LFT_BLOCK,
	       write->ports, HD_LFT_BLOCK);
}

static void note_changes(struct checking *checking, const struct hd_repair_write *write)
{
	const uint8_t *before = checking->now + (size_t)write->sw * checking->stride +
				(size_t)write->block * HD_LFT_BLOCK;

	for (uint32_t i = 0; i < HD_LFT_BLOCK; i++)
		checking->changes[write->block * HD_LFT_BLOCK + i] |= before[i] != write->ports[i];
}

static bool check_steps(struct checking *checking, const struct hd_repair_plan *plan, uint32_t *lid)
{
	for (uint32_t begin = 0, end; begin < plan->write_count; begin = end) {
		memset(checking->changes, 0, checking->stride);
		for (end = begin;
		     end < plan->write_count && plan->writes[end].step == plan->writes[begin].step;
		     end++) {
			note_changes(checking, &plan->writes[end]);
			take(checking->then, checking->stride, &plan->writes[end]);
		}
		for (*lid = 0; *lid < checking->stride; ++*lid)
			if (checking->changes[*lid] && !lid_is_loop_free(checking, *lid))
				return false;
		for (uint32_t i = begin; i < end; i++)
			take(checking->now, checking->stride, &plan->writes[i]);
	}
	return true;
}

int hd_repair_find_loop(const struct hd_fabric *fabric, const struct hd_routes *in_place,
			const struct hd_fabric *damaged, const struct hd_repair_plan *plan,
			uint32_t *lid, struct hd_error *err)
{
	struct checking checking = {.fabric = fabric, .stride = in_place->stride};
	const size_t entries = (size_t)fabric->switch_count * in_place->stride;
	uint32_t found = 0;
	int rc = allocate(&checking) ? hd_error_no_memory(err) : 0;

	if (!rc) {
		list_links(&checking, damaged);
		memcpy(checking.now, in_place->lft, entries);
		memcpy(checking.then, in_place->lft, entries);
		*lid = check_steps(&checking, plan, &found) ? 0 : found;
	}
	hd_arena_release(&checking.arena);
	return rc;
}
