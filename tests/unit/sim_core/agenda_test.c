/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agenda gives events by time, and equal times by the order in which they came: as a sorted list does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agenda.h"

#include <heddle/base/random.h>
#include <stdlib.h>

#define EVENTS 20000u

struct item {
	uint64_t time;
	uint32_t what; /* the number of the push */
};

/* An unsorted list: the next event is looked for each time. */
struct list {
	struct item items[EVENTS];
	uint32_t count;
};

static struct list list;

static void add(struct agenda *agenda, uint64_t time, uint32_t what)
{
	assert_int_equal(agenda_push(agenda, time, what), 0);
	list.items[list.count++] = (struct item){time, what};
}

static uint32_t earliest(void)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < list.count; i++)
		if (list.items[i].time < list.items[best].time ||
		    (list.items[i].time == list.items[best].time &&
		     list.items[i].what < list.items[best].what))
			best = i;
	return best;
}

/* Takes the next event from both. Returns its time. */
static uint64_t take(struct agenda *agenda)
{
	const struct agenda_event *event = agenda_peek(agenda);
	uint32_t best = earliest();
	uint64_t time = list.items[best].time;

	assert_non_null(event);
	assert_int_equal(event->time, time);
	assert_int_equal(event->what, list.items[best].what);
	agenda_drop(agenda);
	list.items[best] = list.items[--list.count];
	return time;
}

/* How far ahead: now, soon, at times that coincide, or farther than the ring reaches. */
static uint64_t draw_time(uint64_t *random, uint64_t now, uint64_t delay)
{
	switch (hd_random_below(random, 8)) {
	case 0:
		return now;
	case 1:
		return now + hd_random_below(random, 40) * (delay + 1);
	case 2:
		return now + hd_random_below(random, 1000000) * (delay + 1);
	case 3:
		return (now / 100 + 1 + hd_random_below(random, 5)) * 100;
	default:
		return now + hd_random_below(random, delay + 1);
	}
}

static void run_random(uint64_t seed, uint64_t delay, uint64_t density, uint64_t together)
{
	struct agenda agenda;
	uint64_t random = seed, now = 0;
	uint32_t pushed = 0;

	assert_int_equal(agenda_init(&agenda, delay, density, together), 0);
	list.count = 0;
	while (pushed < 3000 || list.count) {
		uint32_t burst = (uint32_t)hd_random_below(&random, pushed < 3000 ? 60 : 1);
		for (uint32_t i = 0; i < burst; i++)
			add(&agenda, draw_time(&random, now, delay), pushed++);
		for (uint64_t i = hd_random_below(&random, 60); i && list.count; i--)
			now = take(&agenda);
	}
	assert_null(agenda_peek(&agenda));
	assert_int_equal(agenda.rc, 0);
	agenda_release(&agenda);
}

static void test_random_events(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 12; seed++) {
		run_random(seed, 500000, 40, 1);
		run_random(seed, 500000, 4000, 128);
		run_random(seed, 3, 1, 1);
		run_random(seed, UINT64_C(1) << 40, 100000, 1);
	}
}

/* As many events in one bucket as are just sorted one by one, or just not; with times that repeat. */
static void test_full_buckets(void **state)
{
	(void)state;
	for (uint32_t count = 1; count < 200; count++) {
		struct agenda agenda;
		uint64_t random = count;
		assert_int_equal(agenda_init(&agenda, UINT64_C(1) << 40, 1, 1), 0);
		list.count = 0;
		for (uint32_t i = 0; i < count; i++)
			add(&agenda, 5 + hd_random_below(&random, 1 + count / 2), i);
		while (list.count)
			take(&agenda);
		agenda_release(&agenda);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_events),
	    cmocka_unit_test(test_full_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
