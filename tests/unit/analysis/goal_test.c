/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GOAL traces: what the reader takes and refuses, which receive takes which message, and in which
 * round a message is sent. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "testing.h"

#include <heddle/base/random.h>

static int parse(const char *text, struct hd_schedule **out, struct hd_error *err)
{
	*out = NULL;
	*err = (struct hd_error){""};
	return hd_schedule_parse_goal(text, strlen(text), "t", out, err);
}

static struct hd_schedule *good(const char *text)
{
	struct hd_schedule *schedule;
	struct hd_error err;

	CHECK(parse(text, &schedule, &err));
	return schedule;
}

/* ---- the reader ---- */

/* Property: each mistake has its line and its reason. */
static void refused(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
	    {"", "t: the file is empty"},
	    {"// nothing\n", "t: no operation"},
	    {"num_ranks 2\nrank 0 {\n}\n", "t: no operation"},
	    {"rank 0 {\n", "t:1: num_ranks comes before the first rank"},
	    {"num_ranks\n", "t:1: expected a number of ranks 1 .. 65536"},
	    {"num_ranks 0\n", "t:1: expected a number of ranks"},
	    {"num_ranks 65537\n", "t:1: expected a number of ranks"},
	    {"num_ranks 2\nnum_ranks 2\n", "t:2: num_ranks comes once"},
	    {"num_ranks 2\nrank 2 {\n", "t:2: expected a rank 0 .. 1"},
	    {"num_ranks 2\nrank 1\n", "t:2: expected {"},
	    {"num_ranks 2\nsend 1b to 1\n", "t:2: expected num_ranks or rank"},
	    {"num_ranks 2\nrank 0 {\ncalc 1\n", "t:2: the rank has no } at its end"},
	    {"num_ranks 2\n/* rank 0 {\n", "t:2: the comment has no end"},
	    {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n", "t:4: rank 0 is there already"},
	    {"num_ranks 2\nrank 0 {\n5: calc 1\n", "t:3: expected a label, calc, send, recv or }"},
	    {"num_ranks 2\nrank 0 {\na calc 1\n", "t:3: expected ':', requires or irequires"},
	    {"num_ranks 2\nrank 0 {\na: compute 1\n", "t:3: expected calc, send or recv"},
	    {"num_ranks 2\nrank 0 {\ncalc x\n", "t:3: expected a time"},
	    {"num_ranks 2\nrank 0 {\ncalc 18446744073709551616\n", "t:3: expected a time"},
	    {"num_ranks 2\nrank 0 {\ncalc 1 tag 1\n", "t:3: too many words"},
	    {"num_ranks 2\nrank 0 {\ncalc 1 cpu 256\n", "t:3: expected a cpu 0 .. 255"},
	    {"num_ranks 2\nrank 0 {\nsend 1 to 1\n", "t:3: expected a size in bytes below 2^32"},
	    {"num_ranks 2\nrank 0 {\nsend 4294967296b to 1\n", "t:3: expected a size in bytes"},
	    {"num_ranks 2\nrank 0 {\nsend 1b from 1\n", "t:3: expected 'to' and a rank"},
	    {"num_ranks 2\nrank 0 {\nrecv 1b to 1\n", "t:3: expected 'from' and a rank"},
	    {"num_ranks 2\nrank 0 {\nsend 1b to 2\n", "t:3: expected a rank 0 .. 1"},
	    {"num_ranks 2\nrank 0 {\nsend 1b to -1\n", "t:3: expected a rank 0 .. 1"},
	    {"num_ranks 2\nrank 0 {\nrecv 1b from -2\n", "t:3: expected a rank 0 .. 1, or -1"},
	    {"num_ranks 2\nrank 0 {\nsend 1b to 1 tag -1\n", "t:3: expected a tag 0 .. 4294967294"},
	    {"num_ranks 2\nrank 0 {\nsend 1b to 1 tag 4294967295\n", "t:3: expected a tag"},
	    {"num_ranks 2\nrank 0 {\nsend 1b to 1 tag 1 tag 2\n", "t:3: too many words"},
	    {"num_ranks 2\nrank 0 {\nsend 1b to 1 nic 256\n", "t:3: expected a nic 0 .. 255"},
	    {"num_ranks 2\nrank 0 {\na: calc 1\na: calc 1\n",
	     "t:4: this label is there already, in line 3"},
	    {"num_ranks 2\nrank 0 {\na: calc 1\na requires b\n",
	     "t:4: no operation of this rank before has the label b"},
	    {"num_ranks 2\nrank 0 {\na: calc 1\nl1 requires a\n", "before has the label l1"},
	    {"num_ranks 2\nrank 0 {\na: calc 1\na requires\n",
	     "t:4: expected the label of an operation"},
	    {"num_ranks 2\nrank 0 {\na: calc 1\na requires a\n}\n",
	     "t:3: operations wait for each other in a circle, which holds up rank 0, a (t:3)"},
	    {"num_ranks 2\nrank 1 {\nl1: calc 1\nl2: calc 1\nl1 irequires l2\nl2 requires l1\n}\n",
	     "t:3: operations wait for each other in a circle, which holds up rank 1, l1 (t:3)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_schedule *schedule;
		struct hd_error err;
		int rc = parse(cases[i].text, &schedule, &err);
		if (!rc || schedule || !strstr(err.text, cases[i].reason))
			fail_msg("'%s': %d '%s' does not say '%s'", cases[i].text, rc, err.text,
				 cases[i].reason);
	}
}

/* Property: all forms of a line give what they say. */
static void forms(void **state)
{
	static const char text[] =
	    "\xEF\xBB\xBF// by hand\n"
	    "num_ranks 3 /* in\n two lines */ rank 2 { calc 7 cpu 3 nic 1\n"
	    "l10: send 4096b to 0 tag 9 cpu 1 nic 2\r\n"
	    "\tsend_it :send 0b to 2\n"
	    "l010: recv 5 b from -1 cpu 0 tag -1 // any\n"
	    "l10 irequires send_it\n l010 requires l10\nl010 requires send_it }\n"
	    "rank 0 {\nrecv 4096b from 2 tag 9}\n";
	struct hd_schedule *schedule = good(text);
	const struct hd_schedule_operation *operations = schedule->operations;
	char place[100];
	uint32_t waits[5];

	(void)state;
	assert_int_equal(schedule->rank_count, 3);
	assert_int_equal(schedule->operation_count, 5);
	assert_int_equal(schedule->count[0], 1);
	assert_int_equal(schedule->count[1], 0);
	assert_int_equal(schedule->count[2], 4);
	assert_int_equal(schedule->base[2], 0);
	assert_int_equal(schedule->base[0], 4);
	assert_int_equal(schedule->cpu_count, 4);
	assert_true(schedule->wildcards);
	assert_int_equal(operations[0].action, HD_SCHEDULE_CALCULATE);
	assert_int_equal(operations[0].amount, 7);
	assert_int_equal(operations[0].cpu, 3);
	assert_int_equal(operations[1].action, HD_SCHEDULE_SEND);
	assert_int_equal(operations[1].amount, 4096);
	assert_int_equal(operations[1].peer, 0);
	assert_int_equal(operations[1].tag, 9);
	assert_int_equal(operations[3].peer, HD_SCHEDULE_ANY);
	assert_int_equal(operations[3].tag, HD_SCHEDULE_ANY);
	assert_int_equal(operations[4].rank, 0);
	hd_schedule_waits(schedule, waits);
	assert_int_equal(waits[1], 1);
	assert_int_equal(waits[3], 2);
	assert_int_equal(schedule->edges[operations[2].edge], 1 | HD_SCHEDULE_STARTED);
	assert_string_equal(hd_schedule_place(schedule, 0, place, sizeof(place)), "rank 2 (t:3)");
	assert_string_equal(hd_schedule_place(schedule, 1, place, sizeof(place)),
			    "rank 2, l10 (t:4)");
	assert_string_equal(hd_schedule_place(schedule, 3, place, sizeof(place)),
			    "rank 2, l010 (t:6)");
	assert_int_equal(sizeof(struct hd_schedule_operation), 32);
	hd_schedule_free(schedule);
}

/* ---- matching ---- */

/* The obvious algorithm: both queues of a rank in one list, from the front. */
struct slow {
	const struct hd_schedule *schedule;
	uint32_t waiting[1000], count;
};

static bool fits(const struct hd_schedule_operation *receive,
		 const struct hd_schedule_operation *send)
{
	return receive->action == HD_SCHEDULE_RECEIVE && send->action == HD_SCHEDULE_SEND &&
	       receive->rank == send->peer &&
	       (receive->peer == HD_SCHEDULE_ANY || receive->peer == send->rank) &&
	       (receive->tag == HD_SCHEDULE_ANY || receive->tag == send->tag);
}

static uint32_t slow_match(struct slow *slow, uint32_t index)
{
	const struct hd_schedule_operation *one = &slow->schedule->operations[index];

	for (uint32_t i = 0; i < slow->count; i++) {
		uint32_t found = slow->waiting[i];
		const struct hd_schedule_operation *other = &slow->schedule->operations[found];
		if (!fits(one, other) && !fits(other, one))
			continue;
		slow->count--;
		memmove(&slow->waiting[i], &slow->waiting[i + 1],
			(slow->count - i) * sizeof(slow->waiting[0]));
		return found;
	}
	slow->waiting[slow->count++] = index;
	return HD_NONE;
}

/* A text with random sends and receives of 4 ranks, a third of the receives with wildcards. */
static struct hd_schedule *random_messages(uint64_t *random, bool wildcards)
{
	char text[40000];
	size_t length = (size_t)snprintf(text, sizeof(text), "num_ranks 4\n");

	for (int rank = 0; rank < 4; rank++) {
		length +=
		    (size_t)snprintf(text + length, sizeof(text) - length, "rank %d {\n", rank);
		for (int i = 0; i < 100; i++) {
			int peer = (int)(hd_random_next(random) % 4);
			int tag = (int)(hd_random_next(random) % 3);
			bool send = hd_random_next(random) % 2;
			if (wildcards && !send && hd_random_next(random) % 3 == 0)
				peer = -1;
			if (wildcards && !send && hd_random_next(random) % 3 == 0)
				tag = -1;
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "%s 1b %s %d tag %d\n", send ? "send" : "recv",
						   send ? "to" : "from", peer, tag);
		}
		length += (size_t)snprintf(text + length, sizeof(text) - length, "}\n");
	}
	return good(text);
}

/* Property: in any order of sends and receives, the same pairs meet as in one list. */
static void matching(void **state)
{
	uint64_t random = 31;

	(void)state;
	for (int trial = 0; trial < 200; trial++) {
		struct hd_schedule *schedule = random_messages(&random, trial % 2);
		struct slow slow = {.schedule = schedule};
		struct hd_schedule_match *match;
		struct hd_error err = {""};
		uint32_t order[400];
		assert_int_equal(schedule->wildcards, trial % 2);
		CHECK(hd_schedule_match_new(schedule, &match, &err));
		for (uint32_t i = 0; i < 400; i++) {
			uint32_t at = (uint32_t)(hd_random_next(&random) % (i + 1));
			order[i] = order[at];
			order[at] = i;
		}
		for (uint32_t i = 0; i < 400; i++) {
			bool send = schedule->operations[order[i]].action == HD_SCHEDULE_SEND;
			assert_int_equal(send ? hd_schedule_arrive(match, order[i])
					      : hd_schedule_receive(match, order[i]),
					 slow_match(&slow, order[i]));
		}
		hd_schedule_match_free(match);
		hd_schedule_free(schedule);
	}
}

/* ---- rounds ---- */

/* Property: rounds follow from what is waited for, not from the order of lines. */
static void rounds(void **state)
{
	static const struct {
		const char *text;
		uint32_t count, round[8]; /* of the operations; HD_NONE: no send */
	} cases[] = {
	    {"num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n",
	     1,
	     {0, 0, HD_NONE}},
	    {"num_ranks 2\nrank 0 {\nb: calc 9\na: send 1b to 1\nc: send 1b to 1\na requires b\n"
	     "c requires a\n}\n",
	     2,
	     {HD_NONE, 0, 1}},
	    {"num_ranks 2\nrank 0 {\na: send 1b to 1\nb: send 1b to 1\nb irequires a\n}\n",
	     1,
	     {0, 0}},
	    /* there, back, and there again: the last receive is posted late */
	    {"num_ranks 2\nrank 0 {\na: send 1b to 1\nb: recv 1b from 1\nc: send 1b to 1 tag 1\n"
	     "c requires b\n}\nrank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n"
	     "c: recv 1b from 0 tag 1\nc requires b\nd: send 1b to 0 tag 5\nd requires c\n}\n",
	     4,
	     {0, HD_NONE, 2, HD_NONE, 1, HD_NONE, 3}},
	    {"num_ranks 1\nrank 0 {\ncalc 3\n}\n", 0, {HD_NONE}},
	    /* to itself */
	    {"num_ranks 1\nrank 0 {\na: send 1b to 0\nb: recv 1b from -1\nc: send 1b to 0\n"
	     "c requires b\n}\n",
	     2,
	     {0, HD_NONE, 1}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_schedule *schedule = good(cases[i].text);
		struct hd_error err = {""};
		uint32_t round[8] = {HD_NONE, HD_NONE, HD_NONE, HD_NONE,
				     HD_NONE, HD_NONE, HD_NONE, HD_NONE};
		uint32_t count = 99;
		CHECK(hd_schedule_rounds(schedule, round, &count, &err));
		assert_int_equal(count, cases[i].count);
		for (uint32_t k = 0; k < schedule->operation_count; k++)
			assert_int_equal(round[k], cases[i].round[k]);
		hd_schedule_free(schedule);
	}
}

/* Property: a receive without its message is named. */
static void deadlocks(void **state)
{
	struct hd_schedule *schedule = good(
	    "num_ranks 2\nrank 0 {\nl1: recv 1b from 1 tag 3\nl2: send 1b to 1\nl2 requires l1\n}\n"
	    "rank 1 {\nl1: recv 1b from -1 tag -1\nl2: send 1b to 0 tag 3\nl2 requires l1\n}\n");
	struct hd_error err = {""};
	uint32_t round[4], count;

	(void)state;
	assert_int_equal(hd_schedule_rounds(schedule, round, &count, &err), -EDEADLK);
	assert_string_equal(err.text, "deadlock: 4 operations do not end; the first is rank 0, l1 "
				      "(t:3): recv from 1 tag 3 has no message");
	hd_schedule_free(schedule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refused), cmocka_unit_test(forms),	    cmocka_unit_test(matching),
	    cmocka_unit_test(rounds),  cmocka_unit_test(deadlocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
