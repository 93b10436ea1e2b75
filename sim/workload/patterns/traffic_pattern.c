/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_pattern.h"

#include <errno.h>

static int take_ranks(const struct hd_traffic_part *part, const struct hd_pattern_kind *kind,
		      struct hd_ranks *ranks, struct hd_error *err)
{
	*ranks = (struct hd_ranks){.fabric = part->traffic->scene->network->subnets[0].fabric,
				   .count = part->member_count,
				   .adapters = 1};
	ranks->host =
	    hd_arena_alloc(&part->traffic->arena, part->member_count, sizeof(*ranks->host));
	if (!ranks->host)
		return hd_error_no_memory(err);
	memcpy(ranks->host, part->members, part->member_count * sizeof(*ranks->host));
	return hd_ranks_for_pattern(ranks, kind, err);
}

static int make(const struct hd_traffic_part *part, const struct hd_pattern_kind *kind,
		char *settings, struct traffic_pattern *out, struct hd_error *err)
{
	struct hd_options *options = hd_options_new(kind->options, kind->option_count);
	int rc = options ? hd_options_set_pairs(options, settings, err) : hd_error_no_memory(err);

	if (!rc)
		rc = take_ranks(part, kind, &out->ranks, err);
	if (!rc)
		rc = hd_pattern_new(kind, options, &out->ranks, &out->pattern, err);
	hd_options_free(options);
	return rc;
}

int traffic_pattern_new(const struct hd_traffic_part *part, const char *text,
			struct traffic_pattern *out, struct hd_error *err)
{
	char *copy = hd_arena_strdup(&part->traffic->arena, text);

	*out = (struct traffic_pattern){.pattern = NULL};
	if (!copy)
		return hd_error_no_memory(err);
	if (part->traffic->places.subnet_count > 1)
		return hd_error_set(err, -ENOTSUP, "patterns are for one subnet");
	char *settings = strchr(copy, ',');
	if (settings)
		*settings++ = '\0';
	const struct hd_pattern_kind *kind = hd_pattern_find(copy);
	if (!kind)
		return hd_error_set(err, -EINVAL, "no pattern is called '%s'", copy);
	return make(part, kind, settings, out, err);
}

int traffic_pattern_round(const struct traffic_pattern *pattern, const struct hd_traffic_part *part,
			  uint32_t round, struct hd_flow *flows, uint32_t *count,
			  struct hd_error *err)
{
	return hd_pattern_draw(pattern->pattern, &pattern->ranks, HD_MAP_IDENTITY,
			       part->traffic->seed, 0, round, flows, count, err);
}

void traffic_pattern_release(struct traffic_pattern *pattern)
{
	hd_pattern_free(pattern->pattern);
}
