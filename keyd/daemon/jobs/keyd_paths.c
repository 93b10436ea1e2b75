/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which LID offsets the flows of a step use (keyd_paths.h). keyd_keys.c chooses them in a worker; keyd_answer.c
 * writes them, and keyd_state.c reads them after a restart.
 *
 * Each host of a leaf gets an offset of its own where that is enough; else each flow. A phase that needs none has
 * one offset. What was chosen and answered never changes.
 */
#include "keyd_paths.h"

#include "keyd_offsets.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A flow between hosts of two leaves. */
struct flow {
	uint32_t phase, destination, leaf, source;
	uint32_t group; /* the same for flows of a phase from one leaf to one host */
	uint32_t number; /* of the source among those of its group */
};

struct choosing {
	const struct keyd_paths_request *request;
	struct hd_arena arena;
	struct flow *flows; /* [count] of crowded phases */
	uint32_t count, groups;
	uint8_t *of_host; /* [hosts] if all flows of a host have one offset */
	struct keyd_paths *paths;
};

/* Flows share links because they have one LID, and not for want of cables. */
static bool is_crowded(const struct choosing *choosing, uint32_t phase)
{
	const struct hd_key *key = choosing->request->keys[phase];

	return key->contention > 1 && key->wanted_offsets > 1;
}

static int compare_words(const uint32_t *one, const uint32_t *other, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (one[i] != other[i])
			return one[i] < other[i] ? -1 : 1;
	return 0;
}

static int compare_flows(const void *one, const void *other)
{
	const struct flow *a = one, *b = other;
	const uint32_t first[] = {a->phase, a->destination, a->leaf, a->source};
	const uint32_t second[] = {b->phase, b->destination, b->leaf, b->source};

	return compare_words(first, second, 4);
}

static int compare_sources(const void *one, const void *other)
{
	const struct flow *a = one, *b = other;

	return compare_words(&a->source, &b->source, 1);
}

/* The flow between the hosts of two ranks. False: it does not leave its leaf. */
static bool flow_of(const struct choosing *choosing, uint32_t phase,
		    const struct hd_rank_flow *ranks, struct flow *flow)
{
	const struct keyd_paths_request *request = choosing->request;
	const uint32_t *host_switch = request->fabric->host_switch;

	*flow = (struct flow){.phase = phase,
			      .source = request->rank_host[ranks->source],
			      .destination = request->rank_host[ranks->destination]};
	flow->leaf = host_switch[flow->source];
	return flow->leaf != host_switch[flow->destination];
}

static void list_flows(struct choosing *choosing)
{
	const struct hd_key_pattern *pattern = choosing->request->pattern;

	for (uint32_t phase = 0; phase < pattern->phase_count; phase++)
		for (uint32_t i = pattern->base[phase];
		     is_crowded(choosing, phase) && i < pattern->base[phase + 1]; i++)
			choosing->count += flow_of(choosing, phase, &pattern->flows[i],
						   &choosing->flows[choosing->count]);
}

/* The lowest offset that no host before has in one of these groups; KEYD_OFFSETS_LIMIT: none. */
static uint32_t lowest_free(const uint64_t (*taken)[KEYD_OFFSETS_LIMIT / 64],
			    const struct flow *flows, uint32_t count)
{
	for (uint32_t word = 0; word < KEYD_OFFSETS_LIMIT / 64; word++) {
		uint64_t used = 0;

		for (uint32_t i = 0; i < count; i++)
			used |= taken[flows[i].group][word];
		if (~used)
			return word * 64 + (uint32_t)__builtin_ctzll(~used);
	}
	return KEYD_OFFSETS_LIMIT;
}

/* How many offsets it takes if each host has one, so that those of a group differ. Writes of_host[]. */
static uint32_t spread_hosts(struct choosing *choosing)
{
	uint64_t(*taken)[KEYD_OFFSETS_LIMIT / 64] =
	    hd_arena_alloc(&choosing->arena, choosing->groups, sizeof(*taken));
	struct flow *flows = hd_arena_alloc(&choosing->arena, choosing->count, sizeof(*flows));
	uint32_t most = 1;

	if (hd_arena_check(&choosing->arena))
		return most;
	memcpy(flows, choosing->flows, choosing->count * sizeof(*flows));
	qsort(flows, choosing->count, sizeof(*flows), compare_sources);
	for (uint32_t first = 0, next; first < choosing->count; first = next) {
		uint32_t offset;

		for (next = first;
		     next < choosing->count && flows[next].source == flows[first].source;)
			next++;
		offset = lowest_free(taken, flows + first, next - first);
		if (offset == KEYD_OFFSETS_LIMIT)
			return KEYD_OFFSETS_LIMIT;
		for (uint32_t i = first; i < next; i++)
			taken[flows[i].group][offset / 64] |= UINT64_C(1) << offset % 64;
		choosing->of_host[flows[first].source] = (uint8_t)offset;
		most = offset + 1 > most ? offset + 1 : most;
	}
	return most;
}

static int take_hosts(struct choosing *choosing, uint32_t offsets)
{
	struct keyd_paths *paths = choosing->paths;

	paths->of_rank = malloc(paths->rank_count + 1);
	if (!paths->of_rank)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < paths->rank_count; rank++)
		paths->of_rank[rank] = choosing->of_host[choosing->request->rank_host[rank]];
	for (uint32_t phase = 0; phase < paths->phase_count; phase++)
		paths->phases[phase].count = offsets;
	return 0;
}

static int compare_paths(const void *one, const void *other)
{
	const struct keyd_path *a = one, *b = other;

	return compare_words(&a->source, &b->source, 2);
}

/* The flows of a phase that do not have its first offset. Returns their number. */
static uint32_t list_paths(const struct choosing *choosing, uint32_t phase, struct keyd_path *list)
{
	const struct hd_key_pattern *pattern = choosing->request->pattern;
	uint32_t count = 0, kept = 0;

	for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
		const struct hd_rank_flow *ranks = &pattern->flows[i];
		const struct flow *found;
		struct flow flow;

		if (!flow_of(choosing, phase, ranks, &flow))
			continue;
		found =
		    bsearch(&flow, choosing->flows, choosing->count, sizeof(flow), compare_flows);
		if (found->number)
			list[count++] =
			    (struct keyd_path){ranks->source, ranks->destination, found->number};
	}
	qsort(list, count, sizeof(*list), compare_paths);
	for (uint32_t i = 0; i < count; i++)
		if (!i || compare_paths(&list[i], &list[kept - 1]))
			list[kept++] = list[i];
	return kept;
}

static struct keyd_paths *new_paths(uint32_t phases, uint32_t ranks)
{
	struct keyd_paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return NULL;
	paths->phase_count = phases;
	paths->rank_count = ranks;
	paths->phases = calloc((size_t)phases + 1, sizeof(*paths->phases));
	if (!paths->phases) {
		free(paths);
		return NULL;
	}
	for (uint32_t phase = 0; phase < phases; phase++)
		paths->phases[phase].count = 1;
	return paths;
}

static int paths_choose(struct choosing *choosing)
{
	const struct keyd_paths_request *request = choosing->request;
	const struct hd_key_pattern *pattern = request->pattern;
	uint32_t offsets = KEYD_OFFSETS_LIMIT;

	choosing->flows = hd_arena_alloc(&choosing->arena, pattern->base[pattern->phase_count] + 1,
					 sizeof(*choosing->flows));
	choosing->of_host = hd_arena_alloc(&choosing->arena, request->fabric->host_count, 1);
	choosing->paths = new_paths(pattern->phase_count, pattern->ranks);
	if (hd_arena_check(&choosing->arena) || !choosing->paths)
		return -ENOMEM;
	list_flows(choosing);
	/* Sorts them, and numbers groups, and hosts in each group. */
	struct flow *flows = choosing->flows;
	qsort(flows, choosing->count, sizeof(*flows), compare_flows);
	for (uint32_t i = 0; i < choosing->count; i++) {
		bool same = i && flows[i].phase == flows[i - 1].phase &&
			    flows[i].destination == flows[i - 1].destination &&
			    flows[i].leaf == flows[i - 1].leaf;
		choosing->groups += !same;
		flows[i].group = choosing->groups - 1;
		if (same)
			flows[i].number =
			    flows[i - 1].number + (flows[i].source != flows[i - 1].source);
	}
	if (!request->own_offsets)
		offsets = spread_hosts(choosing);
	if (hd_arena_check(&choosing->arena))
		return -ENOMEM;
	if (offsets <= request->offsets_max)
		return take_hosts(choosing, offsets);
	struct keyd_paths *paths = choosing->paths;
	uint32_t at = 0;
	paths->paths = malloc((choosing->count + 1) * sizeof(*paths->paths));
	if (!paths->paths)
		return -ENOMEM;
	/* How many offsets each phase takes, or one where that is too much. */
	uint32_t spare = request->offsets_max - (request->own_offsets ? paths->phase_count : 1);
	for (uint32_t i = 0; i < choosing->count; i++) {
		uint32_t *count = &paths->phases[choosing->flows[i].phase].count;
		if (*count <= choosing->flows[i].number)
			*count = choosing->flows[i].number + 1;
	}
	for (uint32_t phase = 0; phase < paths->phase_count; phase++) {
		uint32_t more = paths->phases[phase].count - 1;
		if (more > spare)
			paths->phases[phase].count = 1;
		else if (request->own_offsets)
			spare -= more;
	}
	for (uint32_t phase = 0; phase < paths->phase_count; phase++) {
		paths->phases[phase].base = at;
		if (paths->phases[phase].count > 1)
			at += list_paths(choosing, phase, paths->paths + at);
	}
	paths->phases[paths->phase_count].base = at;
	return 0;
}

int keyd_paths_choose(const struct keyd_paths_request *request, struct keyd_paths **out)
{
	struct choosing choosing = {.request = request};
	bool any = false;

	*out = NULL;
	for (uint32_t phase = 0; phase < request->pattern->phase_count; phase++)
		any |= is_crowded(&choosing, phase);
	if (!any ||
	    request->offsets_max <= (request->own_offsets ? request->pattern->phase_count : 1))
		return 0;
	int rc = paths_choose(&choosing);
	hd_arena_release(&choosing.arena);
	if (rc || !keyd_paths_settle(choosing.paths, request->own_offsets))
		keyd_paths_free(choosing.paths);
	else
		*out = choosing.paths;
	return rc;
}

void keyd_paths_drop(struct keyd_paths *paths, uint32_t phase)
{
	paths->phases[phase].count = 1;
}

bool keyd_paths_settle(struct keyd_paths *paths, bool own_offsets)
{
	bool any = false;

	paths->offsets = own_offsets ? 0 : 1;
	for (uint32_t phase = 0; phase < paths->phase_count; phase++) {
		struct keyd_phase_paths *own = &paths->phases[phase];

		own->first = own_offsets ? paths->offsets : 0;
		if (own_offsets)
			paths->offsets += own->count;
		else if (paths->offsets < own->count)
			paths->offsets = own->count;
		any |= own->count > 1;
	}
	return any;
}

void keyd_paths_free(struct keyd_paths *paths)
{
	if (!paths)
		return;
	free(paths->of_rank);
	free(paths->phases);
	free(paths->paths);
	free(paths);
}

size_t keyd_paths_bytes(const struct keyd_paths *paths)
{
	if (!paths)
		return 0;
	return sizeof(*paths) + paths->phase_count * sizeof(*paths->phases) +
	       (paths->of_rank ? paths->rank_count : 0) +
	       paths->phases[paths->phase_count].base * sizeof(*paths->paths);
}

uint32_t keyd_paths_count(const struct keyd_paths *paths, uint32_t phase)
{
	return paths ? paths->phases[phase].count : 1;
}

/* The first of these paths whose source is not below that. */
static uint32_t find_source(const struct keyd_path *paths, uint32_t count, uint32_t source)
{
	uint32_t first = 0;

	while (first < count) {
		uint32_t middle = first + (count - first) / 2;

		if (paths[middle].source < source)
			first = middle + 1;
		else
			count = middle;
	}
	return first;
}

const struct keyd_path *keyd_paths_of(const struct keyd_paths *paths, uint32_t phase, uint32_t rank,
				      uint32_t *count)
{
	uint32_t all, first = 0;

	*count = 0;
	if (!paths || paths->of_rank || paths->phases[phase].count < 2)
		return NULL;
	const struct keyd_path *list = paths->paths + paths->phases[phase].base;
	*count = all = paths->phases[phase + 1].base - paths->phases[phase].base;
	if (rank != HD_NONE) {
		first = find_source(list, all, rank);
		*count = find_source(list, all, rank + 1) - first;
	}
	return list + first;
}

uint32_t keyd_paths_offset(const struct keyd_paths *paths, uint32_t phase, uint32_t source,
			   uint32_t destination)
{
	const struct keyd_path wanted = {source, destination, 0}, *found;

	if (!paths || paths->phases[phase].count < 2)
		return 0;
	if (paths->of_rank)
		return paths->of_rank[source];
	found = bsearch(&wanted, paths->paths + paths->phases[phase].base,
			paths->phases[phase + 1].base - paths->phases[phase].base, sizeof(wanted),
			compare_paths);
	return found ? found->offset : 0;
}

static void write_numbers(struct keyd_writer *writer, const uint32_t *numbers, unsigned count)
{
	keyd_write_comma(writer);
	keyd_write(writer, "[");
	for (unsigned i = 0; i < count; i++) {
		keyd_write_comma(writer);
		keyd_write_number(writer, numbers[i]);
	}
	keyd_write(writer, "]");
}

void keyd_paths_write_ranks(struct keyd_writer *writer, const struct keyd_paths *paths,
			    uint32_t first)
{
	if (!paths || !paths->of_rank)
		return;
	keyd_write_name(writer, "rank_offsets");
	keyd_write(writer, "[");
	for (uint32_t rank = 0; rank < paths->rank_count; rank++)
		if (paths->of_rank[rank])
			write_numbers(writer,
				      (const uint32_t[]){rank, first + paths->of_rank[rank]}, 2);
	keyd_write(writer, "]");
}

void keyd_paths_write(struct keyd_writer *writer, const struct keyd_paths *paths, uint32_t phase,
		      uint32_t first)
{
	uint32_t count;

	if (keyd_paths_count(paths, phase) < 2)
		return;
	keyd_write_name(writer, "offsets");
	keyd_write_number(writer, keyd_paths_count(paths, phase));
	if (paths->of_rank)
		return;
	const struct keyd_path *path = keyd_paths_of(paths, phase, HD_NONE, &count);
	keyd_write_name(writer, "paths");
	keyd_write(writer, "[");
	for (uint32_t i = 0; i < count; i++)
		write_numbers(
		    writer,
		    (const uint32_t[]){path[i].source, path[i].destination, first + path[i].offset},
		    3);
	keyd_write(writer, "]");
}

/* A number of an array, below a limit, less `least`. */
static bool paths_take(const json_t *array, size_t at, uint32_t least, uint32_t limit,
		       uint32_t *out)
{
	const json_t *value = json_array_get(array, at);

	if (!json_is_integer(value) || json_integer_value(value) < least ||
	    json_integer_value(value) - least >= limit)
		return false;
	*out = (uint32_t)json_integer_value(value) - least;
	return true;
}

static bool read_ranks(const json_t *list, uint32_t first, struct keyd_paths *paths)
{
	paths->of_rank = calloc(paths->rank_count + 1, 1);
	for (size_t i = 0; paths->of_rank && i < json_array_size(list); i++) {
		uint32_t rank, offset;

		if (!paths_take(json_array_get(list, i), 0, 0, paths->rank_count, &rank) ||
		    !paths_take(json_array_get(list, i), 1, first, KEYD_OFFSETS_LIMIT, &offset))
			return false;
		paths->of_rank[rank] = (uint8_t)offset;
	}
	return paths->of_rank;
}

/* The paths of a key, at the end of those that are there. */
static bool read_paths(const json_t *key, uint32_t phase, struct keyd_paths *paths)
{
	const json_t *list = json_object_get(key, "paths");
	uint32_t first, at = paths->phases[phase].base;

	paths->phases[phase + 1].base = at + (uint32_t)json_array_size(list);
	first = (uint32_t)json_integer_value(json_object_get(key, "offset"));
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct keyd_path *path = &paths->paths[at + i];
		const json_t *numbers = json_array_get(list, i);

		if (!paths_take(numbers, 0, 0, paths->rank_count, &path->source) ||
		    !paths_take(numbers, 1, 0, paths->rank_count, &path->destination) ||
		    !paths_take(numbers, 2, first, paths->phases[phase].count, &path->offset) ||
		    (i && compare_paths(path - 1, path) >= 0))
			return false;
	}
	return true;
}

static size_t count_paths(const json_t *keys)
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(keys); i++)
		count += json_array_size(json_object_get(json_array_get(keys, i), "paths"));
	return count;
}

static int read_keys(const json_t *answer, uint32_t first, struct keyd_paths *paths)
{
	const json_t *keys = json_object_get(answer, "keys"),
		     *ranks = json_object_get(answer, "rank_offsets");

	if (json_array_size(keys) != paths->phase_count ||
	    (ranks && !read_ranks(ranks, first, paths)))
		return -EINVAL;
	paths->paths = malloc((count_paths(keys) + 1) * sizeof(*paths->paths));
	if (!paths->paths)
		return -ENOMEM;
	for (uint32_t phase = 0; phase < paths->phase_count; phase++) {
		const json_t *key = json_array_get(keys, phase),
			     *count = json_object_get(key, "offsets");

		if (count && (json_integer_value(count) < 2 ||
			      json_integer_value(count) >= KEYD_OFFSETS_LIMIT))
			return -EINVAL;
		paths->phases[phase].count = count ? (uint32_t)json_integer_value(count) : 1;
		if (!read_paths(key, phase, paths))
			return -EINVAL;
	}
	return 0;
}

/* Whether each rank has one of the offsets of each phase that has several. Without such a phase there are none. */
static bool are_offsets_of_ranks(const struct keyd_paths *paths)
{
	uint32_t most = 0, several = 0;

	for (uint32_t rank = 0; paths->of_rank && rank < paths->rank_count; rank++)
		most = paths->of_rank[rank] > most ? paths->of_rank[rank] : most;
	for (uint32_t phase = 0; phase < paths->phase_count; phase++) {
		if (paths->phases[phase].count < 2)
			continue;
		several++;
		if (most >= paths->phases[phase].count)
			return false;
	}
	return several || !most;
}

static int read_answer(const json_t *answer, uint32_t first, uint32_t rank_count,
		       struct keyd_paths **out)
{
	size_t phases = json_array_size(json_object_get(answer, "keys"));

	if (!phases || phases > HD_KEY_PHASES_MAX)
		return -EINVAL;
	*out = new_paths((uint32_t)phases, rank_count);
	int rc = *out ? read_keys(answer, first, *out) : -ENOMEM;
	return rc || are_offsets_of_ranks(*out) ? rc : -EINVAL;
}

int keyd_paths_read(const char *answer, uint32_t first, uint32_t rank_count, bool own_offsets,
		    struct keyd_paths **out)
{
	struct keyd_paths *paths = NULL;

	*out = NULL;
	if (!strstr(answer, "\"paths\"") && !strstr(answer, "\"rank_offsets\""))
		return 0;
	json_t *json = json_loads(answer, 0, NULL);
	int rc = read_answer(json, first, rank_count, &paths);
	json_decref(json);
	if (rc || !keyd_paths_settle(paths, own_offsets))
		keyd_paths_free(paths);
	else
		*out = paths;
	return rc;
}
