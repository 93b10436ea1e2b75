/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agenda: what will happen when, by ascending time.
 *
 * Nearly all events come within a time that is known before: the latency of a cable or the time of a packet. So they
 * wait in buckets of a ring, one for each short span of time. Those that come later wait in a heap, and move to the
 * ring when their time is near. agenda_peek() takes one bucket at a time and sorts it; events of the same time come in
 * the order in which they were pushed. push and peek are O(1) where events are dense, O(log events) for those far
 * away.
 */
#include "agenda.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_LEAST 4096u
#define BUCKETS_MOST 65536u

int agenda_init(struct agenda *agenda, uint64_t delay, uint64_t density, uint64_t together)
{
	uint64_t span = 2 * delay + 1;
	uint32_t buckets = BUCKETS_LEAST;

	while (buckets < BUCKETS_MOST && buckets < 2 * density / together)
		buckets *= 2;
	*agenda = (struct agenda){.buckets = buckets, .event_free = HD_NONE};
	while (agenda->shift < 40 && span >> agenda->shift >= buckets)
		agenda->shift++;
	while (together > 1 && agenda->shift < 40 && density << agenda->shift < delay * together)
		agenda->shift++;
	agenda->first = malloc(buckets * sizeof(*agenda->first));
	agenda->occupied = calloc(buckets / 64, sizeof(*agenda->occupied));
	agenda->summary = calloc((buckets / 64 + 63) / 64, sizeof(*agenda->summary));
	if (!agenda->first || !agenda->occupied || !agenda->summary)
		return -ENOMEM;
	for (uint32_t i = 0; i < buckets; i++)
		agenda->first[i] = HD_NONE;
	return 0;
}

void agenda_release(struct agenda *agenda)
{
	free(agenda->first);
	free(agenda->occupied);
	free(agenda->summary);
	free(agenda->events);
	free(agenda->current);
	free(agenda->far);
}

static int make_room(struct agenda *agenda, uint32_t more)
{
	struct agenda_event *grown;

	if (agenda->count + more <= agenda->current_room)
		return 0;
	grown = hd_grow(agenda->current, agenda->count, more, &agenda->current_room,
			sizeof(*agenda->current));
	if (!grown)
		return -ENOMEM;
	agenda->current = grown;
	return 0;
}

static bool before(const struct agenda_far *a, const struct agenda_far *b)
{
	return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

static int push_far(struct agenda *agenda, uint64_t time, uint32_t what)
{
	struct agenda_far far = {time, agenda->far_sequence++, what};
	struct agenda_far *heap =
	    hd_grow(agenda->far, agenda->far_count, 1, &agenda->far_room, sizeof(*heap));
	uint32_t place;

	if (!heap)
		return -ENOMEM;
	agenda->far = heap;
	place = agenda->far_count++;
	for (; place && before(&far, &heap[(place - 1) / 2]); place = (place - 1) / 2)
		heap[place] = heap[(place - 1) / 2];
	heap[place] = far;
	return 0;
}

static int push_near(struct agenda *agenda, uint64_t time, uint32_t what)
{
	uint32_t bucket = (uint32_t)(time >> agenda->shift) & (agenda->buckets - 1);
	uint32_t event = agenda->event_free;

	if (event != HD_NONE) {
		agenda->event_free = agenda->events[event].next;
	} else {
		struct agenda_event *events = hd_grow(agenda->events, agenda->event_count, 1,
						      &agenda->event_room, sizeof(*events));
		if (!events)
			return -ENOMEM;
		agenda->events = events;
		event = agenda->event_count++;
	}
	agenda->events[event] = (struct agenda_event){time, what, agenda->first[bucket]};
	agenda->first[bucket] = event;
	agenda->occupied[bucket / 64] |= UINT64_C(1) << bucket % 64;
	agenda->summary[bucket / 4096] |= UINT64_C(1) << bucket / 64 % 64;
	return 0;
}

static uint64_t span(const struct agenda *agenda)
{
	return (uint64_t)agenda->buckets << agenda->shift;
}

int agenda_push(struct agenda *agenda, uint64_t time, uint32_t what)
{
	if (time < agenda->end) {
		/* Behind all events of the same time. */
		uint32_t place;

		if (agenda->position == agenda->count)
			agenda->position = agenda->count = 0;
		if (make_room(agenda, 1))
			return -ENOMEM;
		place = agenda->count++;
		for (; place > agenda->position && agenda->current[place - 1].time > time; place--)
			agenda->current[place] = agenda->current[place - 1];
		agenda->current[place] = (struct agenda_event){time, what, HD_NONE};
		return 0;
	}
	if (time - agenda->end < span(agenda))
		return push_near(agenda, time, what);
	return push_far(agenda, time, what);
}

/* What the ring has room for now comes before all that will be pushed into it. */
static int fetch_far(struct agenda *agenda)
{
	int rc = 0;

	while (!rc && agenda->far_count && agenda->far[0].time - agenda->end < span(agenda)) {
		rc = push_near(agenda, agenda->far[0].time, agenda->far[0].what);
		if (!rc) {
			struct agenda_far *heap = agenda->far, last = heap[--agenda->far_count];
			uint32_t place = 0, child;

			while ((child = 2 * place + 1) < agenda->far_count) {
				if (child + 1 < agenda->far_count &&
				    before(&heap[child + 1], &heap[child]))
					child++;
				if (!before(&heap[child], &last))
					break;
				heap[place] = heap[child];
				place = child;
			}
			heap[place] = last;
		}
	}
	return rc;
}

/* The first occupied bucket from `from` on, around the ring; HD_NONE: all are empty. */
static uint32_t next_bucket(const struct agenda *agenda, uint32_t from)
{
	uint32_t words = agenda->buckets / 64, summaries = words / 64, word = from / 64;
	uint64_t bits = agenda->occupied[word] >> from % 64;

	if (bits)
		return from + (uint32_t)__builtin_ctzll(bits);
	/* the word of `from` itself comes last, around the ring */
	word = (word + 1) % words;
	for (uint32_t i = 0; i <= summaries; i++) {
		uint32_t place = (word / 64 + i) % summaries;
		bits = agenda->summary[place];
		if (!i)
			bits &= ~UINT64_C(0) << word % 64;
		if (bits) {
			word = place * 64 + (uint32_t)__builtin_ctzll(bits);
			return word * 64 + (uint32_t)__builtin_ctzll(agenda->occupied[word]);
		}
	}
	return HD_NONE;
}

/* The list has the latest event first: from its end, each goes behind those of the same time. */
static int take_bucket(struct agenda *agenda, uint32_t bucket)
{
	uint32_t length = 0;

	agenda->position = agenda->count = 0;
	for (uint32_t event = agenda->first[bucket]; event != HD_NONE; length++)
		event = agenda->events[event].next;
	if (make_room(agenda, length))
		return -ENOMEM;
	agenda->count = length;
	for (uint32_t event = agenda->first[bucket], next; event != HD_NONE; event = next) {
		struct agenda_event *from = &agenda->events[event];
		next = from->next;
		agenda->current[--length] = *from;
		from->next = agenda->event_free;
		agenda->event_free = event;
	}
	agenda->first[bucket] = HD_NONE;
	agenda->occupied[bucket / 64] &= ~(UINT64_C(1) << bucket % 64);
	if (!agenda->occupied[bucket / 64])
		agenda->summary[bucket / 4096] &= ~(UINT64_C(1) << bucket / 64 % 64);
	return 0;
}

/* Stable; the upper half of the room is for merging. */
static void sort_merging(struct agenda_event *events, uint32_t count, struct agenda_event *room)
{
	uint32_t half = count / 2, left = 0, right = half, out = 0;

	if (count <= 24) {
		for (uint32_t i = 1; i < count; i++) {
			struct agenda_event event = events[i];
			uint32_t place = i;
			for (; place && events[place - 1].time > event.time; place--)
				events[place] = events[place - 1];
			events[place] = event;
		}
		return;
	}
	sort_merging(events, half, room);
	sort_merging(events + half, count - half, room);
	if (events[half - 1].time <= events[half].time)
		return;
	memcpy(room, events, half * sizeof(*room));
	while (left < half && right < count)
		events[out++] =
		    events[right].time < room[left].time ? events[right++] : room[left++];
	while (left < half)
		events[out++] = room[left++];
}

static int sort_current(struct agenda *agenda)
{
	if (agenda->count > 24 && make_room(agenda, agenda->count))
		return -ENOMEM;
	sort_merging(agenda->current, agenda->count, agenda->current + agenda->count);
	return 0;
}

/* Refills `current`. False: nothing is to come, or agenda->rc is set. For agenda_peek(). */
bool agenda_refill(struct agenda *agenda)
{
	uint32_t mask = agenda->buckets - 1, from = (uint32_t)(agenda->end >> agenda->shift) & mask;
	uint32_t bucket = next_bucket(agenda, from);

	if (bucket == HD_NONE) {
		if (!agenda->far_count)
			return false;
		agenda->end = agenda->far[0].time >> agenda->shift << agenda->shift;
		agenda->rc = fetch_far(agenda);
		if (agenda->rc)
			return false;
		from = (uint32_t)(agenda->end >> agenda->shift) & mask;
		bucket = from;
	}
	agenda->end += (uint64_t)(((bucket - from) & mask) + 1) << agenda->shift;
	agenda->rc = take_bucket(agenda, bucket);
	if (!agenda->rc)
		agenda->rc = sort_current(agenda);
	if (!agenda->rc)
		agenda->rc = fetch_far(agenda);
	return !agenda->rc;
}
