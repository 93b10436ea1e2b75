/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_traffic.h"
#include "key_service.h"
#include "need.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <ctype.h>

/* The ranks of a grid: 32 for "stencil2d:4x8"; 0: the pattern has no size. */
static uint32_t grid_ranks(const char *pattern)
{
	const char *at = strchr(pattern, ':');
	uint64_t ranks = 1;
	unsigned sides = 0;
	char *end;

	while (at && isdigit((unsigned char)at[1])) {
		ranks *= strtoul(at + 1, &end, 10);
		sides++;
		if (ranks > HD_KEY_RANKS_MAX)
			return 0; /* keyd says what is wrong */
		at = *end == 'x' ? end : NULL;
	}
	return sides > 1 ? (uint32_t)ranks : 0;
}

/* As many as the flows name, and for each host equally many. */
static uint32_t count_ranks(const struct hd_key_pattern *pattern, size_t hosts)
{
	uint32_t flows = pattern->base[pattern->phase_count], most = 0;

	for (uint32_t i = 0; i < flows; i++) {
		const struct hd_rank_flow *flow = &pattern->flows[i];
		most = flow->source > most ? flow->source : most;
		most = flow->destination > most ? flow->destination : most;
	}
	return hosts ? (uint32_t)((most + hosts) / hosts * hosts) : most + 1;
}

/* What the user's own process has read when the job was submitted needs no rights. */
static int read_flows(const char *text, const struct key_slurm_job *slurm,
		      struct hd_key_pattern **pattern, struct hd_error *err)
{
	int rc;

	if (!slurm)
		return hd_key_pattern_new(text, HD_KEY_RANKS_MAX, pattern, err);
	if (!slurm->flows)
		return key_slurm_pattern(text, slurm->uid, pattern, err);
	rc = hd_key_pattern_unpack(slurm->flows, HD_KEY_RANKS_MAX, pattern, err);
	return rc ? hd_error_prefix(err, rc, "%s", text) : 0;
}

static int take_file(const char *text, const struct key_slurm_job *slurm,
		     struct key_traffic *traffic, struct hd_key_client_placement *placement,
		     struct hd_error *err)
{
	struct hd_key_pattern *pattern = NULL;
	int rc = read_flows(text, slurm, &pattern, err);

	if (rc)
		return rc;
	uint32_t count = pattern->base[pattern->phase_count];
	traffic->flows = need(calloc((size_t)count + 1, sizeof(*traffic->flows)));
	traffic->base = need(calloc((size_t)pattern->phase_count + 1, sizeof(*traffic->base)));
	memcpy(traffic->base, pattern->base,
	       ((size_t)pattern->phase_count + 1) * sizeof(*traffic->base));
	for (uint32_t i = 0; i < count; i++)
		traffic->flows[i] = (struct hd_key_client_flow){pattern->flows[i].source,
								pattern->flows[i].destination};
	placement->pattern = NULL;
	placement->flows = traffic->flows;
	placement->base = traffic->base;
	placement->phase_count = pattern->phase_count;
	if (!placement->ranks)
		placement->ranks = count_ranks(pattern, placement->host_count);
	hd_key_pattern_free(pattern);
	return 0;
}

int key_traffic_take(const char *pattern, const struct key_slurm_job *slurm,
		     struct key_traffic *traffic, struct hd_key_client_placement *placement,
		     struct hd_error *err)
{
	int rc = hd_key_pattern_check(pattern, err);

	if (rc)
		return rc;
	if (!strncmp(pattern, "file:", strlen("file:")))
		return take_file(pattern, slurm, traffic, placement, err);
	placement->pattern = pattern;
	if (!placement->ranks)
		placement->ranks = grid_ranks(pattern);
	return 0;
}

void key_traffic_release(struct key_traffic *traffic)
{
	free(traffic->flows);
	free(traffic->base);
}
