/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/pattern.h>

#include <errno.h>
#include <heddle/base/text.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdlib.h>

/* With `everyone`, adapters that are set aside are hosts like all others. */
static struct hd_ranks *ranks_alloc(const struct hd_fabric *fabric, bool everyone)
{
	struct hd_ranks *ranks = calloc(1, sizeof(*ranks));
	uint32_t most = fabric->host_count + fabric->aside_count;

	if (!ranks)
		return NULL;
	ranks->fabric = fabric;
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

static int parse(const struct hd_fabric *fabric, const struct hd_text *text, struct hd_ranks **out,
		 struct hd_error *err)
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
	hd_fabric_free(ranks->view);
	free(ranks);
}
