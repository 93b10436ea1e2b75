/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an application gains from faster communication: its file says which share of its time it spends in which
 * pattern of traffic, or which bandwidth each part has.
 *
 * `heddle ebb --application` reads the file first, hd_application_read(). A line is a part; options of its pattern
 * come after it. Then the command measures the bandwidth of each pattern on the tables and divides it by
 * hd_pattern_crossbar(), what the pattern would have if all hosts were on one switch: there a route has 1 divided by
 * the flows at its busier end. hd_application_time_left() puts the parts together.
 */
#include <errno.h>
#include <heddle/analysis/application.h>
#include <heddle/base/arena.h>
#include <heddle/base/grow.h>
#include <heddle/base/suggest.h>
#include <heddle/base/text.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9 /* shares that add up to 1 may miss it by this */
#define PATTERNS_ROOM 64

struct reading {
	struct hd_words words;
	struct hd_application *application;
	uint32_t room; /* of application->parts */
};

static int application_refuse(const struct reading *reading, struct hd_error *err, const char *what,
			      const char *word)
{
	const struct hd_lines *lines = &reading->words.lines;

	return hd_lines_error_at(lines, lines->number, err,
				 "%s '%s' is not a number above 0 and at most 1, or 100%%", what,
				 word);
}

/* "0.274" or "27.4%" */
static int take_share(const struct reading *reading, const char *what, const char *word,
		      double *share, struct hd_error *err)
{
	char *end;

	if (!*word || strspn(word, "0123456789.%") != strlen(word))
		return application_refuse(reading, err, what, word);
	double value = strtod(word, &end);
	if (!strcmp(end, "%"))
		value /= 100;
	else if (*end)
		return application_refuse(reading, err, what, word);
	if (end == word || !(value > 0 && value <= 1))
		return application_refuse(reading, err, what, word);
	*share = value;
	return 0;
}

static int take_options(struct hd_application_part *part, char *text, struct hd_error *err)
{
	char *pairs = strchr(text, ':');

	if (pairs)
		*pairs++ = '\0';
	part->kind = hd_pattern_find(text);
	if (!part->kind) {
		const char *names[PATTERNS_ROOM];
		unsigned count;
		const struct hd_pattern_kind *const *kinds = hd_pattern_kinds(&count);

		count = count < PATTERNS_ROOM ? count : PATTERNS_ROOM;
		for (unsigned i = 0; i < count; i++)
			names[i] = kinds[i]->name;
		const char *nearest = hd_suggest(text, names, count);
		if (nearest)
			return hd_error_set(err, -ENOENT,
					    "unknown pattern '%s'; did you mean '%s'?", text,
					    nearest);
		return hd_error_set(err, -ENOENT,
				    "unknown pattern '%s'; heddle ebb --patterns lists all", text);
	}
	part->options = hd_options_new(part->kind->options, part->kind->option_count);
	if (!part->options)
		return hd_error_no_memory(err);
	int rc = hd_options_set_pairs(part->options, pairs, err);
	if (!rc)
		rc = hd_options_complete(part->options, err);
	return rc ? hd_error_prefix(err, rc, "pattern %s", part->kind->name) : 0;
}

static int take_pattern(const struct reading *reading, struct hd_application_part *part,
			struct hd_error *err)
{
	const char *word = reading->words.word[1];
	char *copy = strdup(word);
	int rc;

	part->text = strdup(word);
	rc = copy && part->text ? take_options(part, copy, err) : hd_error_no_memory(err);
	free(copy);
	return rc ? hd_lines_error_prefix(&reading->words.lines, rc, err) : 0;
}

static int take_part(struct reading *reading, struct hd_error *err)
{
	const struct hd_words *words = &reading->words;
	struct hd_application *application = reading->application;

	if (words->count < 2 || words->count > 3)
		return hd_lines_error(&words->lines, err, "expected SHARE PATTERN [BANDWIDTH]");
	struct hd_application_part *parts =
	    hd_grow(application->parts, application->count, 1, &reading->room, sizeof(*parts));
	if (!parts)
		return hd_error_no_memory(err);
	application->parts = parts;
	struct hd_application_part *part = &parts[application->count++];
	*part = (struct hd_application_part){.line = words->lines.number};
	int rc = take_share(reading, "share", words->word[0], &part->share, err);
	if (!rc && words->count == 3)
		rc = take_share(reading, "bandwidth", words->word[2], &part->bandwidth, err);
	if (!rc)
		rc = take_pattern(reading, part, err);
	if (rc)
		return rc;
	application->communication += part->share;
	if (application->communication > 1 + ROUNDING)
		return hd_lines_error_at(&words->lines, words->lines.number, err,
					 "the shares up to here add up to more than 1");
	return 0;
}

static int take_parts(struct reading *reading, const struct hd_text *text, struct hd_error *err)
{
	int rc = hd_words_begin(&reading->words, text, err);

	while (!rc && (rc = hd_words_next(&reading->words, err)) > 0)
		rc = take_part(reading, err);
	if (!rc && !reading->application->count)
		return hd_error_set(err, -ENODATA, "%s: the file has no pattern", text->name);
	return rc;
}

static int application_parse(const struct hd_text *text, struct hd_application **out,
			     struct hd_error *err)
{
	struct reading reading = {.application = calloc(1, sizeof(*reading.application))};

	if (!reading.application)
		return hd_error_no_memory(err);
	int rc = take_parts(&reading, text, err);
	if (rc)
		hd_application_free(reading.application);
	else
		*out = reading.application;
	return rc;
}

int hd_application_parse(const char *text, size_t length, const char *name,
			 struct hd_application **out, struct hd_error *err)
{
	const struct hd_text whole = {.bytes = text, .length = length, .name = name};

	return application_parse(&whole, out, err);
}

int hd_application_read(const char *path, struct hd_application **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = application_parse(&text, out, err);
	hd_text_close(&text);
	return rc;
}

void hd_application_free(struct hd_application *application)
{
	if (!application)
		return;
	for (uint32_t i = 0; i < application->count; i++) {
		hd_options_free(application->parts[i].options);
		free(application->parts[i].text);
	}
	free(application->parts);
	free(application);
}

double hd_application_time_left(const struct hd_application *application, const double *bandwidth)
{
	double left = 1;

	for (uint32_t i = 0; i < application->count; i++)
		left -= application->parts[i].share * (1 - bandwidth[i]);
	return left;
}

/* ---- a crossbar ---- */

/* What patterns get on one crossbar, where flows meet at hosts alone. */

struct crossbar {
	const struct hd_pattern *pattern;
	const struct hd_ranks *ranks;
	enum hd_mapping mapping;
	uint64_t seed;
	struct hd_flow *flows; /* [round_max] */
	uint32_t *sent, *received; /* [host_count] flows in the round */
	double shares; /* sum over all routes */
	uint64_t routes;
};

static int application_allocate(struct crossbar *crossbar, struct hd_arena *arena)
{
	uint32_t hosts = crossbar->ranks->fabric->host_count;

	crossbar->flows =
	    hd_arena_alloc(arena, crossbar->pattern->round_max, sizeof(*crossbar->flows));
	crossbar->sent = hd_arena_alloc(arena, hosts, sizeof(*crossbar->sent));
	crossbar->received = hd_arena_alloc(arena, hosts, sizeof(*crossbar->received));
	return hd_arena_check(arena);
}

static int add_round(struct crossbar *crossbar, uint64_t index, uint32_t round,
		     struct hd_error *err)
{
	size_t hosts = crossbar->ranks->fabric->host_count;
	uint32_t count;
	int rc = hd_pattern_draw(crossbar->pattern, crossbar->ranks, crossbar->mapping,
				 crossbar->seed, index, round, crossbar->flows, &count, err);

	if (rc)
		return rc;
	memset(crossbar->sent, 0, hosts * sizeof(*crossbar->sent));
	memset(crossbar->received, 0, hosts * sizeof(*crossbar->received));
	for (uint32_t i = 0; i < count; i++) {
		crossbar->sent[crossbar->flows[i].source]++;
		crossbar->received[crossbar->flows[i].destination]++;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t out = crossbar->sent[crossbar->flows[i].source];
		uint32_t in = crossbar->received[crossbar->flows[i].destination];
		crossbar->shares += 1.0 / (out > in ? out : in);
	}
	crossbar->routes += count;
	return 0;
}

int hd_pattern_crossbar(const struct hd_pattern *pattern, const struct hd_ranks *ranks,
			enum hd_mapping mapping, uint64_t seed, uint64_t patterns, double *mean,
			struct hd_error *err)
{
	struct crossbar crossbar = {
	    .pattern = pattern, .ranks = ranks, .mapping = mapping, .seed = seed};
	struct hd_arena arena = {0};
	int rc = 0;

	if (pattern->single) {
		*mean = 1;
		return 0;
	}
	if (application_allocate(&crossbar, &arena))
		rc = hd_error_no_memory(err);
	/* the mapping moves the flows of other kinds, and changes nothing at a crossbar */
	for (uint64_t i = 0; !rc && i < (pattern->kind->random ? patterns : 1); i++)
		for (uint32_t round = 0; !rc && round < pattern->rounds; round++)
			rc = add_round(&crossbar, i, round, err);
	hd_arena_release(&arena);
	if (!rc && !crossbar.routes)
		rc = hd_error_set(err, -ENODATA, "pattern %s: no flow", pattern->kind->name);
	if (!rc)
		*mean = crossbar.shares / (double)crossbar.routes;
	return rc;
}
