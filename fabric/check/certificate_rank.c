/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ranks that rise along each dependency of a lane. */
#include "check_maps.h"

#include <errno.h>
#include <heddle/fabric/certificate.h>
#include <heddle/fabric/dependencies.h>
#include <inttypes.h>
#include <stdlib.h>

#define NONE HD_CERTIFICATE_NONE

/* `lane` NONE: the graph has channels of all lanes. */
static int refuse_lane(const struct hd_dependencies *graph, uint32_t lane, struct hd_arena *arena,
		       struct hd_error *err)
{
	const struct hd_fabric *fabric = graph->fabric;
	uint32_t *cycle = hd_arena_alloc(arena, fabric->isl_count, sizeof(*cycle));
	uint32_t length;
	char label[HD_LABEL_SIZE];

	if (!cycle || hd_dependencies_find_cycle(graph, cycle, &length))
		return hd_error_no_memory(err);
	uint32_t sw = hd_isl_from(fabric, cycle[0]);
	hd_port_label(fabric, hd_port_index(fabric, sw, fabric->isl_port[cycle[0]]), label,
		      sizeof(label));
	if (lane == NONE)
		return hd_error_set(err, -ELOOP,
				    "there is a credit loop over several lanes of %" PRIu32
				    " links, one of them from %s; heddle check shows it",
				    length, label);
	return hd_error_set(err, -ELOOP,
			    "VL %u has a credit loop of %" PRIu32
			    " links, one of them from %s; heddle check shows it",
			    lane, length, label);
}

struct ranking {
	const struct hd_dependencies *graph;
	uint32_t *rank; /* [isl_count] */
	uint32_t *waiting; /* [isl_count] links without a rank yet that wait for the link */
	uint32_t *queue; /* [isl_count] links with their final rank */
	uint32_t queued;
};

/* Calls visit() for each link that `link` waits for. */
static void each_wait(struct ranking *ranking, uint32_t link,
		      void (*visit)(struct ranking *ranking, uint32_t link, uint32_t next))
{
	const struct hd_dependencies *graph = ranking->graph;
	uint32_t base = graph->fabric->isl_base[graph->fabric->isl_to[link]];

	for (uint32_t word = 0; word < graph->words; word++)
		for (uint64_t left = graph->waits_for[(size_t)link * graph->words + word]; left;
		     left &= left - 1)
			visit(ranking, link, base + word * 64 + (uint32_t)__builtin_ctzll(left));
}

static void count_wait(struct ranking *ranking, uint32_t link, uint32_t next)
{
	(void)link;
	ranking->waiting[next]++;
}

static void raise_rank(struct ranking *ranking, uint32_t link, uint32_t next)
{
	if (ranking->rank[next] <= ranking->rank[link])
		ranking->rank[next] = ranking->rank[link] + 1;
	if (!--ranking->waiting[next])
		ranking->queue[ranking->queued++] = next;
}

/* The rank of a link is the number of links of the longest chain that waits for it. */
static int rank_links(struct ranking *ranking, uint32_t lane, struct hd_arena *arena,
		      struct hd_error *err)
{
	uint32_t links = ranking->graph->fabric->isl_count;

	ranking->waiting = hd_arena_alloc(arena, links, sizeof(*ranking->waiting));
	ranking->queue = hd_arena_alloc(arena, links, sizeof(*ranking->queue));
	if (!ranking->rank || hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t link = 0; link < links; link++)
		each_wait(ranking, link, count_wait);
	for (uint32_t link = 0; link < links; link++)
		if (!ranking->waiting[link])
			ranking->queue[ranking->queued++] = link;
	for (uint32_t done = 0; done < ranking->queued; done++)
		each_wait(ranking, ranking->queue[done], raise_rank);
	return ranking->queued < links ? refuse_lane(ranking->graph, lane, arena, err) : 0;
}

int hd_certificate_rank(struct hd_certificate *certificate, const struct hd_dependencies *graph,
			const uint16_t *carries, unsigned lane, struct hd_error *err)
{
	uint32_t links = graph->fabric->isl_count;
	struct hd_arena arena = {0};
	struct ranking ranking = {.graph = graph, .rank = calloc(links + 1ul, sizeof(uint32_t))};

	certificate->rank[lane] = ranking.rank;
	int rc = rank_links(&ranking, lane, &arena, err);
	hd_arena_release(&arena);
	if (rc)
		return rc;
	for (uint32_t link = 0; link < links; link++)
		if (!(carries[link] >> lane & 1))
			ranking.rank[link] = NONE;
	certificate->lanes |= (uint16_t)(1u << lane);
	return 0;
}

int certificate_rank_channels(struct hd_certificate *certificate, const struct check_maps *maps,
			      const uint16_t *carries, struct hd_error *err)
{
	const uint32_t links = maps->fabric->isl_count, lanes = maps->lanes;
	struct hd_arena arena = {0};
	struct ranking ranking = {.graph = &maps->graph};

	ranking.rank = hd_arena_alloc(&arena, (size_t)links * lanes + 1, sizeof(uint32_t));
	int rc = rank_links(&ranking, NONE, &arena, err);
	for (uint32_t link = 0; !rc && link < links; link++)
		certificate->lanes |= carries[link];
	for (uint32_t lane = 0; !rc && lane < lanes; lane++) {
		if (!(certificate->lanes >> lane & 1))
			continue;
		uint32_t *rank = certificate->rank[lane] = malloc((links + 1ul) * sizeof(*rank));
		for (uint32_t link = 0; rank && link < links; link++)
			rank[link] =
			    carries[link] >> lane & 1 ? ranking.rank[link * lanes + lane] : NONE;
		rc = rank ? 0 : hd_error_no_memory(err);
	}
	hd_arena_release(&arena);
	return rc;
}
