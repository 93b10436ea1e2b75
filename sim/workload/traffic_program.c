/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader of MPI traces, and who takes part in their operations. */
#include "traffic_program.h"

#include "traffic_ranks.h"

#include <heddle/base/grow.h>
#include <heddle/base/suggest.h>
#include <heddle/base/text.h>
#include <heddle/sim/units.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#define WORD_MAX 64

struct reader {
	struct hd_lines lines;
	struct hd_cursor rest; /* of the line */
	struct program program;
	uint32_t room, range_room, key_room;
	uint32_t depth, block[PROGRAM_DEPTH]; /* open blocks */
	uint64_t turns[PROGRAM_DEPTH + 1]; /* product of the repeats around */
	uint32_t request; /* that is open, or HD_NONE */
	struct hd_error *err;
};

struct keyword {
	const char *name;
	int (*read)(struct reader *reader, const struct keyword *keyword);
	enum program_action action;
	bool blocks;
	enum exchange exchange;
};

#define REFUSE(reader, ...) hd_lines_error(&(reader)->lines, (reader)->err, __VA_ARGS__)

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

/* Takes a PEER: sets peer, axis and distance. False: the word is none. */
static bool parse_peer(const char *word, struct program_operation *operation)
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

/* The next word; false at the end of the line, and if the word is too long. */
static bool take(struct reader *reader, char *word)
{
	struct hd_cursor found;

	if (!hd_take_word(&reader->rest, &found) || found.end - found.at >= WORD_MAX)
		return false;
	memcpy(word, found.at, (size_t)(found.end - found.at));
	word[found.end - found.at] = '\0';
	return true;
}

static int take_size(struct reader *reader, uint64_t *bytes)
{
	struct hd_error err = {"expected a size such as 4KiB"};
	char word[WORD_MAX];

	if (!take(reader, word) || hd_sim_parse_size(word, bytes, &err))
		return REFUSE(reader, "%s", err.text);
	return *bytes ? 0 : REFUSE(reader, "a message has at least 1 byte");
}

/* A number that may be missing. */
static int take_optional(struct reader *reader, const char *what, uint32_t most, uint32_t *number)
{
	char word[WORD_MAX];

	if (!take(reader, word))
		return 0;
	struct hd_cursor cursor = {word, word + strlen(word)};
	if (!hd_take_decimal(&cursor, number) || !hd_cursor_done(&cursor) || *number > most)
		return REFUSE(reader, "expected %s 0 .. %" PRIu32, what, most);
	return 0;
}

static int end_of_line(struct reader *reader)
{
	hd_take_blanks(&reader->rest);
	return hd_cursor_done(&reader->rest) ? 0 : REFUSE(reader, "too many words");
}

static int add(struct reader *reader, const struct program_operation *operation)
{
	struct program *program = &reader->program;

	if (program->operation_count == PROGRAM_OPERATIONS_MAX)
		return REFUSE(reader, "more than %u operations", PROGRAM_OPERATIONS_MAX);
	struct program_operation *operations = hd_grow(
	    program->operations, program->operation_count, 1, &reader->room, sizeof(*operations));
	if (!operations)
		return hd_error_no_memory(reader->err);
	program->operations = operations;
	operations[program->operation_count] = *operation;
	operations[program->operation_count].block =
	    reader->depth ? reader->block[reader->depth - 1] : HD_NONE;
	program->operation_count++;
	return 0;
}

static int open_block(struct reader *reader, const struct program_operation *operation)
{
	if (reader->depth == PROGRAM_DEPTH)
		return REFUSE(reader, "more than %u blocks in each other", PROGRAM_DEPTH);
	int rc = add(reader, operation);
	if (rc)
		return rc;
	uint64_t turns = operation->action == PROGRAM_REPEAT ? operation->amount : 1;
	reader->turns[reader->depth + 1] = reader->turns[reader->depth] * turns;
	if (reader->turns[reader->depth + 1] > PROGRAM_TURNS_MAX)
		return REFUSE(reader, "more than %u turns of a block", PROGRAM_TURNS_MAX);
	reader->block[reader->depth++] = reader->program.operation_count - 1;
	return 0;
}

static int read_repeat(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action};
	uint32_t turns = 0;
	int rc = take_optional(reader, "a number", PROGRAM_TURNS_MAX, &turns);

	if (!rc && !turns)
		rc = REFUSE(reader, "expected a number above 0");
	operation.amount = turns;
	return rc ? rc : open_block(reader, &operation);
}

static int add_range(struct reader *reader, const char *word, struct hd_cursor *cursor)
{
	struct program *program = &reader->program;
	struct program_range range;
	struct program_range *ranges =
	    hd_grow(program->ranges, program->range_count, 1, &reader->range_room, sizeof(*ranges));

	if (!ranges)
		return hd_error_no_memory(reader->err);
	program->ranges = ranges;
	bool good = hd_take_decimal(cursor, &range.first);
	range.last = range.first;
	if (good && hd_take_text(cursor, "-"))
		good = hd_take_decimal(cursor, &range.last);
	if (!good || range.last < range.first)
		return REFUSE(reader, "'%s' is no list of ranks such as 0-3,7", word);
	ranges[program->range_count++] = range;
	return 0;
}

static int read_only(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action,
					      .range_base = reader->program.range_count};
	char word[WORD_MAX];
	int rc = 0;

	if (!take(reader, word))
		return REFUSE(reader, "expected a list of ranks such as 0-3,7");
	struct hd_cursor cursor = {word, word + strlen(word)};
	do
		rc = add_range(reader, word, &cursor);
	while (!rc && hd_take_text(&cursor, ","));
	if (!rc && !hd_cursor_done(&cursor))
		rc = REFUSE(reader, "'%s' is no list of ranks such as 0-3,7", word);
	operation.range_count = reader->program.range_count - operation.range_base;
	return rc ? rc : open_block(reader, &operation);
}

static int read_end(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action};
	struct program *program = &reader->program;

	if (!reader->depth)
		return REFUSE(reader, "no block is open");
	operation.partner = reader->block[--reader->depth];
	if (reader->request != HD_NONE &&
	    program->operations[reader->request].block == operation.partner)
		return REFUSE(reader, "RODDone is missing before the end of the block");
	int rc = add(reader, &operation);
	if (!rc)
		program->operations[operation.partner].partner = program->operation_count - 1;
	return rc;
}

static int read_calc(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action};
	struct hd_error err = {"expected a time such as 1ms"};
	char word[WORD_MAX];

	if (!take(reader, word) || hd_sim_parse_time(word, &operation.amount, &err) ||
	    operation.amount > UINT64_C(1) << 60)
		return REFUSE(reader, "%s", err.text);
	if (take(reader, word) && hd_sim_parse_share(word, &operation.deviation, &err))
		return REFUSE(reader, "%s", err.text);
	return add(reader, &operation);
}

static int read_message(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action, .blocks = keyword->blocks};
	char word[WORD_MAX];
	int rc = 0;

	if (!take(reader, word) || !parse_peer(word, &operation))
		return REFUSE(reader, "expected a partner such as x+1, -1, ^4 or 5");
	if (operation.peer == PEER_AXIS && operation.axis >= reader->program.axes)
		return REFUSE(reader, "the grid has no axis %c", word[0]);
	if (keyword->action == PROGRAM_SEND)
		rc = take_size(reader, &operation.amount);
	if (!rc)
		rc = take_optional(reader, "a tag", RANKS_TAG_MAX, &operation.tag);
	return rc ? rc : add(reader, &operation);
}

static int read_wait(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action};

	return add(reader, &operation);
}

/* Operations of all ranks must not be in a block of some. */
static int check_for_all(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->depth; i++)
		if (reader->program.operations[reader->block[i]].action == PROGRAM_ONLY)
			return REFUSE(reader,
				      "all ranks must take part, but the block is of some only");
	return 0;
}

static int read_exchange(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action,
					      .exchange = keyword->exchange};
	int rc = check_for_all(reader);

	if (!rc && keyword->exchange != EXCHANGE_BARRIER)
		rc = take_size(reader, &operation.amount);
	if (!rc && keyword->exchange >= EXCHANGE_BROADCAST)
		rc = take_optional(reader, "a root", PROGRAM_RANKS_MAX - 1, &operation.root);
	return rc ? rc : add(reader, &operation);
}

static int new_key(struct reader *reader, const char *name, uint32_t *key)
{
	struct program *program = &reader->program;
	char **keys =
	    hd_grow(program->keys, program->key_count, 1, &reader->key_room, sizeof(*keys));
	char *copy = keys ? strdup(name) : NULL;

	if (keys)
		program->keys = keys;
	if (!copy)
		return hd_error_no_memory(reader->err);
	*key = program->key_count;
	keys[program->key_count++] = copy;
	return 0;
}

static int read_request(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action};
	char word[WORD_MAX];

	if (!take(reader, word))
		return REFUSE(reader, "expected the name of a key");
	if (reader->request != HD_NONE)
		return REFUSE(reader, "RODDone %s is missing before",
			      reader->program.keys[reader->program.key_count - 1]);
	for (uint32_t i = 0; i < reader->program.key_count; i++)
		if (!strcmp(reader->program.keys[i], word))
			return REFUSE(reader, "there are two keys of this name");
	int rc = check_for_all(reader);
	if (!rc)
		rc = new_key(reader, word, &operation.key);
	if (!rc)
		rc = add(reader, &operation);
	if (!rc)
		reader->request = reader->program.operation_count - 1;
	return rc;
}

static int read_done(struct reader *reader, const struct keyword *keyword)
{
	struct program_operation operation = {.action = keyword->action};
	struct program *program = &reader->program;
	char word[WORD_MAX];
	uint32_t block = reader->depth ? reader->block[reader->depth - 1] : HD_NONE;

	if (!take(reader, word))
		return REFUSE(reader, "expected the name of a key");
	if (reader->request == HD_NONE || strcmp(program->keys[program->key_count - 1], word))
		return REFUSE(reader, "there is no open RODRequest of this name");
	if (program->operations[reader->request].block != block)
		return REFUSE(reader, "RODRequest is in another block");
	operation.partner = reader->request;
	operation.key = program->key_count - 1;
	int rc = add(reader, &operation);
	if (rc)
		return rc;
	program->operations[reader->request].partner = program->operation_count - 1;
	reader->request = HD_NONE;
	return 0;
}

static int read_ranks(struct reader *reader, const struct keyword *keyword)
{
	(void)keyword;
	if (reader->program.operation_count || reader->program.ranks)
		return REFUSE(reader, "ranks and grid come once, before all operations");
	int rc =
	    take_optional(reader, "a number of ranks", PROGRAM_RANKS_MAX, &reader->program.ranks);
	if (!rc && reader->program.ranks < 2)
		rc = REFUSE(reader, "expected 2 ranks or more");
	return rc;
}

static int read_grid(struct reader *reader, const struct keyword *keyword)
{
	struct program *program = &reader->program;
	uint64_t ranks = 1;
	char word[WORD_MAX];

	(void)keyword;
	if (program->operation_count || program->axes)
		return REFUSE(reader, "ranks and grid come once, before all operations");
	while (!program->open && take(reader, word)) {
		struct hd_cursor cursor = {word, word + strlen(word)};
		if (program->axes && !strcasecmp(word, "open")) {
			program->open = true;
			continue;
		}
		if (program->axes == 3 ||
		    !hd_take_decimal(&cursor, &program->size[program->axes]) ||
		    !hd_cursor_done(&cursor) || !program->size[program->axes] ||
		    program->size[program->axes] > PROGRAM_RANKS_MAX)
			return REFUSE(reader, "expected one to three sizes such as 4 3 3");
		ranks *= program->size[program->axes++];
	}
	if (ranks < 2 || ranks > PROGRAM_RANKS_MAX)
		return REFUSE(reader, "the grid has %" PRIu64 " places, expected 2 .. %u", ranks,
			      PROGRAM_RANKS_MAX);
	if (program->ranks && program->ranks != ranks)
		return REFUSE(reader, "the grid has %" PRIu64 " places for %" PRIu32 " ranks",
			      ranks, program->ranks);
	program->ranks = (uint32_t)ranks;
	return 0;
}

static const struct keyword keywords[] = {
    {"ranks", read_ranks, PROGRAM_WAIT, false, 0},
    {"grid", read_grid, PROGRAM_WAIT, false, 0},
    {"repeat", read_repeat, PROGRAM_REPEAT, false, 0},
    {"only", read_only, PROGRAM_ONLY, false, 0},
    {"end", read_end, PROGRAM_END, false, 0},
    {"calc", read_calc, PROGRAM_CALCULATE, false, 0},
    {"send", read_message, PROGRAM_SEND, true, 0},
    {"isend", read_message, PROGRAM_SEND, false, 0},
    {"recv", read_message, PROGRAM_RECEIVE, true, 0},
    {"irecv", read_message, PROGRAM_RECEIVE, false, 0},
    {"wait", read_wait, PROGRAM_WAIT, false, 0},
    {"RODRequest", read_request, PROGRAM_REQUEST, false, 0},
    {"RODDone", read_done, PROGRAM_DONE, false, 0},
};

static int read_word(struct reader *reader, const char *word)
{
	struct hd_suggestion suggestion = hd_suggestion_for(word);

	for (uint32_t i = 0; i < TRAFFIC_COUNT(keywords); i++) {
		if (!strcasecmp(keywords[i].name, word))
			return keywords[i].read(reader, &keywords[i]);
		hd_suggestion_offer(&suggestion, keywords[i].name);
	}
	for (uint32_t i = 0; i < EXCHANGE_COUNT; i++) {
		const struct keyword keyword = {.action = PROGRAM_EXCHANGE, .exchange = i};
		if (!strcasecmp(exchange_names[i], word))
			return read_exchange(reader, &keyword);
		hd_suggestion_offer(&suggestion, exchange_names[i]);
	}
	if (suggestion.nearest)
		return REFUSE(reader, "unknown word, did you mean %s?", suggestion.nearest);
	return REFUSE(reader, "unknown word");
}

static int read_line(struct reader *reader)
{
	char word[WORD_MAX];
	struct hd_cursor comment;

	reader->rest = hd_lines_cursor(&reader->lines);
	struct hd_cursor all = reader->rest;
	if (hd_take_until(&all, "#", &comment))
		reader->rest = comment;
	hd_cursor_trim(&reader->rest);
	if (hd_cursor_done(&reader->rest))
		return 0;
	if (!take(reader, word))
		return REFUSE(reader, "a word is too long");
	int rc = read_word(reader, word);
	return rc ? rc : end_of_line(reader);
}

static int read_all(struct reader *reader, const struct hd_text *text)
{
	int rc = hd_text_check(text, reader->err);

	if (rc)
		return rc;
	reader->lines = hd_lines_of(text);
	while ((rc = hd_lines_next(&reader->lines, reader->err)) == 1)
		if ((rc = read_line(reader)))
			return rc;
	if (!rc && reader->depth)
		rc =
		    hd_error_set(reader->err, -EINVAL, "%s: the last block has no end", text->name);
	if (!rc && reader->request != HD_NONE)
		rc = hd_error_set(reader->err, -EINVAL, "%s: RODDone %s is missing", text->name,
				  reader->program.keys[reader->program.key_count - 1]);
	if (!rc && !reader->program.operation_count)
		rc = hd_error_set(reader->err, -ENODATA, "%s: no operation", text->name);
	return rc;
}

static void *keep(struct hd_arena *arena, const void *from, uint32_t count, size_t size)
{
	void *copy = hd_arena_alloc(arena, count, size);

	if (copy && count)
		memcpy(copy, from, count * size);
	return copy;
}

static int keep_program(struct hd_arena *arena, const struct program *program, struct program **out,
			struct hd_error *err)
{
	struct program *copy = keep(arena, program, 1, sizeof(*program));
	void *operations = keep(arena, program->operations, program->operation_count,
				sizeof(*program->operations));
	void *ranges = keep(arena, program->ranges, program->range_count, sizeof(*program->ranges));
	char **keys = hd_arena_alloc(arena, program->key_count, sizeof(*keys));

	for (uint32_t i = 0; keys && i < program->key_count; i++)
		keys[i] = hd_arena_strdup(arena, program->keys[i]);
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	copy->operations = operations;
	copy->ranges = ranges;
	copy->keys = keys;
	*out = copy;
	return 0;
}

int program_read(struct hd_arena *arena, const char *text, size_t length, const char *name,
		 struct program **out, struct hd_error *err)
{
	struct hd_text whole = {.bytes = text, .length = length, .name = name};
	struct reader reader = {.request = HD_NONE, .turns = {1}, .err = err};
	int rc = read_all(&reader, &whole);

	if (!rc)
		rc = keep_program(arena, &reader.program, out, err);
	for (uint32_t i = 0; i < reader.program.key_count; i++)
		free(reader.program.keys[i]);
	free(reader.program.keys);
	free(reader.program.operations);
	free(reader.program.ranges);
	return rc;
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
