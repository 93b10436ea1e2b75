/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/keyd/key_pattern.h>

#include "key_pattern_kinds.h"

#include <errno.h>
#include <heddle/base/suggest.h>
#include <heddle/base/text.h>
#include <string.h>

struct request {
	unsigned kind;
	struct key_pattern_arguments with;
};

static int unknown_kind(const char *name, struct hd_error *err)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);
	unsigned count;
	const struct hd_key_pattern_kind *kinds = hd_key_pattern_kinds(&count);

	for (unsigned i = 0; i < count; i++)
		hd_suggestion_offer(&suggestion, kinds[i].name);
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
	unsigned count;
	const struct hd_key_pattern_kind *kinds = hd_key_pattern_kinds(&count);

	*arguments = hd_take_until(text, ":", &name);
	for (unsigned i = 0; i < count; i++)
		if (hd_cursor_is(&name, kinds[i].name)) {
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
	unsigned count;
	const struct hd_key_pattern_kind *kind = &hd_key_pattern_kinds(&count)[index];
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

static int parse(const char *text, struct request *request, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	const struct key_pattern_kind *kind;
	bool arguments, needed;
	int rc = take_kind(&cursor, &request->kind, &arguments, err);

	if (rc)
		return rc;
	kind = key_pattern_kinds_of(request->kind);
	request->with = (struct key_pattern_arguments){.given = false};
	needed = kind->form == KEY_PATTERN_NUMBER || kind->form == KEY_PATTERN_PATH;
	if (arguments ? !take_arguments(&cursor, kind, &request->with) : needed)
		return bad_arguments(request->kind, text, err);
	return 0;
}

int hd_key_pattern_check(const char *text, struct hd_error *err)
{
	struct request request;

	return parse(text, &request, err);
}

static int check_fit(const struct request *request, const char *text, uint32_t ranks,
		     struct hd_error *err)
{
	const struct key_pattern_arguments *with = &request->with;
	const struct key_pattern_kind *kind = key_pattern_kinds_of(request->kind);
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

static int make_named(const struct request *request, uint32_t ranks, struct hd_key_pattern **out,
		      struct hd_error *err)
{
	struct key_pattern_build build;

	key_pattern_build_begin(&build, ranks, err);
	if (!build.rc)
		key_pattern_kinds_of(request->kind)->make(&build, &request->with);
	return key_pattern_build_end(&build, out);
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
	const struct key_pattern_kind *kind;
	int rc = parse(text, &request, err);

	if (rc)
		return rc;
	kind = key_pattern_kinds_of(request.kind);
	if (kind->form == KEY_PATTERN_PATH)
		return read_file(request.with.path, ranks, out, err);
	if (kind->axes && !request.with.given && ranks <= HD_KEY_RANKS_MAX)
		key_pattern_kinds_cut(ranks, kind->axes, request.with.size);
	if (ranks && ranks <= HD_KEY_RANKS_MAX) /* else the builder says so */
		rc = check_fit(&request, text, ranks, err);
	return rc ? rc : make_named(&request, ranks, out, err);
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
