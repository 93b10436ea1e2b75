/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registry of patterns, and the function that makes one. */
#include "pattern_internal.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/text.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- patterns from a file ---- */

/*
 * Patterns from a file. A line has one flow: source and destination, as hosts or as ranks. A line
 * with only the word "round" begins the next round.
 */

static const struct hd_option file_options[] = {
    {.name = "file",
     .summary = "one flow a line: source and destination; `round` begins the next round",
     .type = HD_OPTION_STRING},
};

struct listing {
	struct hd_words words;
	const struct hd_ranks *ranks;
	uint32_t *rank_of_host; /* [host_count] for a file of hosts; NULL: a file of ranks */
	struct hd_flow *flows;
	uint32_t flow_count, flow_room;
	uint32_t *base; /* first flow of each round */
	uint32_t round_count, round_room;
};

/* ---- words ---- */

static int host_word(const struct listing *listing, const char *word, uint32_t *rank,
		     struct hd_error *err)
{
	const struct hd_fabric *fabric = listing->ranks->fabric;
	const struct hd_lines *lines = &listing->words.lines;
	uint32_t port;

	if (hd_fabric_resolve(fabric, word, HD_RESOLVE_HOSTS, &port, err))
		return hd_lines_error_prefix(lines, -EINVAL, err);
	uint32_t host = hd_fabric_find_host(fabric, port);
	*rank = host == HD_NONE ? HD_NONE : listing->rank_of_host[host];
	if (*rank == HD_NONE)
		return hd_lines_error_at(lines, lines->number, err, "host '%s' does not take part",
					 word);
	return 0;
}

static int rank_word(const struct listing *listing, const char *word, uint32_t *rank,
		     struct hd_error *err)
{
	const struct hd_lines *lines = &listing->words.lines;
	char *end;

	errno = 0;
	unsigned long long number = strtoull(word, &end, 10);
	uint32_t ranks = listing->ranks->count / listing->ranks->adapters;
	if (*word < '0' || *word > '9' || *end || errno || number >= ranks)
		return hd_lines_error_at(lines, lines->number, err,
					 "rank '%s' is out of range, expected 0..%" PRIu32, word,
					 ranks - 1);
	*rank = (uint32_t)number;
	return 0;
}

static int take_end(const struct listing *listing, const char *word, uint32_t *rank,
		    struct hd_error *err)
{
	return listing->rank_of_host ? host_word(listing, word, rank, err)
				     : rank_word(listing, word, rank, err);
}

/* ---- lines ---- */

static int add_round(struct listing *listing, struct hd_error *err)
{
	uint32_t *base =
	    hd_grow(listing->base, listing->round_count, 1, &listing->round_room, sizeof(*base));

	if (!base)
		return hd_error_no_memory(err);
	listing->base = base;
	listing->base[listing->round_count++] = listing->flow_count;
	return 0;
}

/* A second "round" in a row does not make an empty round. */
static int begin_round(struct listing *listing, struct hd_error *err)
{
	if (listing->round_count && listing->base[listing->round_count - 1] == listing->flow_count)
		return 0;
	return add_round(listing, err);
}

static int take_line(struct listing *listing, struct hd_error *err)
{
	const struct hd_words *words = &listing->words;

	if (words->count == 1 && !strcmp(words->word[0], "round"))
		return begin_round(listing, err);
	if (words->count == 2) {
		struct hd_flow flow;
		int rc = take_end(listing, listing->words.word[0], &flow.source, err);

		if (!rc)
			rc = take_end(listing, listing->words.word[1], &flow.destination, err);
		if (rc)
			return rc;
		if (flow.source == flow.destination)
			return hd_lines_error_at(&listing->words.lines, listing->words.lines.number,
						 err, "'%s' sends to itself",
						 listing->words.word[0]);
		struct hd_flow *flows = hd_grow(listing->flows, listing->flow_count, 1,
						&listing->flow_room, sizeof(*flows));
		if (!flows)
			return hd_error_no_memory(err);
		listing->flows = flows;
		listing->flows[listing->flow_count++] = flow;
		return 0;
	}
	return hd_lines_error(&words->lines, err, "expected `SOURCE DESTINATION` or `round`");
}

static int take_lines(struct listing *listing, struct hd_error *err)
{
	int rc = begin_round(listing, err);

	while (!rc && (rc = hd_words_next(&listing->words, err)) > 0)
		rc = take_line(listing, err);
	if (!rc && !listing->flow_count)
		return hd_error_set(err, -ENODATA, "%s: the file has no flow",
				    listing->words.lines.name);
	if (!rc && listing->base[listing->round_count - 1] == listing->flow_count)
		listing->round_count--;
	if (!rc)
		rc = add_round(listing, err);
	if (!rc)
		listing->round_count--; /* this one is only the end of the last round */
	return rc;
}

/* ---- the pattern ---- */

static int number_hosts(struct listing *listing, struct hd_error *err)
{
	uint32_t hosts = listing->ranks->fabric->host_count;

	listing->rank_of_host = malloc(((size_t)hosts + 1) * sizeof(uint32_t));
	if (!listing->rank_of_host)
		return hd_error_no_memory(err);
	for (uint32_t host = 0; host < hosts; host++)
		listing->rank_of_host[host] = HD_NONE;
	for (uint32_t rank = 0; rank < listing->ranks->count; rank++)
		listing->rank_of_host[listing->ranks->host[rank]] = rank;
	return 0;
}

static int read_listing(struct listing *listing, const char *path, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = hd_words_begin(&listing->words, &text, err);
	if (!rc)
		rc = take_lines(listing, err);
	hd_text_close(&text);
	return rc;
}

static int prepare_file(struct hd_pattern *pattern, const struct hd_options *options,
			const struct hd_ranks *ranks, bool hosts, struct hd_error *err)
{
	struct listing listing = {.ranks = ranks};
	int rc = hosts ? number_hosts(&listing, err) : 0;

	if (!rc)
		rc = read_listing(&listing, hd_options_get(options, "file")->text, err);
	free(listing.rank_of_host);
	if (rc) {
		free(listing.flows);
		free(listing.base);
		return rc;
	}
	pattern->rounds = listing.round_count;
	pattern->list = listing.flows;
	pattern->list_base = listing.base;
	pattern->round_max = 0;
	for (uint32_t i = 0; i < pattern->rounds; i++) {
		uint32_t flows = pattern->list_base[i + 1] - pattern->list_base[i];
		pattern->round_max = flows > pattern->round_max ? flows : pattern->round_max;
	}
	return 0;
}

static int prepare_pairs(struct hd_pattern *pattern, const struct hd_options *options,
			 const struct hd_ranks *ranks, struct hd_error *err)
{
	return prepare_file(pattern, options, ranks, true, err);
}

static int prepare_ranks(struct hd_pattern *pattern, const struct hd_options *options,
			 const struct hd_ranks *ranks, struct hd_error *err)
{
	return prepare_file(pattern, options, ranks, false, err);
}

static uint32_t list_round(const struct hd_pattern *pattern, uint32_t round, struct hd_draw *draw,
			   struct hd_flow *flows)
{
	(void)draw;
	uint32_t begin = pattern->list_base[round], count = pattern->list_base[round + 1] - begin;
	memcpy(flows, pattern->list + begin, count * sizeof(*flows));
	return count;
}

const struct hd_pattern_kind pattern_pairs = {
    .name = "pairs",
    .summary = "from a file of hosts",
    PATTERN_OPTIONS(file_options),
    .fixed_hosts = true,
    .prepare = prepare_pairs,
    .round = list_round,
};

const struct hd_pattern_kind pattern_ranks = {
    .name = "ranks",
    .summary = "from a file of ranks",
    PATTERN_OPTIONS(file_options),
    .prepare = prepare_ranks,
    .round = list_round,
};

/* ---- the registry ---- */

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
    &pattern_neighbours,    &pattern_nccl_ring,
    &pattern_nccl_tree,	    &pattern_nccl_all_to_all,
    &pattern_pairs,	    &pattern_ranks,
    &pattern_goal,
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

static int pattern_prepare(struct hd_pattern *pattern, const struct hd_options *options,
			   const struct hd_ranks *ranks, struct hd_error *err)
{
	const struct hd_pattern_kind *kind = pattern->kind;

	if (pattern->ranks < 2)
		return hd_error_set(err, -EINVAL, "pattern %s: %" PRIu32 " %s, expected 2 or more",
				    kind->name, pattern->ranks,
				    pattern->adapters > 1 ? "machine" : "rank");
	if (kind->fixed_hosts && pattern->adapters > 1)
		return hd_error_set(err, -EINVAL,
				    "pattern %s: its flows name hosts, so it is none of machines",
				    kind->name);
	int rc = hd_options_complete(options, err);
	if (!rc)
		rc = kind->prepare(pattern, options, ranks, err);
	if (!rc && !kind->by_adapter)
		pattern->round_max *= pattern->adapters;
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
		uint32_t machines = ranks->count / ranks->adapters;
		*pattern = (struct hd_pattern){.kind = kind,
					       .ranks = machines,
					       .adapters = ranks->adapters,
					       .rounds = 1,
					       .round_max = machines};
		rc = pattern_prepare(pattern, options, ranks, err);
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
