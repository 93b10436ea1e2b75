/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as a GOAL trace. What is accepted has partners and edges within its ranks, and runs to
 * its end or to a deadlock. */
#include "fuzzing.h"

#include <errno.h>
#include <heddle/analysis/schedule.h>
#include <stdlib.h>

static void check_operation(const struct hd_schedule *schedule, uint32_t index)
{
	const struct hd_schedule_operation *operation = &schedule->operations[index];
	uint32_t base = schedule->base[operation->rank], count = schedule->count[operation->rank];
	bool receive = operation->action == HD_SCHEDULE_RECEIVE;
	char place[200];

	demand(operation->rank < schedule->rank_count && index >= base && index < base + count);
	demand(operation->cpu < schedule->cpu_count);
	demand(operation->action == HD_SCHEDULE_CALCULATE ||
	       operation->peer < schedule->rank_count ||
	       (receive && operation->peer == HD_SCHEDULE_ANY));
	demand(operation->edge <= operation[1].edge && operation[1].edge <= schedule->edge_count);
	for (uint32_t e = operation->edge; e < operation[1].edge; e++) {
		uint32_t after = schedule->edges[e] & ~HD_SCHEDULE_STARTED;
		demand(after >= base && after < base + count && after != index);
	}
	demand(hd_schedule_place(schedule, index, place, sizeof(place))[0]);
}

static void check_rounds(const struct hd_schedule *schedule)
{
	uint32_t *round = malloc(schedule->operation_count * sizeof(*round)), rounds = 0;
	struct hd_error err = {""};

	demand(round);
	int rc = hd_schedule_rounds(schedule, round, &rounds, &err);
	demand(!rc || (rc == -EDEADLK && err.text[0]));
	for (uint32_t i = 0; !rc && i < schedule->operation_count; i++)
		demand(schedule->operations[i].action != HD_SCHEDULE_SEND || round[i] < rounds);
	free(round);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hd_schedule *schedule = NULL;
	struct hd_error err = {""};
	int rc = hd_schedule_parse_goal((const char *)data, size, "trace", &schedule, &err);

	demand(!rc == !err.text[0] && !rc == (schedule != NULL));
	if (rc)
		return 0;
	for (uint32_t i = 0; i < schedule->operation_count; i++)
		check_operation(schedule, i);
	check_rounds(schedule);
	hd_schedule_free(schedule);
	return 0;
}
