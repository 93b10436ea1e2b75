/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/ranks.h>

#include "records.h"

#include <errno.h>
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
			      "no host can take part: %" PRIu32 " hosts, of them %" PRIu32
			      " aggregation nodes and %" PRIu32 " without LID",
			      fabric->host_count, ranks->aggregation_nodes, ranks->without_lid);
	hd_ranks_free(ranks);
	return rc;
}

/* ---- finding hosts ---- */

/* The description up to its first blank: what people call a host. */
static bool first_word_is(const char *name, const char *text)
{
	size_t length = strlen(text);

	return !strncmp(name, text, length) && (name[length] == ' ' || name[length] == '\t');
}

static bool has_name(const struct hd_fabric *fabric, uint32_t host, const char *text, bool whole)
{
	const char *name = host_name(fabric, host);

	return whole ? !strcmp(name, text) : first_word_is(name, text);
}

/* Number of hosts of that name; *out is the first of them. */
static uint32_t count_named(const struct hd_fabric *fabric, const char *text, bool whole,
			    uint32_t *out)
{
	uint32_t found = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++)
		if (has_name(fabric, host, text, whole) && !found++)
			*out = host;
	return found;
}

static uint32_t host_of_port(const struct hd_fabric *fabric, uint32_t port)
{
	for (uint32_t host = 0; port != HD_NONE && host < fabric->host_count; host++)
		if (fabric->host_port[host] == port)
			return host;
	return HD_NONE;
}

/* A node's only port in the fabric: its GUID stands for that. */
static uint32_t host_of_node(const struct hd_fabric *fabric, uint64_t guid)
{
	uint32_t node = hd_fabric_find_node(fabric, guid), found = HD_NONE;

	for (uint32_t host = 0; node != HD_NONE && host < fabric->host_count; host++) {
		if (fabric->port_node[fabric->host_port[host]] != node)
			continue;
		if (found != HD_NONE)
			return HD_NONE;
		found = host;
	}
	return found;
}

static uint32_t host_by_number(const struct hd_fabric *fabric, const char *text)
{
	char *end;
	bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	if (!hexadecimal && (text[0] < '0' || text[0] > '9'))
		return HD_NONE;
	errno = 0;
	uint64_t number = strtoull(text, &end, hexadecimal ? 16 : 10);
	if (errno || *end)
		return HD_NONE;
	if (!hexadecimal)
		return number < fabric->lid_count ? host_of_port(fabric, fabric->lid_owner[number])
						  : HD_NONE;
	uint32_t host = host_of_port(fabric, hd_fabric_find_port(fabric, number));
	return host != HD_NONE ? host : host_of_node(fabric, number);
}

int hd_ranks_find_host(const struct hd_fabric *fabric, const char *text, uint32_t *out,
		       struct hd_error *err)
{
	uint32_t host = HD_NONE, found = count_named(fabric, text, true, &host);

	if (!found)
		found = count_named(fabric, text, false, &host);
	if (found > 1)
		return hd_error_set(err, -EEXIST,
				    "%" PRIu32 " hosts are called '%s', expected a port GUID or a "
				    "LID instead",
				    found, text);
	if (!found)
		host = host_by_number(fabric, text);
	if (host == HD_NONE)
		return hd_error_set(err, -ENOENT,
				    "no host '%s' in this fabric, expected a node description, a "
				    "GUID 0x... or a LID",
				    text);
	*out = host;
	return 0;
}

/* ---- host files ---- */

static int bad_host(const struct records *records, const char *reason, struct hd_error *err)
{
	return hd_error_set(err, -EINVAL, "%s:%u: host '%s' %s", records->name, records->number,
			    records->word[0], reason);
}

static int take_host(struct hd_ranks *ranks, const struct records *records, bool *taken,
		     struct hd_error *err)
{
	const struct hd_fabric *fabric = ranks->fabric;
	uint32_t host;

	if (records->words > 1)
		return hd_error_set(err, -EINVAL,
				    "%s:%u: more than one word, expected one host a line (a name "
				    "with blanks in \"quotes\")",
				    records->name, records->number);
	if (hd_ranks_find_host(fabric, records->word[0], &host, err))
		return hd_error_prefix(err, -EINVAL, "%s:%u", records->name, records->number);
	if (taken[host])
		return bad_host(records, "is listed twice", err);
	if (!fabric->lid[fabric->host_port[host]])
		return bad_host(records, "has no LID: nothing can be routed to it", err);
	taken[host] = true;
	ranks->host[ranks->count++] = host;
	return 0;
}

static int take_hosts(struct hd_ranks *ranks, struct records *records, struct hd_error *err)
{
	bool *taken = calloc((size_t)ranks->fabric->host_count + 1, sizeof(*taken));
	int rc = 0;

	if (!taken)
		return hd_error_no_memory(err);
	while (!rc && (rc = records_next(records, err)) > 0)
		rc = take_host(ranks, records, taken, err);
	free(taken);
	if (!rc && !ranks->count)
		return hd_error_set(err, -ENODATA, "%s: no host in it", records->name);
	return rc;
}

int hd_ranks_parse(const struct hd_fabric *fabric, const char *text, size_t length,
		   const char *name, struct hd_ranks **out, struct hd_error *err)
{
	struct records records;
	struct hd_ranks *ranks = ranks_alloc(fabric);

	if (!ranks)
		return hd_error_no_memory(err);
	records_begin(&records, text, length, name);
	int rc = take_hosts(ranks, &records, err);
	if (rc)
		hd_ranks_free(ranks);
	else
		*out = ranks;
	return rc;
}

int hd_ranks_read(const struct hd_fabric *fabric, const char *path, struct hd_ranks **out,
		  struct hd_error *err)
{
	char *text = NULL;
	size_t length;
	int rc = records_load(path, &text, &length, err);

	if (!rc)
		rc = hd_ranks_parse(fabric, text, length, path, out, err);
	free(text);
	return rc;
}

void hd_ranks_free(struct hd_ranks *ranks)
{
	if (!ranks)
		return;
	free(ranks->host);
	free(ranks);
}
