/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/schedule_maker.h>

#include <errno.h>
#include <heddle/base/grow.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
