/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which host runs which rank: all hosts in the order of the fabric, or those of a file in the file's order, one name
 * or GUID a line. The commands make ranks before they draw patterns.
 *
 * hd_ranks_by_machine() then orders adapters by machine, rail by rail, and hd_ranks_for_pattern() does so if the
 * pattern counts machines. A host is there at most once; routers and adapters that are set aside are refused, unless
 * the caller wants aggregation nodes, too. The fabric must outlive the ranks.
 */
#include <heddle/analysis/pattern.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/text.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* With `everyone`, adapters that are set aside are hosts like all others. */
static struct hd_ranks *ranks_alloc(const struct hd_fabric *fabric, bool everyone)
{
	struct hd_ranks *ranks = calloc(1, sizeof(*ranks));
	uint32_t most = fabric->host_count + fabric->aside_count;

	if (!ranks)
		return NULL;
	ranks->fabric = fabric;
	ranks->adapters = 1;
	ranks->host = calloc((size_t)most + 1, sizeof(*ranks->host));
	if (ranks->host && everyone && fabric->aside_count &&
	    !hd_fabric_regroup(fabric, NULL, &ranks->view, NULL))
		ranks->fabric = ranks->view;
	if (ranks->host && (ranks->view || !everyone || !fabric->aside_count))
		return ranks;
	hd_ranks_free(ranks);
	return NULL;
}

int hd_ranks_new(const struct hd_fabric *fabric, bool aggregation_nodes, struct hd_ranks **out,
		 struct hd_error *err)
{
	struct hd_ranks *ranks = ranks_alloc(fabric, aggregation_nodes);

	if (!ranks)
		return hd_error_no_memory(err);
	fabric = ranks->fabric;
	ranks->aggregation_nodes = fabric->aside_count;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		if (!fabric->lid[fabric->host_port[host]])
			ranks->without_lid++;
		else
			ranks->host[ranks->count++] = host;
	}
	if (ranks->count) {
		*out = ranks;
		return 0;
	}
	int rc = hd_error_set(err, -ENODATA,
			      "no host can take part: of %" PRIu32 " hosts, %" PRIu32
			      " are aggregation nodes and %" PRIu32 " have no LID",
			      fabric->host_count + fabric->aside_count, ranks->aggregation_nodes,
			      ranks->without_lid);
	hd_ranks_free(ranks);
	return rc;
}

/* ---- host files ---- */

static int bad_host(const struct hd_words *words, const char *reason, struct hd_error *err)
{
	return hd_lines_error_at(&words->lines, words->lines.number, err, "host '%s' %s",
				 words->word[0], reason);
}

static int take_host(struct hd_ranks *ranks, const struct hd_words *words, bool *taken,
		     struct hd_error *err)
{
	const struct hd_fabric *fabric = ranks->fabric;
	uint32_t port;

	if (hd_fabric_resolve(fabric, words->word[0], HD_RESOLVE_HOSTS, &port, err))
		return hd_lines_error_prefix(&words->lines, -EINVAL, err);
	uint32_t host = hd_fabric_find_host(fabric, port);
	if (taken[host])
		return bad_host(words, "is listed twice", err);
	if (!fabric->lid[port])
		return bad_host(words, "has no LID, so no switch has an entry for it", err);
	taken[host] = true;
	ranks->host[ranks->count++] = host;
	return 0;
}

static int take_hosts(struct hd_ranks *ranks, struct hd_words *words, struct hd_error *err)
{
	bool *taken = calloc((size_t)ranks->fabric->host_count + 1, sizeof(*taken));
	int rc = 0;

	if (!taken)
		return hd_error_no_memory(err);
	while (!rc && (rc = hd_words_next_name(words, err)) > 0)
		rc = take_host(ranks, words, taken, err);
	free(taken);
	if (!rc && !ranks->count)
		return hd_error_set(err, -ENODATA, "%s: the file has no host", words->lines.name);
	return rc;
}

static int ranks_parse(const struct hd_fabric *fabric, const struct hd_text *text,
		       struct hd_ranks **out, struct hd_error *err)
{
	struct hd_words words;
	struct hd_ranks *ranks = ranks_alloc(fabric, true);

	if (!ranks)
		return hd_error_no_memory(err);
	int rc = hd_words_begin(&words, text, err);
	if (!rc)
		rc = take_hosts(ranks, &words, err);
	if (rc)
		hd_ranks_free(ranks);
	else
		*out = ranks;
	return rc;
}

int hd_ranks_parse(const struct hd_fabric *fabric, const char *text, size_t length,
		   const char *name, struct hd_ranks **out, struct hd_error *err)
{
	const struct hd_text whole = {.bytes = text, .length = length, .name = name};

	return ranks_parse(fabric, &whole, out, err);
}

int hd_ranks_read(const struct hd_fabric *fabric, const char *path, struct hd_ranks **out,
		  struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = ranks_parse(fabric, &text, out, err);
	hd_text_close(&text);
	return rc;
}

/* ---- machines ---- */

/* Writes the hosts of a machine that take part, in the order of rails. */
static uint32_t add_machine(const struct hd_machines *machines, uint32_t machine,
			    const bool *takes_part, uint32_t *host, uint32_t count)
{
	for (uint32_t at = machines->base[machine]; at < machines->base[machine + 1]; at++)
		if (takes_part[machines->host[at]])
			host[count++] = machines->host[at];
	return count;
}

struct regrouping {
	uint32_t *size; /* [machines] ranks of a machine */
	uint64_t *ranks_of_size; /* [hosts + 1] */
	bool *takes_part; /* [hosts] */
	uint32_t *host; /* [ranks] the new order */
};

int hd_ranks_by_machine(struct hd_ranks *ranks, const struct hd_machines *machines,
			struct hd_error *err)
{
	struct hd_arena arena = {0};
	size_t hosts = ranks->fabric->host_count;
	struct regrouping regrouping = {
	    .size = hd_arena_alloc(&arena, machines->count, sizeof(uint32_t)),
	    .ranks_of_size = hd_arena_alloc(&arena, hosts + 1, sizeof(uint64_t)),
	    .takes_part = hd_arena_alloc(&arena, hosts, sizeof(bool)),
	    .host = hd_arena_alloc(&arena, ranks->count, sizeof(uint32_t))};

	if (!arena.failed) {
		uint32_t count = 0;

		for (uint32_t rank = 0; rank < ranks->count; rank++) {
			regrouping.takes_part[ranks->host[rank]] = true;
			regrouping.size[machines->of_host[ranks->host[rank]]]++;
		}
		/* How many ranks the machines have that together have the most. */
		const uint32_t *size = regrouping.size;
		uint64_t *ranks_of_size = regrouping.ranks_of_size;
		uint32_t adapters = 0;

		for (uint32_t i = 0; i < machines->count; i++)
			ranks_of_size[size[i]] += size[i];
		for (uint32_t i = 0; i < machines->count; i++) {
			uint32_t here = size[i];
			if (ranks_of_size[here] > ranks_of_size[adapters] ||
			    (ranks_of_size[here] == ranks_of_size[adapters] && here > adapters))
				adapters = here;
		}

		for (uint32_t rank = 0; rank < ranks->count; rank++) {
			uint32_t machine = machines->of_host[ranks->host[rank]];
			if (regrouping.size[machine] == adapters)
				count = add_machine(machines, machine, regrouping.takes_part,
						    regrouping.host, count);
			ranks->other_machines +=
			    regrouping.size[machine] && regrouping.size[machine] != adapters;
			regrouping.size[machine] = 0; /* done */
		}
		memcpy(ranks->host, regrouping.host, count * sizeof(*ranks->host));
		ranks->count = count;
		ranks->adapters = adapters;
	}
	int rc = arena.failed ? hd_error_no_memory(err) : 0;
	hd_arena_release(&arena);
	return rc;
}

int hd_ranks_for_pattern(struct hd_ranks *ranks, const struct hd_pattern_kind *kind,
			 struct hd_error *err)
{
	struct hd_machines *machines = NULL;

	if (!kind->by_adapter)
		return 0;
	int rc = hd_machines_find(ranks->fabric, HD_MACHINES_AUTO, &machines, err);
	if (!rc)
		rc = hd_ranks_by_machine(ranks, machines, err);
	hd_machines_free(machines);
	return rc;
}

void hd_ranks_free(struct hd_ranks *ranks)
{
	if (!ranks)
		return;
	free(ranks->host);
	hd_fabric_free(ranks->view);
	free(ranks);
}
