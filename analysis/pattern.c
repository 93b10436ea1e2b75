/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registry of patterns, and the function that makes one. */
#include "pattern_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct hd_pattern_kind *const kinds[] = {
    &pattern_bisect,	    &pattern_permutation,
    &pattern_uniform,	    &pattern_hot_spot,
    &pattern_incast,	    &pattern_shift,
    &pattern_complement,    &pattern_bit_reversal,
    &pattern_transpose,	    &pattern_ring,
    &pattern_pipeline,	    &pattern_all_to_all,
    &pattern_pairwise,	    &pattern_recursive_doubling,
    &pattern_dissemination, &pattern_tree,
    &pattern_gather,	    &pattern_scatter,
    &pattern_neighbours,    &pattern_pairs,
    &pattern_ranks,
};

const struct hd_pattern_kind *const *hd_pattern_kinds(unsigned *count)
{
	*count = sizeof(kinds) / sizeof(kinds[0]);
	return kinds;
}

const struct hd_pattern_kind *hd_pattern_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

static int prepare(struct hd_pattern *pattern, const struct hd_options *options,
		   const struct hd_ranks *ranks, struct hd_error *err)
{
	if (ranks->count < 2)
		return hd_error_set(err, -EINVAL,
				    "pattern %s: %" PRIu32 " rank, expected 2 or more",
				    pattern->kind->name, ranks->count);
	int rc = hd_options_complete(options, err);
	if (!rc)
		rc = pattern->kind->prepare(pattern, options, ranks, err);
	return rc ? hd_error_prefix(err, rc, "pattern %s", pattern->kind->name) : 0;
}

int hd_pattern_new(const struct hd_pattern_kind *kind, const struct hd_options *options,
		   const struct hd_ranks *ranks, struct hd_pattern **out, struct hd_error *err)
{
	struct hd_options *defaults = NULL;
	struct hd_pattern *pattern = calloc(1, sizeof(*pattern));

	if (!options)
		options = defaults = hd_options_new(kind->options, kind->option_count);
	int rc = -ENOMEM;
	if (!pattern || !options) {
		hd_error_no_memory(err);
	} else {
		*pattern = (struct hd_pattern){
		    .kind = kind, .ranks = ranks->count, .rounds = 1, .round_max = ranks->count};
		rc = prepare(pattern, options, ranks, err);
	}
	hd_options_free(defaults);
	if (rc)
		hd_pattern_free(pattern);
	else
		*out = pattern;
	return rc;
}

void hd_pattern_free(struct hd_pattern *pattern)
{
	if (!pattern)
		return;
	free(pattern->list_base);
	free(pattern->list);
	free(pattern);
}

bool hd_pattern_varies(const struct hd_pattern *pattern, enum hd_mapping mapping)
{
	return pattern->kind->random || (mapping == HD_MAP_RANDOM && !pattern->kind->fixed_hosts);
}
