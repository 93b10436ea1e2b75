/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Schedules of ranks: how readers of traces make them, and what runs them.
 *
 * A reader calls hd_schedule_begin(), then for each rank hd_schedule_open(), hd_schedule_add(), hd_schedule_wait() and
 * hd_schedule_close(), which sorts the edges and refuses circles, and at last hd_schedule_end(). After that a schedule
 * never changes.
 *
 * Matching of messages (hd_schedule_arrive(), hd_schedule_receive()) is apart, because the simulator and
 * hd_schedule_rounds() need it: a receive takes the first message with its source and tag that no receive before it
 * has taken. hd_schedule_rounds() runs a schedule without time, as if all messages of a round came at once, for
 * patterns. hd_schedule_deadlock() says what the ranks wait for if nothing moves any more.
 */
#include <errno.h>
#include <heddle/analysis/schedule.h>
#include <heddle/analysis/schedule_maker.h>
#include <heddle/base/grow.h>
#include <heddle/base/lookup.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Which receive takes which message. Messages that have come and receives that wait lie in a hash
 * table by receiver, sender and tag, in the order in which they came. Receives with a wildcard lie
 * in a list of their rank instead, and so do, in a second list, all messages of the rank: only if
 * the schedule has wildcards at all.
 */

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

static void schedule_append(struct ends *ends, const struct links *links, uint32_t at)
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
static uint32_t schedule_find(const struct hd_schedule_match *match, struct key key,
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
	uint32_t exact = schedule_find(match, key, HD_SCHEDULE_RECEIVE);
	uint32_t open = match->open ? first_open(match, operation) : HD_NONE;

	if (open != HD_NONE && (exact == HD_NONE || match->order[open] < match->order[exact])) {
		take_out(&match->open[operation->peer], &match->in_rank, open);
		return open;
	}
	if (exact != HD_NONE) {
		take_out(bucket_of(match, key), &match->in_bucket, exact);
		return exact;
	}
	schedule_append(bucket_of(match, key), &match->in_bucket, send);
	if (match->come)
		schedule_append(&match->come[operation->peer], &match->in_rank, send);
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
	bool open = operation->peer == HD_SCHEDULE_ANY || operation->tag == HD_SCHEDULE_ANY;
	uint32_t send = open ? first_come(match, operation)
			     : schedule_find(match, key_of(operation), HD_SCHEDULE_SEND);

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
		schedule_append(&match->open[operation->rank], &match->in_rank, receive);
	else
		schedule_append(bucket_of(match, key_of(operation)), &match->in_bucket, receive);
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

/* A schedule without times: in which round each message is sent. */

struct list {
	uint32_t *operations;
	uint32_t count, room;
};

struct run {
	const struct hd_schedule *schedule;
	struct hd_schedule_match *match;
	uint32_t *waits; /* [operation_count]; HD_NONE: has ended */
	uint32_t *round; /* of sends */
	uint32_t now, rounds;
	struct list ready; /* start in this round */
	struct list sent, before; /* sends of this round, and of the round before */
	bool failed; /* no memory */
};

static void schedule_add(struct run *run, struct list *list, uint32_t operation)
{
	uint32_t *operations =
	    hd_grow(list->operations, list->count, 1, &list->room, sizeof(*operations));

	if (!operations) {
		run->failed = true;
		return;
	}
	list->operations = operations;
	list->operations[list->count++] = operation;
}

/* Those that wait for the start, or for the end, of an operation wait for one less. */
static void schedule_release(struct run *run, uint32_t operation, uint32_t started)
{
	const struct hd_schedule *schedule = run->schedule;
	uint32_t end = schedule->operations[operation + 1].edge;

	for (uint32_t e = schedule->operations[operation].edge; e < end; e++) {
		uint32_t after = schedule->edges[e];
		if ((after & HD_SCHEDULE_STARTED) == started &&
		    !--run->waits[after & ~HD_SCHEDULE_STARTED])
			schedule_add(run, &run->ready, after & ~HD_SCHEDULE_STARTED);
	}
}

static void schedule_finish(struct run *run, uint32_t operation)
{
	run->waits[operation] = HD_NONE;
	schedule_release(run, operation, 0);
}

static void schedule_start(struct run *run, uint32_t operation)
{
	schedule_release(run, operation, HD_SCHEDULE_STARTED);
	switch ((enum hd_schedule_action)run->schedule->operations[operation].action) {
	case HD_SCHEDULE_CALCULATE:
		schedule_finish(run, operation);
		break;
	case HD_SCHEDULE_SEND:
		run->round[operation] = run->now;
		run->rounds = run->now + 1;
		schedule_add(run, &run->sent, operation);
		break;
	case HD_SCHEDULE_RECEIVE:
		if (hd_schedule_receive(run->match, operation) != HD_NONE)
			schedule_finish(run, operation);
		break;
	}
}

static int check_end(const struct run *run, struct hd_error *err)
{
	if (run->failed)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < run->schedule->operation_count; i++)
		if (run->waits[i] != HD_NONE)
			return hd_schedule_deadlock(run->schedule, run->waits, err);
	return 0;
}

int hd_schedule_rounds(const struct hd_schedule *schedule, uint32_t *round, uint32_t *rounds,
		       struct hd_error *err)
{
	struct run run = {.schedule = schedule, .round = round};
	int rc = hd_schedule_match_new(schedule, &run.match, err);

	if (rc)
		return rc;
	run.waits = malloc(schedule->operation_count * sizeof(*run.waits));
	if (run.waits) {
		hd_schedule_waits(schedule, run.waits);
		for (uint32_t i = 0; i < run.schedule->operation_count; i++)
			if (!run.waits[i])
				schedule_add(&run, &run.ready, i);
		do {
			for (uint32_t i = 0; i < run.ready.count && !run.failed; i++)
				schedule_start(&run, run.ready.operations[i]);
			run.ready.count = 0;
			struct list empty = run.before;
			run.before = run.sent;
			run.sent = empty;
			run.sent.count = 0;
			run.now++;
			for (uint32_t i = 0; i < run.before.count; i++) {
				uint32_t send = run.before.operations[i];
				uint32_t receive = hd_schedule_arrive(run.match, send);
				schedule_finish(&run, send);
				if (receive != HD_NONE)
					schedule_finish(&run, receive);
			}
		} while (!run.failed && (run.ready.count || run.sent.count));
		rc = check_end(&run, err);
	} else {
		rc = hd_error_no_memory(err);
	}
	free(run.waits);
	free(run.ready.operations);
	free(run.sent.operations);
	free(run.before.operations);
	hd_schedule_match_free(run.match);
	if (!rc)
		*rounds = run.rounds;
	return rc;
}

/* ---- labels ---- */

/*
 * Most generators call operations l1, l2, l3 ... Such a label is coded as its number; any other is a
 * place among the names.
 */
#define NAMED 0x80000000u
#define NUMBER_DIGITS 9

/* The code of "l123", or NAMED. */
static uint32_t number_of(const struct hd_cursor *label)
{
	struct hd_cursor rest = *label;
	uint32_t number;

	if (!hd_take_text(&rest, "l") || (hd_cursor_peek(&rest) == '0' && rest.end - rest.at > 1) ||
	    rest.end - rest.at > NUMBER_DIGITS || !hd_take_decimal(&rest, &number) ||
	    !hd_cursor_done(&rest))
		return NAMED;
	return number;
}

struct searched {
	const struct hd_schedule *schedule;
	const struct hd_cursor *label;
	uint32_t number;
};

static bool has_label(const void *context, uint32_t index)
{
	const struct searched *searched = context;
	uint32_t label = searched->schedule->operations[index].label;

	if (!(label & NAMED) || searched->number != NAMED)
		return label == searched->number;
	return hd_cursor_is(searched->label, searched->schedule->names + (label & ~NAMED));
}

static uint64_t hash_of(const struct hd_cursor *label)
{
	return hd_hash_bytes(label->at, (size_t)(label->end - label->at));
}

uint32_t hd_schedule_find(const struct hd_schedule_maker *maker, const struct hd_cursor *label)
{
	struct searched searched = {maker->made, label, number_of(label)};

	return hd_lookup_find(&maker->labels, hash_of(label), has_label, &searched);
}

static int code_label(struct hd_schedule_maker *maker, const struct hd_cursor *label,
		      uint32_t *code)
{
	size_t length = (size_t)(label->end - label->at);

	*code = number_of(label);
	if (*code != NAMED)
		return 0;
	if (maker->name_length + length + 1 >= NAMED - 1)
		return -ERANGE;
	char *names = hd_grow(maker->made->names, maker->name_length, (uint32_t)length + 1,
			      &maker->name_room, 1);
	if (!names)
		return -ENOMEM;
	maker->made->names = names;
	memcpy(names + maker->name_length, label->at, length);
	names[maker->name_length + length] = '\0';
	*code = NAMED | maker->name_length;
	maker->name_length += (uint32_t)length + 1;
	return 0;
}

/* "ring.goal:12" or "llm.3.et: node 12" */
static const char *where(const struct hd_schedule *schedule, uint32_t index, char *buffer,
			 size_t size)
{
	const struct hd_schedule_operation *operation = &schedule->operations[index];

	if (schedule->nodes)
		snprintf(buffer, size, "%s.%" PRIu16 ".et: node %" PRIu32, schedule->file,
			 operation->rank, operation->line);
	else
		snprintf(buffer, size, "%s:%" PRIu32, schedule->file, operation->line);
	return buffer;
}

const char *hd_schedule_place(const struct hd_schedule *schedule, uint32_t index, char *buffer,
			      size_t size)
{
	const struct hd_schedule_operation *operation = &schedule->operations[index];
	char label[64] = "", file[HD_ERROR_TEXT / 2];

	if (operation->label == HD_NONE)
		label[0] = '\0';
	else if (operation->label & NAMED)
		snprintf(label, sizeof(label), ", %.40s",
			 schedule->names + (operation->label & ~NAMED));
	else
		snprintf(label, sizeof(label), ", l%" PRIu32, operation->label);
	snprintf(buffer, size, "rank %" PRIu16 "%s (%s)", operation->rank, label,
		 where(schedule, index, file, sizeof(file)));
	return buffer;
}

/* ---- making ---- */

int hd_schedule_begin(struct hd_schedule_maker *maker, const char *file, uint32_t ranks,
		      struct hd_error *err)
{
	struct hd_schedule *made = calloc(1, sizeof(*made));

	maker->made = made;
	maker->rank = HD_NONE;
	if (!made)
		return hd_error_no_memory(err);
	made->rank_count = ranks;
	made->cpu_count = 1;
	made->base = malloc(ranks * sizeof(*made->base));
	made->count = calloc(ranks, sizeof(*made->count));
	made->file = strdup(file);
	if (!made->base || !made->count || !made->file)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < ranks; i++)
		made->base[i] = HD_NONE;
	return 0;
}

bool hd_schedule_open(struct hd_schedule_maker *maker, uint32_t rank)
{
	struct hd_schedule *made = maker->made;

	if (made->base[rank] != HD_NONE)
		return false;
	maker->rank = rank;
	maker->first = made->base[rank] = made->operation_count;
	maker->pair_count = 0;
	return true;
}

int hd_schedule_add(struct hd_schedule_maker *maker, const struct hd_schedule_operation *operation,
		    const struct hd_cursor *label, uint32_t *index)
{
	struct hd_schedule *made = maker->made;
	uint32_t code = HD_NONE, at = made->operation_count;

	if (at == HD_SCHEDULE_OPERATIONS_MAX)
		return -ERANGE;
	if (label && (*index = hd_schedule_find(maker, label)) != HD_NONE)
		return -EEXIST;
	/* one more, which ends the edges of the last operation */
	struct hd_schedule_operation *operations =
	    hd_grow(made->operations, at, 2, &maker->operation_room, sizeof(*operations));
	if (!operations)
		return -ENOMEM;
	made->operations = operations;
	int rc = label ? code_label(maker, label, &code) : 0;
	if (!rc && label)
		rc = hd_lookup_add(&maker->labels, hash_of(label), at);
	if (rc)
		return rc;
	operations[at] = *operation;
	operations[at].label = code;
	operations[at].rank = (uint16_t)maker->rank;
	made->operation_count++;
	made->wildcards |=
	    operation->action == HD_SCHEDULE_RECEIVE &&
	    (operation->peer == HD_SCHEDULE_ANY || operation->tag == HD_SCHEDULE_ANY);
	if (operation->cpu >= made->cpu_count)
		made->cpu_count = operation->cpu + 1u;
	*index = at;
	return 0;
}

int hd_schedule_wait(struct hd_schedule_maker *maker, uint32_t after, uint32_t before, bool started)
{
	struct hd_schedule_edge *pairs =
	    hd_grow(maker->pairs, maker->pair_count, 1, &maker->pair_room, sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	maker->pairs = pairs;
	pairs[maker->pair_count++] =
	    (struct hd_schedule_edge){before, after | (started ? HD_SCHEDULE_STARTED : 0)};
	return 0;
}

/* Puts the edges of the open rank in the order of the operations that others wait for. */
static int sort_edges(struct hd_schedule_maker *maker)
{
	struct hd_schedule *made = maker->made;
	struct hd_schedule_operation *operations = made->operations;
	uint32_t first = maker->first, end = made->operation_count;

	for (uint32_t i = first; i < end; i++)
		operations[i].edge = 0;
	if (maker->pair_count) {
		if (made->edge_count > UINT32_MAX - maker->pair_count)
			return -ERANGE;
		uint32_t *edges = hd_grow(made->edges, made->edge_count, maker->pair_count,
					  &maker->edge_room, sizeof(*edges));
		if (!edges)
			return -ENOMEM;
		made->edges = edges;
	}
	for (uint32_t i = 0; i < maker->pair_count; i++)
		operations[maker->pairs[i].before].edge++;
	uint32_t at = made->edge_count;
	for (uint32_t i = first; i < end; i++) {
		at += operations[i].edge;
		operations[i].edge = at;
	}
	/* backwards, so that each operation ends at its first edge */
	for (uint32_t i = maker->pair_count; i-- > 0;)
		made->edges[--operations[maker->pairs[i].before].edge] = maker->pairs[i].after;
	made->edge_count += maker->pair_count;
	if (end > first)
		operations[end].edge = made->edge_count;
	return 0;
}

/* Takes away, one after the other, the operations that wait for nothing. waits[] and order[] have
 * room for all operations of the rank. Returns one that is left, or HD_NONE. */
static uint32_t left_over(const struct hd_schedule *made, uint32_t first, uint32_t count,
			  uint32_t *waits, uint32_t *order)
{
	uint32_t done = 0, ready = 0;

	for (uint32_t i = made->operations[first].edge; i < made->edge_count; i++)
		waits[(made->edges[i] & ~HD_SCHEDULE_STARTED) - first]++;
	for (uint32_t i = 0; i < count; i++)
		if (!waits[i])
			order[ready++] = first + i;
	while (done < ready) {
		const struct hd_schedule_operation *operation = &made->operations[order[done++]];
		for (uint32_t e = operation->edge; e < operation[1].edge; e++) {
			uint32_t after = made->edges[e] & ~HD_SCHEDULE_STARTED;
			if (!--waits[after - first])
				order[ready++] = after;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		if (waits[i])
			return first + i;
	return HD_NONE;
}

static int check_cycles(struct hd_schedule_maker *maker, struct hd_error *err)
{
	struct hd_schedule *made = maker->made;
	uint32_t count = made->operation_count - maker->first;
	char place[HD_ERROR_TEXT / 2], file[HD_ERROR_TEXT / 2];

	if (!count || !maker->pair_count)
		return 0;
	uint32_t *waits = calloc(count, 2 * sizeof(*waits));
	if (!waits)
		return hd_error_no_memory(err);
	uint32_t left = left_over(made, maker->first, count, waits, waits + count);
	free(waits);
	if (left == HD_NONE)
		return 0;
	return hd_error_set(err, -EINVAL,
			    "%s: operations wait for each other in a circle, which holds up %s",
			    where(made, left, file, sizeof(file)),
			    hd_schedule_place(made, left, place, sizeof(place)));
}

int hd_schedule_close(struct hd_schedule_maker *maker, struct hd_error *err)
{
	struct hd_schedule *made = maker->made;
	int rc = sort_edges(maker);

	if (rc == -ENOMEM)
		return hd_error_no_memory(err);
	if (rc)
		return hd_error_set(err, rc, "%s: more than %" PRIu32 " dependencies", made->file,
				    UINT32_MAX);
	rc = check_cycles(maker, err);
	made->count[maker->rank] = made->operation_count - maker->first;
	maker->rank = HD_NONE;
	hd_lookup_release(&maker->labels);
	return rc;
}

struct hd_schedule *hd_schedule_end(struct hd_schedule_maker *maker)
{
	struct hd_schedule *made = maker->made;

	if (!made->operation_count)
		return NULL;
	for (uint32_t i = 0; i < made->rank_count; i++)
		if (made->base[i] == HD_NONE)
			made->base[i] = 0;
	maker->made = NULL;
	return made;
}

void hd_schedule_release(struct hd_schedule_maker *maker)
{
	hd_schedule_free(maker->made);
	free(maker->pairs);
	hd_lookup_release(&maker->labels);
}

void hd_schedule_free(struct hd_schedule *schedule)
{
	if (!schedule)
		return;
	free(schedule->base);
	free(schedule->count);
	free(schedule->operations);
	free(schedule->edges);
	free(schedule->names);
	free(schedule->file);
	free(schedule);
}

/* ---- running ---- */

void hd_schedule_waits(const struct hd_schedule *schedule, uint32_t *waits)
{
	memset(waits, 0, schedule->operation_count * sizeof(*waits));
	for (uint32_t i = 0; i < schedule->edge_count; i++)
		waits[schedule->edges[i] & ~HD_SCHEDULE_STARTED]++;
}

static const char *number_or_any(uint32_t number, char *buffer, size_t size)
{
	if (number == HD_SCHEDULE_ANY)
		snprintf(buffer, size, "any");
	else
		snprintf(buffer, size, "%" PRIu32, number);
	return buffer;
}

int hd_schedule_deadlock(const struct hd_schedule *schedule, const uint32_t *waits,
			 struct hd_error *err)
{
	uint32_t first = HD_NONE, left = 0;
	char place[HD_ERROR_TEXT / 2], peer[16], tag[16];

	for (uint32_t i = 0; i < schedule->operation_count; i++) {
		left += waits[i] != HD_NONE;
		if (!waits[i] && first == HD_NONE)
			first = i;
	}
	if (first == HD_NONE)
		return hd_error_set(err, -EDEADLK, "deadlock: %" PRIu32 " operations do not end",
				    left);
	const struct hd_schedule_operation *operation = &schedule->operations[first];
	bool receive = operation->action == HD_SCHEDULE_RECEIVE;
	return hd_error_set(
	    err, -EDEADLK,
	    "deadlock: %" PRIu32 " operations do not end; the first is %s: "
	    "%s %s tag %s has no %s",
	    left, hd_schedule_place(schedule, first, place, sizeof(place)),
	    receive ? "recv from" : "send to", number_or_any(operation->peer, peer, sizeof(peer)),
	    number_or_any(operation->tag, tag, sizeof(tag)), receive ? "message" : "receive");
}
