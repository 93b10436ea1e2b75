/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A schedule without times: in which round each message is sent. */
#include <heddle/analysis/schedule.h>
#include <heddle/base/grow.h>
#include <stdlib.h>

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

static void add(struct run *run, struct list *list, uint32_t operation)
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
static void release(struct run *run, uint32_t operation, uint32_t started)
{
	const struct hd_schedule *schedule = run->schedule;
	uint32_t end = schedule->operations[operation + 1].edge;

	for (uint32_t e = schedule->operations[operation].edge; e < end; e++) {
		uint32_t after = schedule->edges[e];
		if ((after & HD_SCHEDULE_STARTED) == started &&
		    !--run->waits[after & ~HD_SCHEDULE_STARTED])
			add(run, &run->ready, after & ~HD_SCHEDULE_STARTED);
	}
}

static void finish(struct run *run, uint32_t operation)
{
	run->waits[operation] = HD_NONE;
	release(run, operation, 0);
}

static void start(struct run *run, uint32_t operation)
{
	release(run, operation, HD_SCHEDULE_STARTED);
	switch ((enum hd_schedule_action)run->schedule->operations[operation].action) {
	case HD_SCHEDULE_CALCULATE:
		finish(run, operation);
		break;
	case HD_SCHEDULE_SEND:
		run->round[operation] = run->now;
		run->rounds = run->now + 1;
		add(run, &run->sent, operation);
		break;
	case HD_SCHEDULE_RECEIVE:
		if (hd_schedule_receive(run->match, operation) != HD_NONE)
			finish(run, operation);
		break;
	}
}

static void end_round(struct run *run)
{
	struct list empty = run->before;

	run->before = run->sent;
	run->sent = empty;
	run->sent.count = 0;
	run->now++;
	for (uint32_t i = 0; i < run->before.count; i++) {
		uint32_t send = run->before.operations[i];
		uint32_t receive = hd_schedule_arrive(run->match, send);
		finish(run, send);
		if (receive != HD_NONE)
			finish(run, receive);
	}
}

static void go(struct run *run)
{
	for (uint32_t i = 0; i < run->schedule->operation_count; i++)
		if (!run->waits[i])
			add(run, &run->ready, i);
	do {
		for (uint32_t i = 0; i < run->ready.count && !run->failed; i++)
			start(run, run->ready.operations[i]);
		run->ready.count = 0;
		end_round(run);
	} while (!run->failed && (run->ready.count || run->sent.count));
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
		go(&run);
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
