/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events to come, in the order of time; of equal times in the order in which they were pushed.
 *
 * A timing wheel: the near future is a ring of buckets of equal width, each a list; a bucket is
 * sorted when its time has come. The far future is a heap. With one or two events in a bucket, all
 * costs are O(1). Source: R. Brown, "Calendar queues: a fast O(1) priority queue implementation for
 * the simulation event set problem", 1988.
 */
#ifndef AGENDA_H
#define AGENDA_H

#include <heddle/base/index.h>
#include <stdbool.h>
#include <stdint.h>

struct agenda_event {
	uint64_t time; /* ps */
	uint32_t what; /* the caller's */
	uint32_t next; /* in its bucket */
};

struct agenda_far {
	uint64_t time, sequence;
	uint32_t what;
};

struct agenda {
	unsigned shift; /* a bucket is 2^shift ps wide */
	uint32_t buckets; /* a power of 2, at least 4096 */
	uint64_t end; /* of the bucket whose events are in `current` */
	uint32_t *first; /* [buckets] the event that was pushed last, or HD_NONE */
	uint64_t *occupied; /* a bit for each bucket */
	uint64_t *summary; /* a bit for each word of occupied */
	struct agenda_event *events; /* of the buckets */
	uint32_t event_room, event_count, event_free;
	struct agenda_event *current; /* sorted; [position .. count - 1] are to come */
	uint32_t current_room, position, count;
	struct agenda_far *far; /* a binary heap */
	uint32_t far_room, far_count;
	uint64_t far_sequence;
	int rc; /* -ENOMEM: a refill has failed, and events may be lost */
};

/* `delay`: most events are pushed no farther ahead, ps. `density`: events in that time. `together`: of
 * a bucket; with 1 sorting costs least, with more a caller can look at more events in advance. The
 * order of events does not depend on it. Errors: -ENOMEM; agenda_release() is needed in any case. */
int agenda_init(struct agenda *agenda, uint64_t delay, uint64_t density, uint64_t together);
void agenda_release(struct agenda *agenda);

/* Errors: -ENOMEM. The time may be any that is not before that of the last event taken. */
int agenda_push(struct agenda *agenda, uint64_t time, uint32_t what);

/* Refills `current`. False: nothing is to come, or agenda->rc is set. For agenda_peek(). */
bool agenda_refill(struct agenda *agenda);

/* The next event, valid until the next push; NULL: nothing is to come, or agenda->rc is set. */
static inline const struct agenda_event *agenda_peek(struct agenda *agenda)
{
	if (agenda->position == agenda->count && !agenda_refill(agenda))
		return 0;
	return &agenda->current[agenda->position];
}

static inline void agenda_drop(struct agenda *agenda)
{
	agenda->position++;
}

#endif
