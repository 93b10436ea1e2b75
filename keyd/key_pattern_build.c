/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_pattern_build.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <stdlib.h>

void hd_key_pattern_free(struct hd_key_pattern *pattern)
{
	if (!pattern)
		return;
	free(pattern->base);
	free(pattern->flows);
	free(pattern);
}

void key_pattern_build_begin(struct key_pattern_build *build, uint32_t ranks, struct hd_error *err)
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

void key_pattern_build_phase(struct key_pattern_build *build)
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

void key_pattern_build_flow(struct key_pattern_build *build, uint32_t source, uint32_t destination)
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

int key_pattern_build_end(struct key_pattern_build *build, struct hd_key_pattern **out)
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
