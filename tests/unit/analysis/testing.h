/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of analysis share. Include after <cmocka.h>. */
#ifndef ANALYSIS_TESTING_H
#define ANALYSIS_TESTING_H

#include "generated.h"

#include <heddle/analysis.h>
#include <heddle/fabric.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		if (call)                                                                          \
			fail_msg("%s: %s", #call, err.text);                                       \
	} while (0)

static inline struct hd_options *options_from(const struct hd_option *table, unsigned count,
					      const char *settings, struct hd_error *reason)
{
	struct hd_error err = {""};
	struct hd_options *options = hd_options_new(table, count);

	CHECK(generated_set(options, settings, reason ? reason : &err));
	return options;
}

static inline struct hd_fabric *generate(const char *kind, const char *settings)
{
	struct hd_error err = {""};
	struct hd_fabric *fabric = NULL;

	CHECK(generated_fabric(kind, settings, &fabric, &err));
	return fabric;
}

static inline struct hd_ranks *all_ranks(const struct hd_fabric *fabric)
{
	struct hd_error err = {""};
	struct hd_ranks *ranks = NULL;

	CHECK(hd_ranks_new(fabric, false, &ranks, &err));
	return ranks;
}

/* The pattern, or its error code with a reason. */
static inline int pattern_try(const char *kind, const char *settings, const struct hd_ranks *ranks,
			      struct hd_pattern **out, struct hd_error *err)
{
	const struct hd_pattern_kind *found = hd_pattern_find(kind);

	assert_non_null(found);
	struct hd_options *options =
	    options_from(found->options, found->option_count, settings, NULL);
	int rc = hd_pattern_new(found, options, ranks, out, err);
	hd_options_free(options);
	return rc;
}

static inline struct hd_pattern *pattern_of(const char *kind, const char *settings,
					    const struct hd_ranks *ranks)
{
	struct hd_error err = {""};
	struct hd_pattern *pattern = NULL;

	if (pattern_try(kind, settings, ranks, &pattern, &err))
		fail_msg("%s %s: %s", kind, settings, err.text);
	return pattern;
}

/* Writes text to a file of its own, the name of which is in `path` (of 32 bytes). */
static inline void write_file(char *path, const char *text)
{
	strcpy(path, "analysis_test_XXXXXX");
	int descriptor = mkstemp(path);
	assert_true(descriptor >= 0);
	FILE *stream = fdopen(descriptor, "w");
	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
}

#endif
