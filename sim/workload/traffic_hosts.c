/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Endpoints, and the texts by which users name them. */
#include "traffic.h"

#include <heddle/base/text.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- places ---- */

static uint64_t cable_rate(const struct hd_traffic *traffic, const struct hd_fabric *fabric,
			   uint32_t port)
{
	const struct hd_sim_settings *settings = traffic->scene->settings;

	if (settings->forced_rate)
		return settings->forced_rate;
	uint64_t rate = (uint64_t)(hd_port_rate(fabric, port) * 1e9 + 0.5);
	if (rate)
		return rate;
	return settings->bit_rate ? settings->bit_rate : UINT64_C(40000000000);
}

static void place_subnet(struct hd_traffic *traffic, uint32_t subnet, uint32_t first_leaf)
{
	const struct hd_fabric *fabric = traffic->scene->network->subnets[subnet].fabric;
	struct traffic_places *places = &traffic->places;

	for (uint32_t h = 0; h < fabric->host_count; h++) {
		uint32_t at = places->base[subnet] + h, port = fabric->host_port[h];
		places->subnet[at] = subnet;
		places->leaf[at] = first_leaf + fabric->host_switch[h];
		places->lids[at] = hd_port_lid_count(fabric, port);
		places->rate[at] = cable_rate(traffic, fabric, port);
		places->host[at] =
		    fabric->node_type[fabric->port_node[port]] == HD_CA && fabric->lid[port];
	}
}

int traffic_places(struct hd_traffic *traffic, struct hd_error *err)
{
	const struct hd_sim_network *network = traffic->scene->network;
	struct traffic_places *places = &traffic->places;
	struct hd_arena *arena = &traffic->arena;

	places->subnet_count = network->subnet_count;
	places->base = hd_arena_alloc(arena, (size_t)network->subnet_count + 1, sizeof(uint32_t));
	for (uint32_t s = 0; s < network->subnet_count; s++)
		places->count += network->subnets[s].fabric->host_count;
	places->subnet = hd_arena_alloc(arena, places->count, sizeof(*places->subnet));
	places->leaf = hd_arena_alloc(arena, places->count, sizeof(*places->leaf));
	places->lids = hd_arena_alloc(arena, places->count, sizeof(*places->lids));
	places->rate = hd_arena_alloc(arena, places->count, sizeof(*places->rate));
	places->host = hd_arena_alloc(arena, places->count, sizeof(*places->host));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	for (uint32_t s = 0, leaf = 0; s < network->subnet_count; s++) {
		places->base[s + 1] = places->base[s] + network->subnets[s].fabric->host_count;
		place_subnet(traffic, s, leaf);
		leaf += network->subnets[s].fabric->switch_count;
	}
	return 0;
}

const char *traffic_label(const struct hd_traffic *traffic, uint32_t endpoint, char *buffer,
			  size_t size)
{
	uint32_t subnet = traffic->places.subnet[endpoint];
	const struct hd_fabric *fabric = traffic->scene->network->subnets[subnet].fabric;
	uint32_t port = fabric->host_port[endpoint - traffic->places.base[subnet]];

	snprintf(buffer, size, "'%s' (%" PRIu32 ")", fabric->node_name[fabric->port_node[port]],
		 endpoint);
	return buffer;
}

/* ---- one host ---- */

static int by_name(const struct hd_traffic *traffic, const char *text, uint32_t *endpoint,
		   struct hd_error *err)
{
	uint32_t found = 0;
	int rc = -EINVAL;

	for (uint32_t s = 0; s < traffic->places.subnet_count; s++) {
		const struct hd_fabric *fabric = traffic->scene->network->subnets[s].fabric;
		uint32_t port;
		if (hd_fabric_resolve(fabric, text, HD_RESOLVE_HOSTS, &port, found ? NULL : err))
			continue;
		uint32_t host = hd_fabric_find_host(fabric, port);
		if (host == HD_NONE)
			return hd_error_set(err, -EINVAL,
					    "'%s' takes no part in traffic: it is set aside", text);
		*endpoint = traffic->places.base[s] + host;
		found++;
		rc = 0;
	}
	return found > 1 ? hd_error_set(err, -EINVAL, "'%s' is a host of several subnets", text)
			 : rc;
}

static int check_host(const struct hd_traffic *traffic, const char *text, uint32_t endpoint,
		      struct hd_error *err)
{
	if (endpoint >= traffic->places.count)
		return hd_error_set(err, -EINVAL, "host %s: the network has hosts 0 .. %" PRIu32,
				    text, traffic->places.count - 1);
	if (!traffic->places.host[endpoint])
		return hd_error_set(err, -EINVAL,
				    "'%s' is no source or destination: a router, or without a LID",
				    text);
	return 0;
}

int traffic_host(const struct hd_traffic *traffic, const char *text, uint32_t *endpoint,
		 struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	int rc = 0;

	if (!hd_take_decimal(&cursor, endpoint) || !hd_cursor_done(&cursor))
		rc = by_name(traffic, text, endpoint, err);
	return rc ? rc : check_host(traffic, text, *endpoint, err);
}

/* ---- lists ---- */

struct list {
	struct hd_traffic *traffic;
	uint32_t *endpoints, count;
	bool *seen;
};

static int add(struct list *list, const char *text, uint32_t endpoint, struct hd_error *err)
{
	int rc = check_host(list->traffic, text, endpoint, err);

	if (rc)
		return rc;
	if (list->seen[endpoint])
		return hd_error_set(err, -EINVAL, "host %" PRIu32 " of '%s' is there twice",
				    endpoint, text);
	list->seen[endpoint] = true;
	list->endpoints[list->count++] = endpoint;
	return 0;
}

static int add_name(struct list *list, const char *text, struct hd_error *err)
{
	uint32_t endpoint;
	int rc = traffic_host(list->traffic, text, &endpoint, err);

	return rc ? rc : add(list, text, endpoint, err);
}

/* "3-7"; 1: the text is no range. */
static int add_range(struct list *list, const char *text, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	uint32_t first, last;
	int rc = 0;

	if (!hd_take_decimal(&cursor, &first) || !hd_take_text(&cursor, "-") ||
	    !hd_take_decimal(&cursor, &last) || !hd_cursor_done(&cursor))
		return 1;
	if (last < first)
		return hd_error_set(err, -EINVAL, "'%s': the range ends before it begins", text);
	for (uint32_t i = first; !rc && i <= last && i < UINT32_MAX; i++)
		rc = add(list, text, i, err);
	return rc;
}

static int add_words(struct list *list, const char *text, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)}, piece;
	char word[HD_NAME_SIZE];
	int rc = 0;

	while (!rc && !hd_cursor_done(&cursor)) {
		if (!hd_take_until(&cursor, ",", &piece)) {
			piece = cursor;
			cursor.at = cursor.end;
		}
		hd_cursor_trim(&piece);
		if (hd_cursor_done(&piece) || piece.end - piece.at >= HD_NAME_SIZE)
			return hd_error_set(err, -EINVAL, "'%s' is no list of hosts", text);
		memcpy(word, piece.at, (size_t)(piece.end - piece.at));
		word[piece.end - piece.at] = '\0';
		rc = add_range(list, word, err);
		if (rc == 1)
			rc = add_name(list, word, err);
	}
	return rc;
}

static int add_line(void *list, const struct hd_words *words, struct hd_error *err)
{
	return add_name(list, words->word[0], err);
}

static void add_all(struct list *list)
{
	for (uint32_t i = 0; i < list->traffic->places.count; i++)
		if (list->traffic->places.host[i])
			list->endpoints[list->count++] = i;
}

int traffic_hosts(struct hd_traffic *traffic, const char *text, uint32_t **endpoints,
		  uint32_t *count, struct hd_error *err)
{
	struct hd_arena *arena = &traffic->arena;
	struct list list = {.traffic = traffic};
	int rc = 0;

	list.endpoints = hd_arena_alloc(arena, traffic->places.count, sizeof(*list.endpoints));
	list.seen = hd_arena_alloc(arena, traffic->places.count, sizeof(*list.seen));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	if (!strcmp(text, "all"))
		add_all(&list);
	else if (!strncmp(text, "file:", 5))
		rc = traffic_lines(text + 5, hd_words_next_name, add_line, &list, err);
	else
		rc = add_words(&list, text, err);
	if (!rc && !list.count)
		rc = hd_error_set(err, -EINVAL, "'%s' names no host", text);
	*endpoints = list.endpoints;
	*count = list.count;
	return rc;
}

bool hd_traffic_host_count(const struct hd_traffic *traffic, uint32_t *count)
{
	bool *seen = calloc((size_t)traffic->places.count + 1, sizeof(*seen));

	if (!seen)
		return false;
	*count = 0;
	for (uint32_t p = 0; p < traffic->part_count; p++)
		for (uint32_t i = 0; i < traffic->parts[p].member_count; i++) {
			uint32_t member = traffic->parts[p].members[i];
			*count += !seen[member];
			seen[member] = true;
		}
	free(seen);
	return true;
}
