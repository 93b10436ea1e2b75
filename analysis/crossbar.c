/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What patterns get on one crossbar, where flows meet at hosts alone. */
#include <heddle/analysis/application.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <string.h>

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

static int allocate(struct crossbar *crossbar, struct hd_arena *arena)
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
	if (allocate(&crossbar, &arena))
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
