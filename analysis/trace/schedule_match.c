/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which receive takes which message. Messages that have come and receives that wait lie in a hash
 * table by receiver, sender and tag, in the order in which they came. Receives with a wildcard lie
 * in a list of their rank instead, and so do, in a second list, all messages of the rank: only if
 * the schedule has wildcards at all.
 */
#include <errno.h>
#include <heddle/analysis/schedule.h>
#include <heddle/base/lookup.h>
#include <stdlib.h>

struct ends {
	uint32_t first, last; /* operations, or HD_NONE */
};

/* Links of lists that an operation can be in, one at a time of each. */
struct links {
	uint32_t *next, *previous; /* [operation_count] */
};

struct hd_schedule_match {
	const struct hd_schedule *schedule;
	uint32_t mask;
	struct ends *buckets; /* [mask + 1] */
	struct links in_bucket;
	/* NULL without wildcards: */
	struct links in_rank;
	struct ends *open; /* [rank_count] receives with wildcards, in their order */
	struct ends *come; /* [rank_count] messages, in their order */
	uint32_t *order; /* [operation_count] of receives: which was first */
	uint32_t received;
};

/* ---- lists ---- */

static void append(struct ends *ends, const struct links *links, uint32_t at)
{
	links->next[at] = HD_NONE;
	links->previous[at] = ends->last;
	if (ends->last == HD_NONE)
		ends->first = at;
	else
		links->next[ends->last] = at;
	ends->last = at;
}

static void take_out(struct ends *ends, const struct links *links, uint32_t at)
{
	uint32_t next = links->next[at], previous = links->previous[at];

	if (previous == HD_NONE)
		ends->first = next;
	else
		links->next[previous] = next;
	if (next == HD_NONE)
		ends->last = previous;
	else
		links->previous[next] = previous;
}

/* ---- keys ---- */

struct key {
	uint32_t to, from, tag;
};

static struct key key_of(const struct hd_schedule_operation *operation)
{
	bool send = operation->action == HD_SCHEDULE_SEND;

	return (struct key){.to = send ? operation->peer : operation->rank,
			    .from = send ? operation->rank : operation->peer,
			    .tag = operation->tag};
}

static struct ends *bucket_of(const struct hd_schedule_match *match, struct key key)
{
	uint64_t hash = hd_hash_number((uint64_t)key.to << 32 | key.from);

	return &match->buckets[hd_hash_number(hash ^ key.tag) & match->mask];
}

/* The first operation of a kind with that key, or HD_NONE. A message and a receive with the same key never lie here at
 * the same time: the later one has taken the other. So the first one with the key tells. */
static uint32_t find(const struct hd_schedule_match *match, struct key key,
		     enum hd_schedule_action action)
{
	uint32_t at = bucket_of(match, key)->first;

	for (; at != HD_NONE; at = match->in_bucket.next[at]) {
		const struct hd_schedule_operation *operation = &match->schedule->operations[at];
		struct key other = key_of(operation);
		if (other.to == key.to && other.from == key.from && other.tag == key.tag)
			return operation->action == action ? at : HD_NONE;
	}
	return HD_NONE;
}

static bool takes(const struct hd_schedule_operation *receive,
		  const struct hd_schedule_operation *send)
{
	return (receive->peer == HD_SCHEDULE_ANY || receive->peer == send->rank) &&
	       (receive->tag == HD_SCHEDULE_ANY || receive->tag == send->tag);
}

static bool is_open(const struct hd_schedule_operation *receive)
{
	return receive->peer == HD_SCHEDULE_ANY || receive->tag == HD_SCHEDULE_ANY;
}

/* ---- messages and receives ---- */

static uint32_t first_open(const struct hd_schedule_match *match,
			   const struct hd_schedule_operation *send)
{
	uint32_t at = match->open[send->peer].first;

	while (at != HD_NONE && !takes(&match->schedule->operations[at], send))
		at = match->in_rank.next[at];
	return at;
}

uint32_t hd_schedule_arrive(struct hd_schedule_match *match, uint32_t send)
{
	const struct hd_schedule_operation *operation = &match->schedule->operations[send];
	struct key key = key_of(operation);
	uint32_t exact = find(match, key, HD_SCHEDULE_RECEIVE);
	uint32_t open = match->open ? first_open(match, operation) : HD_NONE;

	if (open != HD_NONE && (exact == HD_NONE || match->order[open] < match->order[exact])) {
		take_out(&match->open[operation->peer], &match->in_rank, open);
		return open;
	}
	if (exact != HD_NONE) {
		take_out(bucket_of(match, key), &match->in_bucket, exact);
		return exact;
	}
	append(bucket_of(match, key), &match->in_bucket, send);
	if (match->come)
		append(&match->come[operation->peer], &match->in_rank, send);
	return HD_NONE;
}

static uint32_t first_come(const struct hd_schedule_match *match,
			   const struct hd_schedule_operation *receive)
{
	uint32_t at = match->come[receive->rank].first;

	while (at != HD_NONE && !takes(receive, &match->schedule->operations[at]))
		at = match->in_rank.next[at];
	return at;
}

uint32_t hd_schedule_receive(struct hd_schedule_match *match, uint32_t receive)
{
	const struct hd_schedule_operation *operation = &match->schedule->operations[receive];
	bool open = is_open(operation);
	uint32_t send =
	    open ? first_come(match, operation) : find(match, key_of(operation), HD_SCHEDULE_SEND);

	if (send != HD_NONE) {
		const struct hd_schedule_operation *taken = &match->schedule->operations[send];
		take_out(bucket_of(match, key_of(taken)), &match->in_bucket, send);
		if (match->come)
			take_out(&match->come[operation->rank], &match->in_rank, send);
		return send;
	}
	if (match->order)
		match->order[receive] = match->received++;
	if (open)
		append(&match->open[operation->rank], &match->in_rank, receive);
	else
		append(bucket_of(match, key_of(operation)), &match->in_bucket, receive);
	return HD_NONE;
}

/* ---- making ---- */

static struct ends *make_ends(uint32_t count)
{
	struct ends *ends = malloc(count * sizeof(*ends));

	for (uint32_t i = 0; ends && i < count; i++)
		ends[i] = (struct ends){HD_NONE, HD_NONE};
	return ends;
}

static bool make_links(struct links *links, uint32_t count)
{
	links->next = malloc(count * sizeof(*links->next));
	links->previous = malloc(count * sizeof(*links->previous));
	return links->next && links->previous;
}

int hd_schedule_match_new(const struct hd_schedule *schedule, struct hd_schedule_match **out,
			  struct hd_error *err)
{
	uint32_t operations = schedule->operation_count, buckets = 64;
	struct hd_schedule_match *match = calloc(1, sizeof(*match));

	if (!match)
		return hd_error_no_memory(err);
	while (buckets < operations / 4)
		buckets *= 2;
	match->schedule = schedule;
	match->mask = buckets - 1;
	match->buckets = make_ends(buckets);
	bool made = make_links(&match->in_bucket, operations) && match->buckets;
	if (made && schedule->wildcards) {
		match->open = make_ends(schedule->rank_count);
		match->come = make_ends(schedule->rank_count);
		match->order = malloc(operations * sizeof(*match->order));
		made = make_links(&match->in_rank, operations) && match->open && match->come &&
		       match->order;
	}
	if (!made) {
		hd_schedule_match_free(match);
		return hd_error_no_memory(err);
	}
	*out = match;
	return 0;
}

void hd_schedule_match_free(struct hd_schedule_match *match)
{
	if (!match)
		return;
	free(match->buckets);
	free(match->in_bucket.next);
	free(match->in_bucket.previous);
	free(match->in_rank.next);
	free(match->in_rank.previous);
	free(match->open);
	free(match->come);
	free(match->order);
	free(match);
}
