/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A source chooses from a list of its own, or among all members by their domains. A domain
 * is a subnet, or a leaf where there is one subnet only.
 */
#include "traffic_targets.h"
#include "traffic_draw.h"
#include "traffic_pattern.h"

#include <heddle/base/grow.h>
#include <heddle/base/text.h>
#include <inttypes.h>
#include <stdlib.h>

struct reader {
	const struct hd_traffic *traffic;
	bool timed;
	struct traffic_pair **pairs;
	uint32_t *count, room;
};

static int targets_add(struct reader *reader, const char *source, const char *destination,
		       const char *times, struct hd_error *err)
{
	struct traffic_pair pair = {.to = HD_SIM_NEVER};
	int rc = traffic_host(reader->traffic, source, &pair.source, err);

	if (!rc)
		rc = traffic_host(reader->traffic, destination, &pair.destination, err);
	if (!rc && times) {
		/* "5s" or "5s-10s" */
		struct hd_cursor cursor = {times, times + strlen(times)}, from;
		char part[HD_QUOTE_SIZE];
		bool end = hd_take_until(&cursor, "-", &from);

		if (!reader->timed)
			return hd_error_set(err, -EINVAL, "'%s': times are for the kind flows",
					    times);
		if (!end)
			from = cursor;
		hd_cursor_trim(&from);
		hd_cursor_trim(&cursor);
		rc = hd_sim_parse_time(hd_cursor_quote(&from, part, sizeof(part)), &pair.from, err);
		if (!rc && end)
			rc = hd_sim_parse_time(hd_cursor_quote(&cursor, part, sizeof(part)),
					       &pair.to, err);
		if (!rc && pair.to < pair.from)
			rc = hd_error_set(err, -EINVAL, "'%s': the time ends before it begins",
					  times);
	}
	if (!rc && pair.source == pair.destination)
		rc = hd_error_set(err, -EINVAL, "host %s sends to itself", source);
	if (rc)
		return rc;
	struct traffic_pair *pairs =
	    hd_grow(*reader->pairs, *reader->count, 1, &reader->room, sizeof(*pairs));
	if (!pairs)
		return hd_error_no_memory(err);
	*reader->pairs = pairs;
	pairs[(*reader->count)++] = pair;
	return 0;
}

static char *trimmed(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t", text[length - 1]))
		text[--length] = '\0';
	return text;
}

static int add_line(void *reader, const struct hd_words *words, struct hd_error *err)
{
	if (words->count < 2 || words->count > 3)
		return hd_error_set(err, -EINVAL, "expected SOURCE DESTINATION [FROM-TO]");
	return targets_add(reader, words->word[0], words->word[1],
			   words->count == 3 ? words->word[2] : NULL, err);
}

int targets_read_pairs(const struct hd_traffic *traffic, const char *text, bool timed,
		       struct traffic_pair **pairs, uint32_t *count, struct hd_error *err)
{
	struct reader reader = {traffic, timed, pairs, count, 0};
	int rc;

	*pairs = NULL;
	*count = 0;
	if (!strncmp(text, "file:", 5))
		rc = traffic_lines(text + 5, hd_words_next, add_line, &reader, err);
	else {
		struct hd_cursor cursor = {text, text + strlen(text)}, piece;
		char pair[3 * HD_NAME_SIZE];
		rc = 0;

		while (!rc && !hd_cursor_done(&cursor)) {
			if (!hd_take_until(&cursor, ",", &piece)) {
				piece = cursor;
				cursor.at = cursor.end;
			}
			if (piece.end - piece.at >= (int)sizeof(pair))
				return hd_error_set(err, -EINVAL, "a pair is too long");
			memcpy(pair, piece.at, (size_t)(piece.end - piece.at));
			pair[piece.end - piece.at] = '\0';
			/* "A > B @ 1s-2s"; changes the text. */
			char *times = strchr(pair, '@'), *arrow;
			if (times)
				*times++ = '\0';
			arrow = strchr(pair, '>');
			if (!arrow)
				return hd_error_set(err, -EINVAL, "'%s' is no pair such as 0>3",
						    pair);
			*arrow++ = '\0';
			rc = targets_add(&reader, trimmed(pair), trimmed(arrow), times, err);
		}
	}
	if (!rc && !*count)
		rc = hd_error_set(err, -EINVAL, "'%s' names no pair", text);
	return rc;
}

#define NOT_GIVEN UINT64_MAX

struct traffic_targets {
	const struct hd_traffic_part *part;
	/* lists: destinations of source i are list[base[i]] .. list[base[i + 1] - 1]; or NULL */
	uint32_t *base, *list;
	/* domains */
	uint32_t domain_count;
	uint32_t *sorted; /* members by domain */
	uint32_t *domain_base; /* [domain_count + 1] of sorted */
	uint32_t *place; /* [member_count] of each member in sorted */
	uint32_t *domain; /* [member_count] of each member */
	uint32_t *hot; /* [domain_count] endpoints */
	uint64_t remote, hot_share; /* millionths; remote may be NOT_GIVEN */
};

static int make_list(struct traffic_targets *targets, const struct traffic_pair *pairs,
		     uint32_t count, struct hd_error *err)
{
	const struct hd_traffic_part *part = targets->part;
	struct hd_arena *arena = &part->traffic->arena;
	uint32_t members = part->member_count;

	targets->base = hd_arena_alloc(arena, (size_t)members + 2, sizeof(*targets->base));
	targets->list = hd_arena_alloc(arena, count, sizeof(*targets->list));
	uint32_t *index = hd_arena_alloc(arena, part->traffic->places.count, sizeof(*index));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < members; i++)
		index[part->members[i]] = i + 1;
	for (uint32_t i = 0; i < count; i++) {
		if (!index[pairs[i].source])
			return hd_error_set(err, -EINVAL,
					    "host %" PRIu32 " sends, but is not among the hosts "
					    "that take part",
					    pairs[i].source);
		targets->base[index[pairs[i].source] + 1]++;
	}
	for (uint32_t i = 1; i <= members; i++)
		targets->base[i + 1] += targets->base[i];
	for (uint32_t i = 0; i < count; i++)
		targets->list[targets->base[index[pairs[i].source]]++] = pairs[i].destination;
	return 0;
}

static int take_pairs(struct traffic_targets *targets, const char *text, struct hd_error *err)
{
	struct traffic_pair *pairs = NULL;
	uint32_t count = 0;
	int rc = targets_read_pairs(targets->part->traffic, text, false, &pairs, &count, err);

	if (!rc)
		rc = make_list(targets, pairs, count, err);
	free(pairs);
	return rc;
}

/* destination of member i is member order[i]. */
static int take_order(struct traffic_targets *targets, const uint32_t *order, struct hd_error *err)
{
	const struct hd_traffic_part *part = targets->part;
	struct traffic_pair *pairs = calloc(part->member_count, sizeof(*pairs));
	uint32_t count = 0;

	if (!pairs)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < part->member_count; i++)
		if (order[i] != i)
			pairs[count++] =
			    (struct traffic_pair){part->members[i], part->members[order[i]], 0, 0};
	int rc = make_list(targets, pairs, count, err);
	free(pairs);
	return rc;
}

/* A random permutation in which nobody sends to itself: one cycle over a random order would give
 * only cyclic ones, so fixed points are swapped with a random other place. */
static void no_fixed_points(uint64_t *random, uint32_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count && count > 1; i++)
		while (order[i] == i) {
			uint32_t j = (uint32_t)hd_random_below(random, count);
			if (j == i || order[j] == i)
				continue;
			order[i] = order[j];
			order[j] = i;
		}
}

static int take_permutation(struct traffic_targets *targets, uint32_t shift, struct hd_error *err)
{
	uint32_t count = targets->part->member_count;
	uint32_t *order = hd_arena_alloc(&targets->part->traffic->arena, count, sizeof(*order));
	uint64_t random = traffic_stream(targets->part, TRAFFIC_STREAM_PERMUTATION);

	if (!order)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < count; i++)
		order[i] = (uint32_t)(((uint64_t)i + shift) % count);
	if (!shift) {
		draw_order(&random, order, count);
		no_fixed_points(&random, order, count);
	}
	return take_order(targets, order, err);
}

static int pattern_pairs(const struct traffic_targets *targets,
			 const struct traffic_pattern *pattern, struct traffic_pair **pairs,
			 uint32_t *count, struct hd_error *err)
{
	const uint32_t rounds = pattern->pattern->rounds, most = pattern->pattern->round_max;
	struct hd_flow *flows = calloc(most, sizeof(*flows));
	int rc = 0;

	*pairs = calloc((size_t)most * rounds, sizeof(**pairs));
	*count = 0;
	if (!flows || !*pairs)
		rc = hd_error_no_memory(err);
	for (uint32_t round = 0; !rc && round < rounds; round++) {
		uint32_t found = 0;
		rc = traffic_pattern_round(pattern, targets->part, round, flows, &found, err);
		for (uint32_t i = 0; !rc && i < found; i++)
			(*pairs)[(*count)++] =
			    (struct traffic_pair){flows[i].source, flows[i].destination, 0, 0};
	}
	free(flows);
	return rc;
}

/* "shift,distance=3" */
static int take_pattern(struct traffic_targets *targets, const char *text, struct hd_error *err)
{
	struct traffic_pattern pattern;
	struct traffic_pair *pairs = NULL;
	uint32_t count = 0;
	int rc = traffic_pattern_new(targets->part, text, &pattern, err);

	if (!rc)
		rc = pattern_pairs(targets, &pattern, &pairs, &count, err);
	if (!rc)
		rc = make_list(targets, pairs, count, err);
	free(pairs);
	traffic_pattern_release(&pattern);
	return rc;
}

static uint32_t domain_key(const struct hd_traffic *traffic, uint32_t endpoint)
{
	return traffic->places.subnet_count > 1 ? traffic->places.subnet[endpoint]
						: traffic->places.leaf[endpoint];
}

/* Endpoints ascend by subnet, and within one by leaf: so ascending members are sorted by domain. */
static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void cut_domains(struct traffic_targets *targets)
{
	const struct hd_traffic_part *part = targets->part;

	qsort(targets->sorted, part->member_count, sizeof(*targets->sorted), ascending);
	for (uint32_t i = 0; i < part->member_count; i++)
		if (!i || domain_key(part->traffic, targets->sorted[i]) !=
			      domain_key(part->traffic, targets->sorted[i - 1]))
			targets->domain_base[targets->domain_count++] = i;
	targets->domain_base[targets->domain_count] = part->member_count;
}

static void place_members(struct traffic_targets *targets, uint32_t *place_of)
{
	const struct hd_traffic_part *part = targets->part;
	uint32_t domain = 0;

	for (uint32_t i = 0; i < part->member_count; i++)
		place_of[targets->sorted[i]] = i;
	for (uint32_t i = 0; i < part->member_count; i++)
		targets->place[i] = place_of[part->members[i]];
	for (uint32_t i = 0; i < part->member_count; i++) { /* place_of: now the domain */
		domain += i == targets->domain_base[domain + 1];
		place_of[targets->sorted[i]] = domain;
	}
	for (uint32_t i = 0; i < part->member_count; i++)
		targets->domain[i] = place_of[part->members[i]];
}

static int make_domains(struct traffic_targets *targets, struct hd_error *err)
{
	const struct hd_traffic_part *part = targets->part;
	struct hd_arena *arena = &part->traffic->arena;
	uint32_t members = part->member_count;
	uint64_t random = traffic_stream(part, TRAFFIC_STREAM_HOT);

	targets->sorted = hd_arena_alloc(arena, members, sizeof(*targets->sorted));
	targets->domain_base = hd_arena_alloc(arena, (size_t)members + 1, sizeof(uint32_t));
	targets->place = hd_arena_alloc(arena, members, sizeof(*targets->place));
	targets->domain = hd_arena_alloc(arena, members, sizeof(*targets->domain));
	targets->hot = hd_arena_alloc(arena, members, sizeof(*targets->hot));
	uint32_t *place_of = hd_arena_alloc(arena, part->traffic->places.count, sizeof(*place_of));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	memcpy(targets->sorted, part->members, members * sizeof(*targets->sorted));
	cut_domains(targets);
	place_members(targets, place_of);
	for (uint32_t d = 0; d < targets->domain_count; d++) {
		uint32_t size = targets->domain_base[d + 1] - targets->domain_base[d];
		targets->hot[d] =
		    targets->sorted[targets->domain_base[d] + hd_random_below(&random, size)];
	}
	return 0;
}

static int check_domains(const struct traffic_targets *targets, struct hd_error *err)
{
	const char *domain = targets->part->traffic->places.subnet_count > 1 ? "subnet" : "leaf";

	if (targets->part->member_count < 2)
		return hd_error_set(err, -EINVAL, "1 host takes part, expected 2 or more");
	if (targets->remote == NOT_GIVEN)
		return 0;
	if (targets->remote && targets->domain_count < 2)
		return hd_error_set(err, -EINVAL, "option 'remote': all hosts are of one %s",
				    domain);
	for (uint32_t d = 0; targets->remote < 1000000 && d < targets->domain_count; d++)
		if (targets->domain_base[d + 1] - targets->domain_base[d] < 2)
			return hd_error_set(
			    err, -EINVAL,
			    "option 'remote': a %s has only one host for local traffic", domain);
	return 0;
}

static int take_to(struct traffic_targets *targets, const char *text, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	uint32_t shift;

	if (!strcmp(text, "permutation"))
		return take_permutation(targets, 0, err);
	if (hd_take_text(&cursor, "pairs:"))
		return take_pairs(targets, cursor.at, err);
	if (!strncmp(text, "file:", 5))
		return take_pairs(targets, text, err);
	if (hd_take_text(&cursor, "pattern:"))
		return take_pattern(targets, cursor.at, err);
	if (hd_take_text(&cursor, "shift:") && hd_take_decimal(&cursor, &shift) &&
	    hd_cursor_done(&cursor) && shift && shift < targets->part->member_count)
		return take_permutation(targets, shift, err);
	return hd_error_set(err, -EINVAL,
			    "'%s': expected uniform, permutation, shift:N with 0 < N < hosts, "
			    "pairs:A>B, file:PATH, or pattern:NAME",
			    text);
}

int targets_new(struct hd_traffic_part *part, const struct hd_options *options,
		struct traffic_targets **out, struct hd_error *err)
{
	struct traffic_targets *targets =
	    hd_arena_alloc(&part->traffic->arena, 1, sizeof(*targets));
	const char *to = hd_options_get(options, "to")->text;
	const char *remote = hd_options_get(options, "remote")->text;
	int rc = 0;

	if (!targets)
		return hd_error_no_memory(err);
	*targets = (struct traffic_targets){.part = part, .remote = NOT_GIVEN};
	targets->hot_share = traffic_share(options, "hot");
	if (strcmp(remote, "any"))
		rc = hd_sim_parse_share(remote, &targets->remote, err);
	if (!rc && strcmp(to, "uniform") && (targets->remote != NOT_GIVEN || targets->hot_share))
		rc = hd_error_set(err, -EINVAL, "options 'remote' and 'hot' are for to = uniform");
	if (!rc && strcmp(to, "uniform")) {
		rc = take_to(targets, to, err);
		if (rc)
			hd_error_prefix(err, rc, "option 'to'");
	} else if (!rc) {
		rc = make_domains(targets, err);
		if (!rc)
			rc = check_domains(targets, err);
	}
	*out = targets;
	return rc;
}

static uint32_t other_domain(const struct traffic_targets *targets, uint32_t own, uint64_t *random)
{
	uint32_t domain = (uint32_t)hd_random_below(random, targets->domain_count - 1);

	return domain + (domain >= own);
}

/* A host of [first, end) of sorted, not `self`. */
static uint32_t host_between(const struct traffic_targets *targets, uint32_t first, uint32_t end,
			     uint32_t self, uint64_t *random)
{
	bool inside = self >= first && self < end;
	uint32_t at = first + (uint32_t)hd_random_below(random, end - first - inside);

	return targets->sorted[at + (inside && at >= self)];
}

static uint32_t draw_uniformly(const struct traffic_targets *targets, uint32_t source,
			       uint64_t *random)
{
	uint32_t own = targets->domain[source], self = targets->part->members[source];
	bool any = targets->remote == NOT_GIVEN;
	bool remote = !any && hd_random_below(random, 1000000) < targets->remote;

	if (targets->hot_share && hd_random_below(random, 1000000) < targets->hot_share) {
		uint32_t domain = remote ? other_domain(targets, own, random)
				  : any	 ? (uint32_t)hd_random_below(random, targets->domain_count)
					 : own;
		if (targets->hot[domain] != self)
			return targets->hot[domain];
	}
	if (remote) {
		uint32_t first = targets->domain_base[own], end = targets->domain_base[own + 1];
		uint32_t at =
		    (uint32_t)hd_random_below(random, targets->part->member_count - (end - first));

		return targets->sorted[at < first ? at : at + (end - first)];
	}
	return host_between(targets, any ? 0 : targets->domain_base[own],
			    any ? targets->part->member_count : targets->domain_base[own + 1],
			    targets->place[source], random);
}

uint32_t targets_draw(const struct traffic_targets *targets, uint32_t source, uint64_t *random)
{
	if (!targets->base)
		return draw_uniformly(targets, source, random);
	uint32_t first = targets->base[source], count = targets->base[source + 1] - first;
	if (!count)
		return HD_NONE;
	return targets->list[first + (count > 1 ? hd_random_below(random, count) : 0)];
}

bool targets_sends(const struct traffic_targets *targets, uint32_t source)
{
	return !targets->base || targets->base[source] < targets->base[source + 1];
}

static bool possible(const struct traffic_targets *targets, uint32_t source, uint32_t destination)
{
	bool same = targets->domain[source] == targets->domain[destination];

	if (source == destination)
		return false;
	return targets->remote == NOT_GIVEN || (same ? targets->remote < 1000000 : targets->remote);
}

static int list_all(const struct traffic_targets *targets, uint32_t source, hd_traffic_visit visit,
		    void *context, struct hd_error *err)
{
	const struct hd_traffic_part *part = targets->part;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < part->member_count; i++)
		if (possible(targets, source, i))
			rc = traffic_visit(part, part->members[source], part->members[i], visit,
					   context, err);
	return rc;
}

int targets_list(const struct traffic_targets *targets, hd_traffic_visit visit, void *context,
		 struct hd_error *err)
{
	const struct hd_traffic_part *part = targets->part;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < part->member_count; i++) {
		if (!targets->base)
			rc = list_all(targets, i, visit, context, err);
		for (uint32_t k = targets->base ? targets->base[i] : 1;
		     !rc && targets->base && k < targets->base[i + 1]; k++)
			rc = traffic_visit(part, part->members[i], targets->list[k], visit, context,
					   err);
	}
	return rc;
}
