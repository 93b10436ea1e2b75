/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as an MPI trace. What is accepted has blocks that fit together, partners that exist, and
 * no more turns than the limit. */
#include "fuzzing.h"

#include "traffic_program.h"

#define RANKS 12u

static void check_operation(const struct program *program, uint32_t index)
{
	const struct program_operation *operation = &program->operations[index];
	uint32_t ranks = program->ranks ? program->ranks : RANKS;
	bool begins = operation->action == PROGRAM_REPEAT || operation->action == PROGRAM_ONLY ||
		      operation->action == PROGRAM_REQUEST;
	bool ends = operation->action == PROGRAM_END || operation->action == PROGRAM_DONE;

	demand(operation->block == HD_NONE || operation->block < index);
	demand(!begins || (operation->partner > index &&
			   program->operations[operation->partner].partner == index));
	demand(!ends || operation->partner < index);
	demand(operation->range_base + operation->range_count <= program->range_count);
	demand(operation->action != PROGRAM_SEND || operation->amount > 0);
	for (uint32_t rank = 0; rank < ranks && rank < 64; rank++) {
		uint32_t peer = program_peer(program, operation, rank, ranks);
		demand(peer == HD_NONE || peer < ranks);
		program_takes_part(program, index, rank);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hd_arena arena = {0};
	struct program *program = NULL;
	struct hd_error err = {""};
	int rc = program_read(&arena, (const char *)data, size, "trace", &program, &err);

	demand(!rc == !err.text[0] && !rc == (program != NULL));
	for (uint32_t i = 0; program && i < program->operation_count; i++)
		check_operation(program, i);
	hd_arena_release(&arena);
	return 0;
}
