/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "oracle_repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MOST 600 /* for the search for credit loops */
#define ARRIVED UINT32_MAX
#define NOWHERE (UINT32_MAX - 1)

struct state {
	const struct hd_fabric *fabric;
	const struct hd_fabric *damaged;
	const struct hd_routes *in_place;
	uint8_t *now, *then; /* [switch_count * stride] before and after the step */
	bool *left; /* [isl_count] the link is left */
	uint8_t *colour; /* [switch_count] 0: not met, 1: on the path, 2: arrives always, 3: not */
	bool *waits[16]; /* by lane: [isl_count * isl_count] */
	char *text;
	size_t size;
};

static uint32_t find_node(const struct hd_fabric *fabric, uint64_t guid)
{
	for (uint32_t node = 0; node < fabric->node_count; node++)
		if (fabric->node_guid[node] == guid)
			return node;
	return HD_NONE;
}

static bool is_left(const struct state *state, uint32_t link)
{
	const struct hd_fabric *fabric = state->fabric;
	uint32_t node = find_node(state->damaged, fabric->node_guid[hd_isl_from(fabric, link)]);

	return node != HD_NONE &&
	       state->damaged->peer[state->damaged->port_base[node] + fabric->isl_port[link]] !=
		   HD_NONE;
}

/* Where a port leads: ARRIVED, NOWHERE or a link. */
static uint32_t lead(const struct state *state, uint32_t sw, uint32_t lid, uint8_t port)
{
	uint32_t destination, link;
	uint8_t own;

	if (hd_fabric_lid_destination(state->damaged, lid, &destination, &own) &&
	    state->damaged->node_guid[destination] == state->fabric->node_guid[sw] && own == port)
		return ARRIVED;
	link = hd_fabric_find_isl(state->fabric, sw, port);
	return link == HD_NONE || !state->left[link] ? NOWHERE : link;
}

static uint32_t option(const struct state *state, uint32_t sw, uint32_t lid, unsigned which)
{
	const uint8_t *table = which ? state->then : state->now;

	return lead(state, sw, lid, table[(size_t)sw * state->in_place->stride + lid]);
}

/* Colours a switch: whether the LID arrives from it whatever entries are in force. Returns false for
 * a cycle. */
static bool colour(struct state *state, uint32_t sw, uint32_t lid)
{
	bool arrives = true;

	if (state->colour[sw])
		return state->colour[sw] != 1;
	state->colour[sw] = 1;
	for (unsigned which = 0; which < 2; which++) {
		uint32_t link = option(state, sw, lid, which);
		if (link == NOWHERE)
			arrives = false;
		if (link == NOWHERE || link == ARRIVED)
			continue;
		uint32_t to = state->fabric->isl_to[link];
		if (!colour(state, to, lid))
			return false;
		arrives &= state->colour[to] == 2;
	}
	state->colour[sw] = arrives ? 2 : 3;
	return true;
}

static bool arrives_in_place(const struct state *state, uint32_t sw, uint32_t lid)
{
	for (uint32_t hops = 0; hops <= state->fabric->switch_count; hops++) {
		uint32_t link =
		    lead(state, sw, lid,
			 state->in_place->lft[(size_t)sw * state->in_place->stride + lid]);
		if (link == ARRIVED || link == NOWHERE)
			return link == ARRIVED;
		sw = state->fabric->isl_to[link];
	}
	return false;
}

static bool paths_are_sound(struct state *state, uint32_t lid, uint32_t step)
{
	memset(state->colour, 0, state->fabric->switch_count);
	for (uint32_t sw = 0; sw < state->fabric->switch_count; sw++) {
		if (!colour(state, sw, lid)) {
			snprintf(state->text, state->size, "step %u: LID %u can loop", step, lid);
			return false;
		}
		if (state->colour[sw] == 3 && arrives_in_place(state, sw, lid)) {
			snprintf(state->text, state->size,
				 "step %u: LID %u may not arrive from switch %u, but did before",
				 step, lid, sw);
			return false;
		}
	}
	return true;
}

/* ---- credit loops ---- */

static void wait_on(struct state *state, unsigned lane, uint32_t lid, uint32_t link, bool *met)
{
	uint32_t links = state->fabric->isl_count;

	if (met[link])
		return;
	met[link] = true;
	for (unsigned which = 0; which < 2; which++) {
		uint32_t next = option(state, state->fabric->isl_to[link], lid, which);
		if (next == ARRIVED || next == NOWHERE)
			continue;
		if (!state->waits[lane])
			state->waits[lane] = calloc((size_t)links * links, 1);
		state->waits[lane][(size_t)link * links + next] = true;
		wait_on(state, lane, lid, next, met);
	}
}

static void add_lid(struct state *state, uint32_t lid)
{
	const struct hd_fabric *fabric = state->fabric;
	bool *met = malloc(fabric->isl_count + 1);

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		if (!hd_has_adapters(fabric, sw))
			continue;
		memset(met, 0, fabric->isl_count);
		for (unsigned which = 0; which < 2; which++) {
			uint32_t link = option(state, sw, lid, which);
			if (link != ARRIVED && link != NOWHERE)
				wait_on(state, hd_routes_vl(state->in_place, sw, lid), lid, link,
					met);
		}
	}
	free(met);
}

/* Takes links away that wait for none, until none is left or all wait. */
static bool has_cycle(const bool *waits, uint32_t links)
{
	uint32_t *count = calloc(links + 1, sizeof(*count));
	uint32_t *queue = calloc(links + 1, sizeof(*queue)), done = 0, found = 0;

	for (uint32_t link = 0; link < links; link++) {
		for (uint32_t next = 0; next < links; next++)
			count[link] += waits[(size_t)link * links + next];
		if (!count[link])
			queue[found++] = link;
	}
	for (; done < found; done++)
		for (uint32_t link = 0; link < links; link++)
			if (waits[(size_t)link * links + queue[done]] && !--count[link])
				queue[found++] = link;
	free(count);
	free(queue);
	return found < links;
}

static bool lanes_are_sound(struct state *state, uint32_t step)
{
	uint32_t links = state->fabric->isl_count;
	bool sound = true;

	if (links > LINKS_MOST)
		return true;
	for (uint32_t lid = 0; lid < state->in_place->lid_count; lid++) {
		uint32_t sw;
		uint8_t port;
		if (hd_fabric_lid_destination(state->damaged, lid, &sw, &port) && port)
			add_lid(state, lid);
	}
	for (unsigned lane = 0; lane < 16; lane++) {
		if (sound && state->waits[lane] && has_cycle(state->waits[lane], links)) {
			snprintf(state->text, state->size, "step %u: credit loop on lane %u", step,
				 lane);
			sound = false;
		}
		free(state->waits[lane]);
		state->waits[lane] = NULL;
	}
	return sound;
}

/* ---- all steps ---- */

static bool ends_right(const struct state *state, const struct hd_routes *repaired)
{
	uint32_t stride = state->in_place->stride;

	for (uint32_t sw = 0; sw < state->fabric->switch_count; sw++) {
		uint32_t row = find_node(state->damaged, state->fabric->node_guid[sw]);
		for (uint32_t lid = 0; row != HD_NONE && lid < stride; lid++) {
			uint8_t wanted = lid < repaired->stride
					     ? repaired->lft[(size_t)row * repaired->stride + lid]
					     : HD_NO_PORT;
			if (state->now[(size_t)sw * stride + lid] != wanted) {
				snprintf(state->text, state->size,
					 "the last step leaves a wrong entry of switch %u for "
					 "LID %u",
					 sw, lid);
				return false;
			}
		}
	}
	return true;
}

/* Whether the writes of a step change what the plan says of it, and nothing else. */
static bool step_is_told(const struct state *state, const struct hd_repair_plan *plan,
			 uint32_t step)
{
	const size_t stride = state->in_place->stride, size = state->fabric->switch_count * stride;
	size_t changed = 0, said = 0;

	for (size_t cell = 0; cell < size; cell++)
		changed += state->now[cell] != state->then[cell];
	for (uint32_t i = 0; i < plan->entries; i++) {
		const struct hd_repair_change *change = &plan->changes[i];
		size_t cell = change->sw * stride + change->lid;
		said += change->step == step && change->before != change->after &&
			state->now[cell] == change->before && state->then[cell] == change->after;
	}
	if (said != changed)
		snprintf(state->text, state->size,
			 "step %u changes %zu entries, and the plan says %zu", step, changed, said);
	return said == changed;
}

static bool steps_are_sound(struct state *state, const struct hd_repair_plan *plan)
{
	uint32_t stride = state->in_place->stride;
	size_t size = (size_t)state->fabric->switch_count * stride;
	uint32_t at = 0;

	for (uint32_t step = 0; step < plan->steps; step++) {
		for (; at < plan->write_count && plan->writes[at].step == step; at++)
			memcpy(state->then + (size_t)plan->writes[at].sw * stride +
				   (size_t)plan->writes[at].block * HD_LFT_BLOCK,
			       plan->writes[at].ports, HD_LFT_BLOCK);
		if (!step_is_told(state, plan, step))
			return false;
		for (uint32_t lid = 0; lid < state->in_place->lid_count; lid++) {
			uint32_t sw;
			uint8_t port;
			if (hd_fabric_lid_destination(state->damaged, lid, &sw, &port) &&
			    !paths_are_sound(state, lid, step))
				return false;
		}
		if (!lanes_are_sound(state, step))
			return false;
		memcpy(state->now, state->then, size);
	}
	return at == plan->write_count;
}

bool oracle_repair_is_sound(const struct hd_fabric *fabric, const struct hd_routes *in_place,
			    const struct hd_fabric *damaged, const struct hd_routes *repaired,
			    const struct hd_repair_plan *plan, char *text, size_t size)
{
	size_t bytes = (size_t)fabric->switch_count * in_place->stride;
	struct state state = {.fabric = fabric,
			      .damaged = damaged,
			      .in_place = in_place,
			      .now = malloc(bytes + 1),
			      .then = malloc(bytes + 1),
			      .left = calloc(fabric->isl_count + 1, 1),
			      .colour = calloc(fabric->switch_count + 1, 1),
			      .text = text,
			      .size = size};

	snprintf(text, size, "there are writes after the last step");
	memcpy(state.now, in_place->lft, bytes);
	memcpy(state.then, in_place->lft, bytes);
	for (uint32_t link = 0; link < fabric->isl_count; link++)
		state.left[link] = is_left(&state, link);
	bool sound = steps_are_sound(&state, plan) && ends_right(&state, repaired);
	free(state.now);
	free(state.then);
	free(state.left);
	free(state.colour);
	return sound;
}
