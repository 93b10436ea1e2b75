/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Patterns of communication: from a name such as "ring", from a file, from a packed text, from flows. heddle-keyd,
 * the command and Slurm's plugin use them.
 *
 * All ways end in one builder, which holds a pattern to the limits and keeps the first failure. Named patterns are
 * rows of a table: arguments, summary, and the function that makes them.
 */
#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/random.h>
#include <heddle/base/suggest.h>
#include <heddle/base/text.h>
#include <heddle/keyd/key_pattern.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Builds a pattern phase by phase, and holds it to the limits. */

struct key_pattern_build {
	struct hd_key_pattern *pattern;
	uint32_t flow_count;
	uint32_t phase_room, flow_room;
	struct hd_error *err;
	int rc; /* the first failure; then nothing more is added */
};

/* The table of named patterns: what their arguments are, and who makes them. */

#define KEY_PATTERN_AXES 3u

enum key_pattern_form {
	KEY_PATTERN_PLAIN, /* no arguments */
	KEY_PATTERN_GRID, /* [:SIZExSIZE...] */
	KEY_PATTERN_NUMBER, /* :NUMBER */
	KEY_PATTERN_SEED, /* [:NUMBER] */
	KEY_PATTERN_PATH /* :PATH */
};

struct key_pattern_arguments {
	bool given;
	uint32_t size[KEY_PATTERN_AXES]; /* of a grid; 0: it does not have that axis */
	uint32_t number;
	const char *path;
};

struct key_pattern_kind {
	enum key_pattern_form form;
	unsigned axes; /* of the grid in which the ranks lie; 0: in none */
	/* Adds phases and flows. NULL: the pattern is in a file. */
	void (*make)(struct key_pattern_build *build, const struct key_pattern_arguments *with);
};

/* ---- key pattern build ---- */

void hd_key_pattern_free(struct hd_key_pattern *pattern)
{
	if (!pattern)
		return;
	free(pattern->base);
	free(pattern->flows);
	free(pattern);
}

/* Begins a pattern for so many ranks. Errors: in build->rc. */
static void key_pattern_build_begin(struct key_pattern_build *build, uint32_t ranks,
				    struct hd_error *err)
{
	*build = (struct key_pattern_build){.err = err};
	if (!ranks)
		build->rc = hd_error_set(err, -EINVAL, "a pattern needs at least one rank");
	else if (ranks > HD_KEY_RANKS_MAX)
		build->rc = hd_error_set(err, -ERANGE, "%u ranks, expected at most %u", ranks,
					 HD_KEY_RANKS_MAX);
	if (build->rc)
		return;
	build->pattern = calloc(1, sizeof(*build->pattern));
	if (!build->pattern)
		build->rc = hd_error_no_memory(err);
	else
		build->pattern->ranks = ranks;
}

/* Room for the bounds of one more phase: its beginning, and the end that comes behind it. */
static bool make_room_for_phase(struct key_pattern_build *build)
{
	struct hd_key_pattern *pattern = build->pattern;
	uint32_t *base =
	    hd_grow(pattern->base, pattern->phase_count, 2, &build->phase_room, sizeof(*base));

	if (base)
		pattern->base = base;
	else
		build->rc = hd_error_no_memory(build->err);
	return base;
}

/* Begins the next phase. */
static void key_pattern_build_phase(struct key_pattern_build *build)
{
	struct hd_key_pattern *pattern = build->pattern;

	if (build->rc)
		return;
	if (pattern->phase_count == HD_KEY_PHASES_MAX)
		build->rc =
		    hd_error_set(build->err, -ERANGE, "more than %u phases", HD_KEY_PHASES_MAX);
	else if (make_room_for_phase(build))
		pattern->base[pattern->phase_count++] = build->flow_count;
}

/* Adds a flow to the present phase; nothing if both ranks are the same. The ranks exist. */
static void key_pattern_build_flow(struct key_pattern_build *build, uint32_t source,
				   uint32_t destination)
{
	struct hd_rank_flow *flows;

	if (build->rc || source == destination)
		return;
	if (build->flow_count == HD_KEY_FLOWS_MAX) {
		build->rc =
		    hd_error_set(build->err, -ERANGE, "more than %u flows", HD_KEY_FLOWS_MAX);
		return;
	}
	flows =
	    hd_grow(build->pattern->flows, build->flow_count, 1, &build->flow_room, sizeof(*flows));
	if (!flows) {
		build->rc = hd_error_no_memory(build->err);
		return;
	}
	build->pattern->flows = flows;
	flows[build->flow_count++] = (struct hd_rank_flow){source, destination};
}

/* Ends the pattern and hands it out, or frees it and returns the first failure: -EINVAL no ranks,
 * -ERANGE a limit, -ENOMEM. */
static int key_pattern_build_end(struct key_pattern_build *build, struct hd_key_pattern **out)
{
	if (!build->rc)
		make_room_for_phase(build);
	if (build->rc) {
		hd_key_pattern_free(build->pattern);
		return build->rc;
	}
	build->pattern->base[build->pattern->phase_count] = build->flow_count;
	*out = build->pattern;
	return 0;
}

/* ---- key pattern read ---- */

/* The file of a pattern. */

/* A whole word is a rank below `ranks`. */
static bool is_rank(const char *word, uint32_t ranks, uint32_t *rank)
{
	struct hd_cursor cursor = {word, word + strlen(word)};

	return hd_take_decimal(&cursor, rank) && hd_cursor_done(&cursor) && *rank < ranks;
}

/* The message has no word of the file: a prolog may read it for somebody who may not. */
static int pattern_refuse(const struct hd_words *words, const char *what, struct hd_error *err)
{
	return hd_lines_error_at(
	    &words->lines, words->lines.number, err, "%s%s", what,
	    words->lines.cut ? " (the file ends here without a newline: cut off?)" : "");
}

static int take_flow(struct key_pattern_build *build, const struct hd_words *words,
		     struct hd_error *err)
{
	uint32_t ranks = build->pattern->ranks, source, destination;
	char expected[64];

	if (words->count != 2)
		return pattern_refuse(
		    words, "expected `phase` or two ranks, a source and a destination", err);
	snprintf(expected, sizeof(expected), "expected ranks from 0 to %u", ranks - 1);
	if (!is_rank(words->word[0], ranks, &source) ||
	    !is_rank(words->word[1], ranks, &destination))
		return pattern_refuse(words, expected, err);
	if (source == destination)
		return pattern_refuse(words, "a rank sends to itself", err);
	if (!build->pattern->phase_count)
		return pattern_refuse(words, "a flow before the first line `phase`", err);
	key_pattern_build_flow(build, source, destination);
	return 0;
}

static int take_line(struct key_pattern_build *build, const struct hd_words *words,
		     struct hd_error *err)
{
	int rc = 0;

	if (words->count == 1 && !strcmp(words->word[0], "phase"))
		key_pattern_build_phase(build);
	else
		rc = take_flow(build, words, err);
	if (build->rc) /* a limit */
		return hd_lines_error_prefix(&words->lines, build->rc, err);
	return rc;
}

static int take_lines(struct key_pattern_build *build, const struct hd_text *text,
		      struct hd_error *err)
{
	struct hd_words words;
	int rc = hd_words_begin(&words, text, err), more = 0;

	while (!rc && (more = hd_words_next(&words, err)) > 0)
		rc = take_line(build, &words, err);
	if (more < 0) /* that message quotes the line */
		rc = more == -EINVAL
			 ? pattern_refuse(&words, "expected `phase` or two ranks, not such words",
					  err)
			 : more;
	if (rc)
		return rc == -ENODATA ? -EINVAL : rc;
	if (!build->pattern->phase_count)
		return hd_error_set(err, -EINVAL, "%s: no line `phase`", text->name);
	return 0;
}

int hd_key_pattern_read(const char *bytes, size_t length, const char *name, uint32_t ranks,
			struct hd_key_pattern **out, struct hd_error *err)
{
	struct hd_text text = {.bytes = bytes, .length = length, .name = name};
	struct key_pattern_build build;

	key_pattern_build_begin(&build, ranks, err);
	if (!build.rc)
		build.rc = take_lines(&build, &text, err);
	return key_pattern_build_end(&build, out);
}

/* ---- key pattern pack ---- */

/* A pattern as one word, for environment variables: "0>1,1>0/2>0" are two phases. */

#define FLOW_LONGEST 24u /* bytes of "65535>65535," and a 0 */

/* Adds a text if there is room for it and a 0. */
static bool pattern_add(char *out, size_t size, size_t *length, const char *text)
{
	size_t more = strlen(text);

	if (more >= size - *length)
		return false;
	memcpy(out + *length, text, more + 1);
	*length += more;
	return true;
}

static bool pack(const struct hd_key_pattern *pattern, char *out, size_t size)
{
	size_t length = 0;

	*out = '\0';
	for (uint32_t phase = 0; phase < pattern->phase_count; phase++) {
		if (phase && !pattern_add(out, size, &length, "/"))
			return false;
		for (uint32_t i = pattern->base[phase]; i < pattern->base[phase + 1]; i++) {
			char flow[FLOW_LONGEST];
			snprintf(flow, sizeof(flow), "%s%" PRIu32 ">%" PRIu32,
				 i > pattern->base[phase] ? "," : "", pattern->flows[i].source,
				 pattern->flows[i].destination);
			if (!pattern_add(out, size, &length, flow))
				return false;
		}
	}
	return true;
}

int hd_key_pattern_pack(const struct hd_key_pattern *pattern, size_t size, char **out)
{
	char *text = malloc(size);

	if (!text)
		return -ENOMEM;
	if (!size || !pack(pattern, text, size)) {
		free(text);
		return -EMSGSIZE;
	}
	*out = text;
	return 0;
}

static bool take_char(struct hd_cursor *cursor, char expected)
{
	if (hd_cursor_done(cursor) || *cursor->at != expected)
		return false;
	cursor->at++;
	return true;
}

static bool key_pattern_pack_take_flow(struct hd_cursor *cursor, uint32_t ranks,
				       struct key_pattern_build *build)
{
	uint32_t source, destination;

	if (!hd_take_decimal(cursor, &source) || !take_char(cursor, '>') ||
	    !hd_take_decimal(cursor, &destination) || source >= ranks || destination >= ranks ||
	    source == destination)
		return false;
	key_pattern_build_flow(build, source, destination);
	return true;
}

static bool take_phase(struct hd_cursor *cursor, uint32_t ranks, struct key_pattern_build *build)
{
	key_pattern_build_phase(build);
	if (hd_cursor_done(cursor) || *cursor->at == '/')
		return true;
	do
		if (!key_pattern_pack_take_flow(cursor, ranks, build))
			return false;
	while (!build->rc && take_char(cursor, ','));
	return true;
}

int hd_key_pattern_unpack(const char *text, uint32_t ranks, struct hd_key_pattern **out,
			  struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	struct key_pattern_build build;
	bool right = true;

	key_pattern_build_begin(&build, ranks, err);
	while (!build.rc && right) {
		right = take_phase(&cursor, ranks, &build);
		if (!build.rc && right && !take_char(&cursor, '/')) {
			right = hd_cursor_done(&cursor);
			break;
		}
	}
	if (!build.rc && !right)
		build.rc =
		    hd_error_set(err, -EINVAL,
				 "byte %zu of the flows is wrong: expected RANK>RANK, with "
				 "',' between flows and '/' between phases, and ranks from 0 "
				 "to %u",
				 (size_t)(cursor.at - text), ranks - 1);
	return key_pattern_build_end(&build, out);
}

/* ---- key pattern kinds ---- */

static void add_shift(struct key_pattern_build *build, uint32_t step)
{
	uint32_t ranks = build->pattern->ranks;

	key_pattern_build_phase(build);
	for (uint32_t rank = 0; !build->rc && rank < ranks; rank++)
		key_pattern_build_flow(build, rank, (rank + step) % ranks);
}

static void make_ring(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	(void)with;
	add_shift(build, 1);
}

static void make_shift(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	add_shift(build, with->number);
}

static void make_alltoall(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	(void)with;
	for (uint32_t step = 1; !build->rc && step < build->pattern->ranks; step++)
		add_shift(build, step);
}

/* The first `ranks` ranks, a power of two, exchange with the rank at a distance of `apart`. */
static void add_exchange(struct key_pattern_build *build, uint32_t ranks, uint32_t apart)
{
	key_pattern_build_phase(build);
	for (uint32_t rank = 0; !build->rc && rank < ranks; rank++)
		key_pattern_build_flow(build, rank, rank ^ apart);
}

/* The ranks beyond a power of two give their part to the first ranks before, and get the result
 * from them behind. */
static void add_beyond(struct key_pattern_build *build, uint32_t power, bool before)
{
	if (power == build->pattern->ranks)
		return;
	key_pattern_build_phase(build);
	for (uint32_t rank = power; !build->rc && rank < build->pattern->ranks; rank++)
		key_pattern_build_flow(build, before ? rank : rank - power,
				       before ? rank - power : rank);
}

static void make_halving_doubling(struct key_pattern_build *build,
				  const struct key_pattern_arguments *with)
{
	uint32_t power = 1;

	(void)with;
	while (power * 2 <= build->pattern->ranks)
		power *= 2;
	add_beyond(build, power, true);
	for (uint32_t apart = power / 2; apart; apart /= 2)
		add_exchange(build, power, apart);
	for (uint32_t apart = 1; apart < power; apart *= 2)
		add_exchange(build, power, apart);
	add_beyond(build, power, false);
}

static void make_random(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	uint32_t ranks = build->pattern->ranks, *to = malloc(ranks * sizeof(*to));
	uint64_t random = with->number;

	if (!to) {
		build->rc = hd_error_no_memory(build->err);
		return;
	}
	for (uint32_t rank = 0; rank < ranks; rank++) { /* Fisher and Yates, inside out */
		uint32_t other = (uint32_t)hd_random_below(&random, rank + 1);

		to[rank] = to[other];
		to[other] = rank;
	}
	key_pattern_build_phase(build);
	for (uint32_t rank = 0; rank < ranks; rank++)
		key_pattern_build_flow(build, rank, to[rank]);
	free(to);
}

/* Ranks in a grid, row by row: the last axis changes first */

/* The two sizes of so many ranks with the lowest sum. */
static void cut_in_two(uint32_t ranks, uint32_t size[2])
{
	uint32_t side = 1;

	for (uint32_t tried = 1; tried * tried <= ranks; tried++)
		if (ranks % tried == 0)
			side = tried;
	size[0] = ranks / side;
	size[1] = side;
}

static void cut_in_three(uint32_t ranks, uint32_t size[3])
{
	uint32_t least = UINT32_MAX;

	for (uint32_t last = 1; last * last * last <= ranks; last++) {
		uint32_t others[2];

		if (ranks % last)
			continue;
		cut_in_two(ranks / last, others);
		if (others[0] + others[1] + last > least)
			continue;
		least = others[0] + others[1] + last;
		size[0] = others[0];
		size[1] = others[1];
		size[2] = last;
	}
}

/*
 * Cuts the ranks into a grid as evenly as they can be cut: the sizes with the lowest sum, descending.
 * Axes that the grid does not have get 0. O(ranks).
 */
static void key_pattern_kinds_cut(uint32_t ranks, unsigned axes, uint32_t size[KEY_PATTERN_AXES])
{
	size[0] = ranks;
	size[1] = size[2] = 0;
	if (axes == 2)
		cut_in_two(ranks, size);
	else if (axes == 3)
		cut_in_three(ranks, size);
}

/* One phase: each rank sends `step` further on an axis of `size`, on which neighbours are `stride`
 * ranks apart. */
static void add_axis_shift(struct key_pattern_build *build, uint32_t stride, uint32_t size,
			   uint32_t step)
{
	key_pattern_build_phase(build);
	for (uint32_t rank = 0; !build->rc && rank < build->pattern->ranks; rank++) {
		uint32_t place = rank / stride % size, to = (place + step) % size;

		key_pattern_build_flow(build, rank, rank - place * stride + to * stride);
	}
}

/* Each rank sends to its neighbour: the next one on the first axis, the one before, then the same on
 * the other axes. The last rank of an axis is followed by the first. */
static void make_stencil(struct key_pattern_build *build, const struct key_pattern_arguments *with)
{
	uint32_t stride = build->pattern->ranks;

	for (unsigned axis = 0; axis < KEY_PATTERN_AXES && with->size[axis]; axis++) {
		uint32_t size = with->size[axis];

		stride /= size;
		add_axis_shift(build, stride, size, 1);
		add_axis_shift(build, stride, size, size - 1);
	}
}

/* Rank r * columns + c sends to rank c * rows + r. */
static void make_transpose(struct key_pattern_build *build,
			   const struct key_pattern_arguments *with)
{
	uint32_t rows = with->size[0], columns = with->size[1];

	key_pattern_build_phase(build);
	for (uint32_t row = 0; row < rows; row++)
		for (uint32_t column = 0; column < columns; column++)
			key_pattern_build_flow(build, row * columns + column, column * rows + row);
}

static const struct hd_key_pattern_kind names[] = {
    {"stencil1d", "", "neighbours on a closed line: forwards, backwards"},
    {"stencil2d", "[ROWSxCOLUMNS]", "neighbours in a periodic grid: each axis forwards, backwards"},
    {"stencil3d", "[XxYxZ]", "neighbours in a periodic grid of three axes"},
    {"ring", "", "each rank to the next one, the last to the first"},
    {"shift", "N", "each rank to the one N ranks further"},
    {"alltoall", "", "each rank to all others: phase N is the shift by N"},
    {"transpose", "[ROWSxCOLUMNS]", "row and column of a grid change places"},
    {"halving-doubling", "", "an allreduce: exchanges at N/2, N/4, ... 1, 1, 2, ... N/2"},
    {"random", "[SEED]", "one random permutation; without a seed: seed 0"},
    {"file", "PATH", "phases and flows from a file"},
};

#define KINDS ((unsigned)(sizeof(names) / sizeof(names[0])))

static const struct key_pattern_kind pattern_kinds[] = {
    {KEY_PATTERN_PLAIN, 1, make_stencil},  {KEY_PATTERN_GRID, 2, make_stencil},
    {KEY_PATTERN_GRID, 3, make_stencil},   {KEY_PATTERN_PLAIN, 0, make_ring},
    {KEY_PATTERN_NUMBER, 0, make_shift},   {KEY_PATTERN_PLAIN, 0, make_alltoall},
    {KEY_PATTERN_GRID, 2, make_transpose}, {KEY_PATTERN_PLAIN, 0, make_halving_doubling},
    {KEY_PATTERN_SEED, 0, make_random},	   {KEY_PATTERN_PATH, 0, NULL},
};

_Static_assert(sizeof(pattern_kinds) / sizeof(pattern_kinds[0]) == KINDS, "each name has a kind");

const struct hd_key_pattern_kind *hd_key_pattern_kinds(unsigned *count)
{
	*count = KINDS;
	return names;
}

/* ---- key pattern ---- */

struct request {
	unsigned kind;
	struct key_pattern_arguments with;
};

static int unknown_kind(const char *name, struct hd_error *err)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);

	for (unsigned i = 0; i < KINDS; i++)
		hd_suggestion_offer(&suggestion, names[i].name);
	if (suggestion.nearest)
		return hd_error_set(err, -EINVAL, "unknown pattern '%s'; did you mean '%s'?", name,
				    suggestion.nearest);
	return hd_error_set(err, -EINVAL, "unknown pattern '%s'", name);
}

/* Takes the name and the colon behind it. */
static int take_kind(struct hd_cursor *text, unsigned *kind, bool *arguments, struct hd_error *err)
{
	struct hd_cursor name = *text;
	char quoted[HD_QUOTE_SIZE];

	*arguments = hd_take_until(text, ":", &name);
	for (unsigned i = 0; i < KINDS; i++)
		if (hd_cursor_is(&name, names[i].name)) {
			*kind = i;
			return 0;
		}
	return unknown_kind(hd_cursor_quote(&name, quoted, sizeof(quoted)), err);
}

static bool take_grid(struct hd_cursor *text, unsigned axes, uint32_t size[KEY_PATTERN_AXES])
{
	for (unsigned axis = 0; axis < axes; axis++)
		if ((axis && !hd_take_text(text, "x")) || !hd_take_decimal(text, &size[axis]) ||
		    !size[axis] || size[axis] > HD_KEY_RANKS_MAX)
			return false;
	return hd_cursor_done(text);
}

static bool take_arguments(struct hd_cursor *text, const struct key_pattern_kind *kind,
			   struct key_pattern_arguments *with)
{
	with->given = true;
	switch (kind->form) {
	case KEY_PATTERN_GRID:
		return take_grid(text, kind->axes, with->size);
	case KEY_PATTERN_NUMBER:
		return hd_take_decimal(text, &with->number) && with->number && hd_cursor_done(text);
	case KEY_PATTERN_SEED:
		return hd_take_decimal(text, &with->number) && hd_cursor_done(text);
	case KEY_PATTERN_PATH:
		with->path = text->at;
		return !hd_cursor_done(text);
	case KEY_PATTERN_PLAIN:
		break;
	}
	return false;
}

/* "NAME:N", "NAME[:N]" or "NAME", for messages. */
static int bad_arguments(unsigned index, const char *text, struct hd_error *err)
{
	const struct hd_key_pattern_kind *kind = &names[index];
	struct hd_cursor all = {text, text + strlen(text)};
	char quoted[HD_QUOTE_SIZE];
	bool optional = kind->arguments[0] == '[';

	hd_cursor_quote(&all, quoted, sizeof(quoted));
	return hd_error_set(err, -EINVAL, "pattern '%s': expected %s%s%s", quoted, kind->name,
			    optional		 ? "[:"
			    : kind->arguments[0] ? ":"
						 : "",
			    kind->arguments + optional);
}

static int pattern_parse(const char *text, struct request *request, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	bool arguments, needed;
	int rc = take_kind(&cursor, &request->kind, &arguments, err);

	if (rc)
		return rc;
	const struct key_pattern_kind *kind = &pattern_kinds[request->kind];
	request->with = (struct key_pattern_arguments){.given = false};
	needed = kind->form == KEY_PATTERN_NUMBER || kind->form == KEY_PATTERN_PATH;
	if (arguments ? !take_arguments(&cursor, kind, &request->with) : needed)
		return bad_arguments(request->kind, text, err);
	return 0;
}

int hd_key_pattern_check(const char *text, struct hd_error *err)
{
	struct request request;

	return pattern_parse(text, &request, err);
}

static int check_fit(const struct request *request, const char *text, uint32_t ranks,
		     struct hd_error *err)
{
	const struct key_pattern_arguments *with = &request->with;
	const struct key_pattern_kind *kind = &pattern_kinds[request->kind];
	uint64_t cells = 1;

	for (unsigned axis = 0; axis < kind->axes; axis++)
		cells *= with->size[axis];
	if (kind->axes && cells != ranks)
		return hd_error_set(err, -EINVAL,
				    "pattern '%s' is for %llu ranks, but there are %u", text,
				    (unsigned long long)cells, ranks);
	if (kind->form == KEY_PATTERN_NUMBER && with->number >= ranks)
		return hd_error_set(err, -EINVAL,
				    "pattern '%s': expected a number below the %u ranks", text,
				    ranks);
	return 0;
}

static int read_file(const char *path, uint32_t ranks, struct hd_key_pattern **out,
		     struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open_regular(path, HD_KEY_PATTERN_FILE_MAX, &text, err);

	if (rc)
		return rc;
	rc = hd_key_pattern_read(text.bytes, text.length, path, ranks, out, err);
	hd_text_close(&text);
	return rc;
}

int hd_key_pattern_new(const char *text, uint32_t ranks, struct hd_key_pattern **out,
		       struct hd_error *err)
{
	struct request request;
	int rc = pattern_parse(text, &request, err);

	if (rc)
		return rc;
	const struct key_pattern_kind *kind = &pattern_kinds[request.kind];
	if (kind->form == KEY_PATTERN_PATH)
		return read_file(request.with.path, ranks, out, err);
	if (kind->axes && !request.with.given && ranks <= HD_KEY_RANKS_MAX)
		key_pattern_kinds_cut(ranks, kind->axes, request.with.size);
	if (ranks && ranks <= HD_KEY_RANKS_MAX) /* else the builder says so */
		rc = check_fit(&request, text, ranks, err);
	if (rc)
		return rc;
	struct key_pattern_build build;
	key_pattern_build_begin(&build, ranks, err);
	if (!build.rc)
		kind->make(&build, &request.with);
	return key_pattern_build_end(&build, out);
}

static int check_phase(const struct hd_rank_flow *flows, uint32_t begin, uint32_t end,
		       uint32_t ranks, struct hd_error *err)
{
	for (uint32_t i = begin; i < end; i++) {
		if (flows[i].source >= ranks || flows[i].destination >= ranks)
			return hd_error_set(err, -ERANGE,
					    "flow %u from rank %u to rank %u: there are %u ranks",
					    i, flows[i].source, flows[i].destination, ranks);
		if (flows[i].source == flows[i].destination)
			return hd_error_set(err, -EINVAL, "flow %u from rank %u to itself", i,
					    flows[i].source);
	}
	return 0;
}

int hd_key_pattern_from(uint32_t ranks, uint32_t phase_count, const uint32_t *base,
			const struct hd_rank_flow *flows, struct hd_key_pattern **out,
			struct hd_error *err)
{
	struct key_pattern_build build;

	key_pattern_build_begin(&build, ranks, err);
	for (uint32_t phase = 0; !build.rc && phase < phase_count; phase++) {
		if (base[phase] > base[phase + 1])
			build.rc =
			    hd_error_set(err, -EINVAL, "phase %u ends before it begins", phase);
		else
			build.rc = check_phase(flows, base[phase], base[phase + 1], ranks, err);
		key_pattern_build_phase(&build);
		for (uint32_t i = base[phase]; !build.rc && i < base[phase + 1]; i++)
			key_pattern_build_flow(&build, flows[i].source, flows[i].destination);
	}
	return key_pattern_build_end(&build, out);
}
