/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as a Chakra trace of two ranks: the first two bytes are the length of the first file. What
 * is accepted has partners and edges within its ranks, and runs to its end or to a deadlock. */
#include "fuzzing.h"

#include "chakra.h"

#include <errno.h>
#include <stdlib.h>

static void check_operation(const struct hd_schedule *schedule, uint32_t index)
{
	const struct hd_schedule_operation *operation = &schedule->operations[index];
	uint32_t base = schedule->base[operation->rank], count = schedule->count[operation->rank];

	demand(operation->rank < 2 && index >= base && index < base + count);
	demand(operation->action == HD_SCHEDULE_CALCULATE || operation->peer < 2);
	for (uint32_t e = operation->edge; e < operation[1].edge; e++) {
		uint32_t after = schedule->edges[e] & ~HD_SCHEDULE_STARTED;
		demand(after >= base && after < base + count && after != index);
	}
}

static void check_run(const struct hd_schedule *schedule)
{
	uint32_t *round = malloc(schedule->operation_count * sizeof(*round)), rounds = 0;
	struct hd_error err = {""};

	demand(round);
	int rc = hd_schedule_rounds(schedule, round, &rounds, &err);
	demand(!rc || (rc == -EDEADLK && err.text[0]));
	free(round);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hd_schedule *schedule = NULL;
	struct hd_error err = {""};

	if (size < 2)
		return 0;
	size_t first = (size_t)(data[0] | data[1] << 8);
	const char *bytes = (const char *)data + 2;
	size -= 2;
	first = first < size ? first : size;
	const struct chakra_bytes files[] = {{bytes, first}, {bytes + first, size - first}};
	int rc = chakra_parse(files, 2, "trace", 1000000, &schedule, &err);
	demand(!rc == !err.text[0] && !rc == (schedule != NULL));
	if (rc)
		return 0;
	for (uint32_t i = 0; i < schedule->operation_count; i++)
		check_operation(schedule, i);
	check_run(schedule);
	hd_schedule_free(schedule);
	return 0;
}
