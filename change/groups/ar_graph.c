/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For each destination the graph knows by which ports each switch leads there, and whether packets come to it. A
 * channel carries packets to a destination if they come to its switch and may leave by its port. Then it waits for all
 * ports by which they may leave the next switch.
 *
 * put() changes what is known of one switch and one destination, and counts its dependencies again. All else is made
 * of that.
 */
#include "ar_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- dependencies ---- */

/* One destination more, or one less, has the dependencies of a channel on a word of ports. */
static void adjust(struct hd_ar_graph *graph, uint32_t channel, uint32_t word, uint64_t bits,
		   bool more)
{
	uint16_t *count = graph->count + (size_t)channel * graph->ports + word * 64;
	uint64_t *waits = &graph->waits[(size_t)channel * graph->words + word];
	const uint32_t next = graph->far_slot[channel] * graph->ports + word * 64;

	for (; bits; bits &= bits - 1) {
		const uint32_t bit = (uint32_t)__builtin_ctzll(bits);
		if (!more && !--count[bit])
			*waits &= ~(UINT64_C(1) << bit);
		if (!more || count[bit]++)
			continue;
		*waits |= UINT64_C(1) << bit;
		graph->disordered |= graph->rank[channel] <= graph->rank[next + bit];
	}
}

/* Channels that leave the switch: they carry packets or no longer do. */
static void count_out(struct hd_ar_graph *graph, const struct ar_column *column, uint32_t channel,
		      bool more)
{
	const uint64_t *set = column->sets + (size_t)graph->far_slot[channel] * graph->words;

	for (uint32_t word = 0; word < graph->words; word++)
		if (set[word])
			adjust(graph, channel, word, set[word], more);
}

static bool carries(const struct hd_ar_graph *graph, const struct ar_column *column, uint32_t slot,
		    uint32_t port)
{
	return column->reached[slot] &&
	       ar_graph_has(column->sets + (size_t)slot * graph->words, port);
}

/* Channels that arrive at the switch wait for other ports. */
static void count_in(struct hd_ar_graph *graph, const struct ar_column *column, uint32_t slot,
		     const uint64_t *was, const uint64_t *now)
{
	const size_t first = (size_t)slot * graph->ports;

	for (uint32_t port = 1; port < graph->ports; port++) {
		const uint32_t from = graph->far_slot[first + port];
		if (from == HD_NONE || !carries(graph, column, from, graph->far_port[first + port]))
			continue;
		const uint32_t channel = from * graph->ports + graph->far_port[first + port];
		for (uint32_t word = 0; word < graph->words; word++) {
			adjust(graph, channel, word, was[word] & ~now[word], false);
			adjust(graph, channel, word, now[word] & ~was[word], true);
		}
	}
}

static void note(struct hd_ar_graph *graph, uint32_t destination, uint32_t slot)
{
	const struct ar_column *column = &graph->columns[destination];

	if (graph->logged == graph->log_room) {
		const size_t room = graph->log_room * 2 + 4096;
		struct ar_undo *log = realloc(graph->log, room * sizeof(*log));
		if (!log) {
			graph->failed = true;
			return;
		}
		graph->log = log;
		graph->log_room = room;
	}
	struct ar_undo *undo = &graph->log[graph->logged++];
	*undo = (struct ar_undo){{slot, destination, 0}, column->reached[slot], {0}};
	memcpy(undo->set, column->sets + (size_t)slot * graph->words,
	       graph->words * sizeof(*undo->set));
}

/* Changes what is known of a switch and a destination. */
static void put(struct hd_ar_graph *graph, uint32_t destination, uint32_t slot, const uint64_t *set,
		bool reached)
{
	struct ar_column *column = &graph->columns[destination];
	uint64_t *own = column->sets + (size_t)slot * graph->words;
	const uint32_t first = slot * graph->ports;

	for (uint32_t word = 0; word < graph->words; word++) {
		const uint64_t was = column->reached[slot] ? own[word] : 0;
		const uint64_t now = reached ? set[word] : 0;
		for (uint64_t left = was ^ now; left; left &= left - 1) {
			const uint32_t bit = (uint32_t)__builtin_ctzll(left);
			count_out(graph, column, first + word * 64 + bit, now >> bit & 1);
		}
	}
	if (set != own && memcmp(set, own, graph->words * sizeof(*own))) {
		count_in(graph, column, slot, own, set);
		memcpy(own, set, graph->words * sizeof(*own));
	}
	column->reached[slot] = reached;
}

/* ---- who is reached ---- */

/* Appends to a list of pairs. */
static void append(struct hd_ar_graph *graph, struct ar_pair **list, size_t *count, size_t *room,
		   struct ar_pair pair)
{
	if (*count == *room) {
		struct ar_pair *more = realloc(*list, (*room * 2 + 4096) * sizeof(*more));
		if (!more) {
			graph->failed = true;
			return;
		}
		*list = more;
		*room = *room * 2 + 4096;
	}
	(*list)[(*count)++] = pair;
}

void ar_graph_pair(struct hd_ar_graph *graph, uint32_t destination, uint32_t slot)
{
	append(graph, &graph->pairs, &graph->paired, &graph->pair_room,
	       (struct ar_pair){slot, destination, 0});
}

/* The next switches of those ports. */
static void pair_next(struct hd_ar_graph *graph, uint32_t destination, uint32_t slot, uint32_t word,
		      uint64_t bits)
{
	const uint32_t first = slot * graph->ports + word * 64;

	for (; bits; bits &= bits - 1)
		ar_graph_pair(graph, destination,
			      graph->far_slot[first + (uint32_t)__builtin_ctzll(bits)]);
}

static bool is_reached(const struct hd_ar_graph *graph, const struct ar_column *column,
		       uint32_t slot)
{
	const size_t first = (size_t)slot * graph->ports;

	if (graph->sends[slot])
		return true;
	for (uint32_t port = 1; port < graph->ports; port++) {
		const uint32_t from = graph->far_slot[first + port];
		if (from != HD_NONE && carries(graph, column, from, graph->far_port[first + port]))
			return true;
	}
	return false;
}

/* Where packets come now (`come`), or no longer. */
static void spread(struct hd_ar_graph *graph, bool come)
{
	for (size_t i = 0; i < graph->paired; i++) {
		const struct ar_pair at = graph->pairs[i];
		const struct ar_column *column = &graph->columns[at.destination];
		uint64_t *set = column->sets + (size_t)at.slot * graph->words;
		if (column->reached[at.slot] == come || is_reached(graph, column, at.slot) != come)
			continue;
		note(graph, at.destination, at.slot);
		put(graph, at.destination, at.slot, set, come);
		for (uint32_t word = 0; word < graph->words; word++)
			pair_next(graph, at.destination, at.slot, word, set[word]);
	}
}

/* First all that is reached, then what no longer is: nothing is taken away and given back. A circle of switches
 * may stay reached by itself; then the graph has a loop. */
void ar_graph_spread(struct hd_ar_graph *graph)
{
	spread(graph, true);
	spread(graph, false);
	graph->paired = 0;
}

void ar_graph_follow(struct hd_ar_graph *graph)
{
	spread(graph, true);
	graph->paired = graph->logged = 0;
}

void ar_graph_change(struct hd_ar_graph *graph, uint32_t destination, uint32_t slot,
		     const uint64_t *set)
{
	const struct ar_column *column = &graph->columns[destination];
	const uint64_t *own = column->sets + (size_t)slot * graph->words;

	if (!memcmp(own, set, graph->words * sizeof(*own)))
		return;
	for (uint32_t word = 0; column->reached[slot] && word < graph->words; word++)
		pair_next(graph, destination, slot, word, own[word] ^ set[word]);
	note(graph, destination, slot);
	put(graph, destination, slot, set, column->reached[slot]);
}

/* ---- loops ---- */

static void enter(struct hd_ar_graph *graph, uint32_t channel, uint32_t *depth)
{
	enum { OPEN = 1 };

	graph->state[channel] = OPEN;
	memcpy(graph->left + (size_t)channel * graph->words,
	       graph->waits + (size_t)channel * graph->words, graph->words * sizeof(*graph->left));
	graph->path[(*depth)++] = channel;
}

/* The next channel for which one waits and that was not looked at; HD_NONE: no other one. */
static uint32_t next_of(struct hd_ar_graph *graph, uint32_t channel)
{
	uint64_t *left = graph->left + (size_t)channel * graph->words;

	for (uint32_t word = 0; word < graph->words; word++)
		if (left[word]) {
			const uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(left[word]);
			left[word] &= left[word] - 1;
			return graph->far_slot[channel] * graph->ports + port;
		}
	return HD_NONE;
}

/* Keeps of the path what is behind the channel. */
static void note_loop(struct hd_ar_graph *graph, uint32_t channel, uint32_t depth)
{
	uint32_t first = depth;

	while (graph->path[--first] != channel)
		continue;
	graph->loop = depth - first;
	memmove(graph->path, graph->path + first, graph->loop * sizeof(*graph->path));
}

/* Searches all in depth, and ranks it. */
int ar_graph_order(struct hd_ar_graph *graph)
{
	enum { NEW, OPEN, DONE };
	uint32_t depth = 0, rank = 0;

	memset(graph->state, NEW, ar_graph_channels(graph));
	for (uint32_t root = 0; root < ar_graph_channels(graph); root++) {
		if (graph->state[root] == NEW)
			enter(graph, root, &depth);
		while (depth) {
			const uint32_t channel = graph->path[depth - 1];
			const uint32_t next = next_of(graph, channel);
			if (next == HD_NONE) {
				graph->state[channel] = DONE;
				graph->rank[channel] = rank++;
				depth--;
			} else if (graph->state[next] == NEW) {
				enter(graph, next, &depth);
			} else if (graph->state[next] == OPEN) {
				note_loop(graph, next, depth);
				graph->disordered = true;
				return -ELOOP;
			}
		}
	}
	graph->disordered = false;
	return 0;
}

int ar_graph_name_loop(const struct hd_ar_graph *graph, const struct hd_fabric *fabric,
		       struct hd_error *err)
{
	struct hd_ar_loop *loop = malloc(sizeof(*loop) + graph->loop * sizeof(loop->links[0]));
	char text[400] = "";

	if (!loop)
		return hd_error_no_memory(err);
	*loop = (struct hd_ar_loop){.length = graph->loop};
	for (uint32_t i = 0; i < graph->loop; i++)
		loop->links[i] =
		    hd_fabric_find_isl(fabric, graph->sw[graph->path[i] / graph->ports],
				       graph->path[i] % graph->ports);
	hd_ar_loop_text(fabric, loop, text, sizeof(text));
	free(loop);
	return hd_error_set(err, -ELOOP, "credit loop %s", text);
}

/* ---- entries ---- */

static void load_groups(struct hd_ar_graph *graph, const struct hd_ar_switch *planned,
			const uint32_t *far_slot, uint64_t *out)
{
	uint64_t links[HD_PORT_SET_WORDS] = {0};

	for (uint32_t port = 1; port < graph->ports; port++)
		if (far_slot[port] != HD_NONE)
			links[port / 64] |= UINT64_C(1) << port % 64;
	for (uint32_t number = 0; number < planned->group_count; number++) {
		const struct hd_ar_group *group = &planned->groups[number];
		for (uint32_t word = 0; word < graph->words; word++)
			out[number * graph->words + word] =
			    (group->ports[0].words[word] | group->ports[1].words[word]) &
			    links[word];
	}
}

void ar_graph_load(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t slot,
		   struct ar_entries *entries)
{
	const uint32_t sw = graph->sw[slot];

	*entries = (struct ar_entries){.far_slot = graph->far_slot + (size_t)slot * graph->ports};
	for (unsigned i = 0; i < 2; i++) {
		const struct hd_ar_switch *planned =
		    states[i].plan ? &states[i].plan->switches[sw] : NULL;
		if (!states[i].rows)
			continue;
		entries->ports[i] = states[i].rows[sw];
		if (!planned || !planned->used)
			continue;
		load_groups(graph, planned, entries->far_slot, graph->group[i]);
		entries->ports[i] = planned->lid_port[0];
		entries->groups[i] = planned->lid_group[0];
		entries->group[i] = graph->group[i];
	}
}

void ar_graph_unite_lid(const struct hd_ar_graph *graph, const struct ar_entries *entries,
			unsigned state, uint32_t lid, uint64_t *set)
{
	const uint32_t port = entries->ports[state] ? entries->ports[state][lid] : HD_NO_PORT;
	const uint16_t group =
	    entries->groups[state] ? entries->groups[state][lid] : HD_AR_NO_GROUP;

	if (port < graph->ports && entries->far_slot[port] != HD_NONE)
		set[port / 64] |= UINT64_C(1) << port % 64;
	for (uint32_t word = 0; group != HD_AR_NO_GROUP && word < graph->words; word++)
		set[word] |= entries->group[state][group * graph->words + word];
}

void ar_graph_unite(const struct hd_ar_graph *graph, const struct ar_entries *entries,
		    unsigned state, uint32_t destination, uint64_t *set)
{
	for (uint32_t i = graph->first_lid[destination]; i < graph->first_lid[destination + 1]; i++)
		ar_graph_unite_lid(graph, entries, state, graph->lids[i], set);
}

/* ---- steps ---- */

void ar_graph_mark(struct hd_ar_graph *graph, uint32_t sw, uint32_t destination, bool changes)
{
	const size_t place = (size_t)graph->slot[sw] * graph->destinations + destination;
	const uint64_t bit = UINT64_C(1) << place % 64;

	if (changes)
		graph->has_changed[place / 64] |= bit;
	if (graph->is_marked[place / 64] & bit)
		return;
	graph->is_marked[place / 64] |= bit;
	append(graph, &graph->marked, &graph->mark_count, &graph->mark_room,
	       (struct ar_pair){graph->slot[sw], destination, 0});
}

void ar_graph_begin_change(struct hd_ar_graph *graph)
{
	for (size_t i = 0; i < graph->mark_count; i++) {
		const struct ar_pair *pair = &graph->marked[i];
		graph->has_changed[((size_t)pair->slot * graph->destinations + pair->destination) /
				   64] = 0;
		graph->marked[i].step = 0;
	}
}

static int by_slot(const void *left, const void *right)
{
	const struct ar_pair *a = left, *b = right;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return a->destination < b->destination ? -1 : a->destination > b->destination;
}

void ar_graph_sort(struct hd_ar_graph *graph)
{
	if (graph->sorted < graph->mark_count)
		qsort(graph->marked, graph->mark_count, sizeof(*graph->marked), by_slot);
	graph->sorted = graph->mark_count;
}

/* Whether the switch may have the entries of a state. */
static bool has_state(const struct ar_pair *at, uint32_t step, unsigned state)
{
	if (step == AR_GRAPH_LAST)
		return state == 1;
	return state ? step && at->step <= step : at->step >= step;
}

static void renew(struct hd_ar_graph *graph, const struct ar_pair *pair, const uint64_t *set)
{
	if (graph->renewed == graph->renewal_room) {
		const size_t room = graph->renewal_room * 2 + 4096;
		struct ar_renewal *more = realloc(graph->renewals, room * sizeof(*more));
		if (!more) {
			graph->failed = true;
			return;
		}
		graph->renewals = more;
		graph->renewal_room = room;
	}
	struct ar_renewal *renewal = &graph->renewals[graph->renewed++];
	renewal->pair = *pair;
	memcpy(renewal->set, set, graph->words * sizeof(*set));
}

/* Finds the pairs that get other ports in the step: switch by switch, whose entries are loaded once. */
static void find_renewals(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t step)
{
	struct ar_entries entries = {.far_slot = NULL};
	uint32_t loaded = HD_NONE;

	ar_graph_sort(graph);
	graph->renewed = 0;
	for (size_t i = 0; i < graph->mark_count; i++) {
		const struct ar_pair at = graph->marked[i];
		const uint64_t *own =
		    graph->columns[at.destination].sets + (size_t)at.slot * graph->words;
		uint64_t set[HD_PORT_SET_WORDS] = {0};
		if (graph->sw[at.slot] == HD_NONE)
			continue;
		if (at.slot != loaded)
			ar_graph_load(graph, states, loaded = at.slot, &entries);
		if (has_state(&at, step, 0))
			ar_graph_unite(graph, &entries, 0, at.destination, set);
		if (has_state(&at, step, 1))
			ar_graph_unite(graph, &entries, 1, at.destination, set);
		if (memcmp(own, set, graph->words * sizeof(*own)))
			renew(graph, &at, set);
	}
}

/* Destination by destination: what is known of one fits into the processor's cache. */
static void take_renewals(struct hd_ar_graph *graph)
{
	memset(graph->first_renewal, 0xFF, graph->destinations * sizeof(*graph->first_renewal));
	for (size_t i = graph->renewed; i-- > 0;) {
		uint32_t *first = &graph->first_renewal[graph->renewals[i].pair.destination];
		graph->renewals[i].next = *first;
		*first = (uint32_t)i;
	}
	for (uint32_t to = 0; to < graph->destinations; to++)
		for (uint32_t i = graph->first_renewal[to]; i != HD_NONE;
		     i = graph->renewals[i].next)
			ar_graph_change(graph, to, graph->renewals[i].pair.slot,
					graph->renewals[i].set);
}

int ar_graph_try(struct hd_ar_graph *graph, const struct ar_state states[2], uint32_t step)
{
	find_renewals(graph, states, step);
	take_renewals(graph);
	ar_graph_spread(graph);
	if (graph->failed)
		return -ENOMEM;
	return graph->disordered ? ar_graph_order(graph) : 0;
}

void ar_graph_keep(struct hd_ar_graph *graph)
{
	graph->logged = 0;
}

void ar_graph_undo(struct hd_ar_graph *graph)
{
	while (graph->logged) {
		const struct ar_undo *undo = &graph->log[--graph->logged];
		put(graph, undo->pair.destination, undo->pair.slot, undo->set, undo->reached);
	}
}
