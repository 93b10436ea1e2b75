/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader of GOAL traces. */
#include <heddle/analysis/schedule_maker.h>

#include <errno.h>
#include <heddle/base/gzip.h>
#include <inttypes.h>
#include <string.h>

#define CPUS_MAX 256u

struct reader {
	struct hd_lines lines;
	struct hd_cursor rest; /* of the line */
	struct hd_schedule_maker maker;
	uint32_t ranks; /* 0: num_ranks has not come yet */
	unsigned rank_line,
	    comment_line; /* where the open rank and the open comment begin; 0: none */
	struct hd_error *err;
};

#define REFUSE(reader, ...) hd_lines_error(&(reader)->lines, (reader)->err, __VA_ARGS__)

/* ---- words ---- */

/* Skips blanks and comments, also one that goes on to the next line. */
static void skip(struct reader *reader)
{
	struct hd_cursor inside;

	for (;;) {
		if (reader->comment_line && !hd_take_until(&reader->rest, "*/", &inside)) {
			reader->rest.at = reader->rest.end;
			return;
		}
		reader->comment_line = 0;
		hd_take_blanks(&reader->rest);
		if (hd_take_text(&reader->rest, "//"))
			reader->rest.at = reader->rest.end;
		else if (hd_take_text(&reader->rest, "/*"))
			reader->comment_line = reader->lines.number;
		else
			return;
	}
}

static bool is_letter(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
	       character == '_';
}

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

/* Takes letters, digits and _ behind blanks; the first one is no digit. */
static bool take_name(struct reader *reader, struct hd_cursor *name)
{
	skip(reader);
	if (!is_letter(hd_cursor_peek(&reader->rest)))
		return false;
	name->at = reader->rest.at;
	while (is_letter(hd_cursor_peek(&reader->rest)) || is_digit(hd_cursor_peek(&reader->rest)))
		reader->rest.at++;
	name->end = reader->rest.at;
	return true;
}

static bool take_word(struct reader *reader, const char *word)
{
	struct hd_cursor before = reader->rest, name;

	if (take_name(reader, &name) && hd_cursor_is(&name, word))
		return true;
	reader->rest = before;
	return false;
}

static bool take_mark(struct reader *reader, const char *mark)
{
	skip(reader);
	return hd_take_text(&reader->rest, mark);
}

/* Takes a decimal number of at most 64 bits. */
static bool take_number(struct reader *reader, uint64_t most, uint64_t *number)
{
	uint64_t value = 0;

	skip(reader);
	if (!is_digit(hd_cursor_peek(&reader->rest)))
		return false;
	for (; is_digit(hd_cursor_peek(&reader->rest)); reader->rest.at++) {
		unsigned digit = (unsigned)(*reader->rest.at - '0');
		if (digit > most || value > (most - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return true;
}

/* ---- operations ---- */

/* "tag 3", "cpu 0" and "nic 0" in any order, each once. */
static int take_places(struct reader *reader, struct hd_schedule_operation *operation)
{
	bool message = operation->action != HD_SCHEDULE_CALCULATE;
	bool tag = !message, cpu = false, nic = false;
	uint64_t number = 0;

	for (;;) {
		if (!tag && take_word(reader, "tag")) {
			tag = true;
			if (operation->action == HD_SCHEDULE_RECEIVE && take_mark(reader, "-1"))
				number = HD_SCHEDULE_ANY;
			else if (!take_number(reader, HD_SCHEDULE_ANY - 1, &number))
				return REFUSE(reader, "expected a tag 0 .. %" PRIu32 "%s",
					      HD_SCHEDULE_ANY - 1,
					      operation->action == HD_SCHEDULE_RECEIVE
						  ? ", or -1 for any"
						  : "");
			operation->tag = (uint32_t)number;
		} else if (!cpu && take_word(reader, "cpu")) {
			cpu = true;
			if (!take_number(reader, CPUS_MAX - 1, &number))
				return REFUSE(reader, "expected a cpu 0 .. %u", CPUS_MAX - 1);
			operation->cpu = (uint8_t)number;
		} else if (!nic && take_word(reader, "nic")) {
			nic = true;
			if (!take_number(reader, CPUS_MAX - 1, &number))
				return REFUSE(reader, "expected a nic 0 .. %u", CPUS_MAX - 1);
		} else {
			return 0;
		}
	}
}

static int take_calculation(struct reader *reader, struct hd_schedule_operation *operation)
{
	operation->action = HD_SCHEDULE_CALCULATE;
	if (!take_number(reader, UINT64_MAX, &operation->amount))
		return REFUSE(reader, "expected a time, as a number of 64 bits");
	return take_places(reader, operation);
}

static int take_message(struct reader *reader, struct hd_schedule_operation *operation)
{
	bool receive = operation->action == HD_SCHEDULE_RECEIVE;
	uint64_t peer = 0;

	if (!take_number(reader, UINT32_MAX, &operation->amount) || !take_mark(reader, "b"))
		return REFUSE(reader, "expected a size in bytes below 2^32, such as 4096b");
	if (!take_word(reader, receive ? "from" : "to"))
		return REFUSE(reader, "expected '%s' and a rank", receive ? "from" : "to");
	if (receive && take_mark(reader, "-1"))
		operation->peer = HD_SCHEDULE_ANY;
	else if (take_number(reader, reader->ranks - 1, &peer))
		operation->peer = (uint32_t)peer;
	else
		return REFUSE(reader, "expected a rank 0 .. %" PRIu32 "%s", reader->ranks - 1,
			      receive ? ", or -1 for any" : "");
	return take_places(reader, operation);
}

/* The operation behind a label, or without one. *taken: it is one. */
static int take_operation(struct reader *reader, const struct hd_cursor *word,
			  const struct hd_cursor *label, bool *taken)
{
	struct hd_schedule_operation operation = {.line = reader->lines.number};
	uint32_t index;
	int rc;

	*taken = true;
	if (hd_cursor_is(word, "calc")) {
		rc = take_calculation(reader, &operation);
	} else if (hd_cursor_is(word, "send") || hd_cursor_is(word, "recv")) {
		operation.action = *word->at == 's' ? HD_SCHEDULE_SEND : HD_SCHEDULE_RECEIVE;
		rc = take_message(reader, &operation);
	} else {
		*taken = false;
		return 0;
	}
	if (rc)
		return rc;
	rc = hd_schedule_add(&reader->maker, &operation, label, &index);
	if (rc == -EEXIST)
		return REFUSE(reader, "this label is there already, in line %" PRIu32,
			      reader->maker.made->operations[index].line);
	if (rc == -ERANGE)
		return REFUSE(reader, "more than %u operations, or 2 GiB of labels",
			      HD_SCHEDULE_OPERATIONS_MAX);
	return rc ? hd_error_no_memory(reader->err) : 0;
}

static int take_dependency(struct reader *reader, const struct hd_cursor *label, bool started)
{
	struct hd_cursor other;
	char quote[HD_QUOTE_SIZE];

	if (!take_name(reader, &other))
		return REFUSE(reader, "expected the label of an operation");
	uint32_t after = hd_schedule_find(&reader->maker, label);
	uint32_t before = hd_schedule_find(&reader->maker, &other);
	if (after == HD_NONE || before == HD_NONE)
		return REFUSE(
		    reader, "no operation of this rank before has the label %s",
		    hd_cursor_quote(after == HD_NONE ? label : &other, quote, sizeof(quote)));
	return hd_schedule_wait(&reader->maker, after, before, started)
		   ? hd_error_no_memory(reader->err)
		   : 0;
}

/* ---- lines ---- */

static int take_labelled(struct reader *reader, const struct hd_cursor *label)
{
	struct hd_cursor word;
	bool taken = false;

	if (take_mark(reader, ":")) {
		int rc =
		    take_name(reader, &word) ? take_operation(reader, &word, label, &taken) : 0;
		return rc || taken ? rc : REFUSE(reader, "expected calc, send or recv");
	}
	if (take_word(reader, "requires"))
		return take_dependency(reader, label, false);
	if (take_word(reader, "irequires"))
		return take_dependency(reader, label, true);
	return REFUSE(reader, "expected ':', requires or irequires behind a label");
}

static int take_inside(struct reader *reader)
{
	struct hd_cursor word;
	bool taken;

	if (take_mark(reader, "}")) {
		reader->rank_line = 0;
		return hd_schedule_close(&reader->maker, reader->err);
	}
	if (!take_name(reader, &word))
		return REFUSE(reader, "expected a label, calc, send, recv or }");
	int rc = take_operation(reader, &word, NULL, &taken);
	if (!rc && !taken)
		rc = take_labelled(reader, &word);
	if (rc)
		return rc;
	skip(reader);
	if (!hd_cursor_done(&reader->rest) && hd_cursor_peek(&reader->rest) != '}')
		return REFUSE(reader, "too many words");
	return 0;
}

static int take_outside(struct reader *reader)
{
	if (take_word(reader, "num_ranks")) {
		uint64_t ranks = 0;

		if (reader->ranks)
			return REFUSE(reader, "num_ranks comes once");
		if (!take_number(reader, HD_SCHEDULE_RANKS_MAX, &ranks) || !ranks)
			return REFUSE(reader, "expected a number of ranks 1 .. %u",
				      HD_SCHEDULE_RANKS_MAX);
		reader->ranks = (uint32_t)ranks;
		return hd_schedule_begin(&reader->maker, reader->lines.name, reader->ranks,
					 reader->err);
	}
	if (take_word(reader, "rank")) {
		uint64_t rank = 0;

		if (!reader->ranks)
			return REFUSE(reader, "num_ranks comes before the first rank");
		if (!take_number(reader, reader->ranks - 1, &rank))
			return REFUSE(reader, "expected a rank 0 .. %" PRIu32, reader->ranks - 1);
		if (!take_mark(reader, "{"))
			return REFUSE(reader, "expected {");
		if (!hd_schedule_open(&reader->maker, (uint32_t)rank))
			return REFUSE(reader, "rank %" PRIu64 " is there already", rank);
		reader->rank_line = reader->lines.number;
		return 0;
	}
	return REFUSE(reader, "expected num_ranks or rank");
}

static int take_line(struct reader *reader)
{
	int rc = 0;

	reader->rest = hd_lines_cursor(&reader->lines);
	for (skip(reader); !rc && !hd_cursor_done(&reader->rest); skip(reader))
		rc = reader->rank_line ? take_inside(reader) : take_outside(reader);
	return rc;
}

static int check_end(const struct reader *reader)
{
	const struct hd_lines *lines = &reader->lines;

	if (reader->comment_line)
		return hd_lines_error_at(lines, reader->comment_line, reader->err,
					 "the comment has no end");
	if (reader->rank_line)
		return hd_lines_error_at(lines, reader->rank_line, reader->err,
					 "the rank has no } at its end");
	return 0;
}

static int read_all(struct reader *reader, const struct hd_text *text, struct hd_schedule **out)
{
	int rc = hd_text_check(text, reader->err);

	if (rc)
		return rc;
	reader->lines = hd_lines_of(text);
	while ((rc = hd_lines_next(&reader->lines, reader->err)) == 1)
		if ((rc = take_line(reader)))
			return rc;
	if (!rc)
		rc = check_end(reader);
	if (rc)
		return rc;
	struct hd_schedule *made = reader->ranks ? hd_schedule_end(&reader->maker) : NULL;
	if (!made)
		return hd_error_set(reader->err, -ENODATA, "%s: no operation", text->name);
	*out = made;
	return 0;
}

static int goal_parse(const struct hd_text *text, struct hd_schedule **out, struct hd_error *err)
{
	struct reader reader = {.err = err};
	int rc = read_all(&reader, text, out);

	hd_schedule_release(&reader.maker);
	return rc;
}

int hd_schedule_parse_goal(const char *text, size_t length, const char *name,
			   struct hd_schedule **out, struct hd_error *err)
{
	const struct hd_text whole = {.bytes = text, .length = length, .name = name};

	return goal_parse(&whole, out, err);
}

int hd_schedule_read_goal(const char *path, struct hd_schedule **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_gzip_open(path, &text, err);

	if (rc)
		return rc;
	rc = goal_parse(&text, out, err);
	hd_text_close(&text);
	return rc;
}
