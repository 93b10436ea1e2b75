/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who takes part in an operation of a trace, and with whom. */
#include "traffic_program.h"

#include <heddle/base/text.h>
#include <string.h>

static bool parse_signed(const char *text, int64_t *distance)
{
	struct hd_cursor cursor = {text + 1, text + strlen(text)};
	uint32_t number;

	if ((*text != '+' && *text != '-') || !hd_take_decimal(&cursor, &number) ||
	    !hd_cursor_done(&cursor) || number > PROGRAM_RANKS_MAX)
		return false;
	*distance = *text == '-' ? -(int64_t)number : number;
	return true;
}

bool program_parse_peer(const char *word, struct program_operation *operation)
{
	struct hd_cursor cursor = {word + (*word == '^'), word + strlen(word)};
	uint32_t number;

	if (*word >= 'x' && *word <= 'z') {
		operation->peer = PEER_AXIS;
		operation->axis = (uint32_t)(*word - 'x');
		return parse_signed(word + 1, &operation->distance);
	}
	if (parse_signed(word, &operation->distance)) {
		operation->peer = PEER_SHIFT;
		return true;
	}
	operation->peer = *word == '^' ? PEER_XOR : PEER_RANK;
	bool good = hd_take_decimal(&cursor, &number) && hd_cursor_done(&cursor) &&
		    number < PROGRAM_RANKS_MAX;
	operation->distance = good ? number : 0;
	return good;
}

bool program_in_ranges(const struct program *program, const struct program_operation *only,
		       uint32_t rank)
{
	const struct program_range *ranges = program->ranges + only->range_base;

	for (uint32_t i = 0; i < only->range_count; i++)
		if (rank >= ranges[i].first && rank <= ranges[i].last)
			return true;
	return false;
}

bool program_takes_part(const struct program *program, uint32_t operation, uint32_t rank)
{
	uint32_t block = program->operations[operation].block;

	for (; block != HD_NONE; block = program->operations[block].block) {
		const struct program_operation *around = &program->operations[block];
		if (around->action == PROGRAM_ONLY && !program_in_ranges(program, around, rank))
			return false;
	}
	return true;
}

static int64_t wrapped(int64_t place, int64_t size)
{
	return (place % size + size) % size;
}

/* The last axis changes first. */
static uint32_t on_grid(const struct program *program, const struct program_operation *operation,
			uint32_t rank)
{
	int64_t stride = 1, size = program->size[operation->axis];

	for (uint32_t a = operation->axis + 1; a < program->axes; a++)
		stride *= program->size[a];
	int64_t place = rank / stride % size, next = place + operation->distance;
	if (program->open && (next < 0 || next >= size))
		return HD_NONE;
	return (uint32_t)(rank + (wrapped(next, size) - place) * stride);
}

uint32_t program_peer(const struct program *program, const struct program_operation *operation,
		      uint32_t rank, uint32_t ranks)
{
	uint32_t peer;

	switch (operation->peer) {
	case PEER_AXIS:
		return on_grid(program, operation, rank);
	case PEER_SHIFT:
		return (uint32_t)wrapped((int64_t)rank + operation->distance, ranks);
	case PEER_XOR:
		peer = rank ^ (uint32_t)operation->distance;
		return peer < ranks ? peer : HD_NONE;
	case PEER_RANK:
		break;
	}
	return (uint64_t)operation->distance < ranks ? (uint32_t)operation->distance : HD_NONE;
}
