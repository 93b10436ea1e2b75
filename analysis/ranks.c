/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/ranks.h>

#include <errno.h>
#include <heddle/base/words.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AGGREGATION_NODE "Aggregation Node"

static struct hd_ranks *ranks_alloc(const struct hd_fabric *fabric)
{
	struct hd_ranks *ranks = calloc(1, sizeof(*ranks));

	if (!ranks)
		return NULL;
	ranks->fabric = fabric;
	ranks->host = calloc((size_t)fabric->host_count + 1, sizeof(*ranks->host));
	if (ranks->host)
		return ranks;
	free(ranks);
	return NULL;
}

static const char *host_name(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_name[fabric->port_node[fabric->host_port[host]]];
}

static bool is_aggregation_node(const struct hd_fabric *fabric, uint32_t host)
{
	return strstr(host_name(fabric, host), AGGREGATION_NODE) != NULL;
}

int hd_ranks_new(const struct hd_fabric *fabric, bool aggregation_nodes, struct hd_ranks **out,
		 struct hd_error *err)
{
	struct hd_ranks *ranks = ranks_alloc(fabric);

	if (!ranks)
		return hd_error_no_memory(err);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		if (!aggregation_nodes && is_aggregation_node(fabric, host))
			ranks->aggregation_nodes++;
		else if (!fabric->lid[fabric->host_port[host]])
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
			      fabric->host_count, ranks->aggregation_nodes, ranks->without_lid);
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

static int parse(const struct hd_fabric *fabric, const struct hd_text *text, struct hd_ranks **out,
		 struct hd_error *err)
{
	struct hd_words words;
	struct hd_ranks *ranks = ranks_alloc(fabric);

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

	return parse(fabric, &whole, out, err);
}

int hd_ranks_read(const struct hd_fabric *fabric, const char *path, struct hd_ranks **out,
		  struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = parse(fabric, &text, out, err);
	hd_text_close(&text);
	return rc;
}

void hd_ranks_free(struct hd_ranks *ranks)
{
	if (!ranks)
		return;
	free(ranks->host);
	free(ranks);
}
