/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/ranks.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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
	int code = hd_error_set(err, -ENODATA,
				"no host can take part: %" PRIu32 " hosts, of them %" PRIu32
				" aggregation nodes and %" PRIu32 " without LID",
				fabric->host_count, ranks->aggregation_nodes, ranks->without_lid);
	hd_ranks_free(ranks);
	return code;
}

void hd_ranks_free(struct hd_ranks *ranks)
{
	if (!ranks)
		return;
	free(ranks->host);
	free(ranks);
}
