/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all kinds of traffic use: endpoints and the texts by which users name them, common options,
 * messages, and figures. */
#include "traffic.h"

#include <heddle/base/grow.h>
#include <heddle/base/lookup.h>
#include <heddle/base/text.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int traffic_lines(const char *path, int (*next)(struct hd_words *words, struct hd_error *err),
		  int (*take)(void *context, const struct hd_words *words, struct hd_error *err),
		  void *context, struct hd_error *err)
{
	struct hd_text text;
	struct hd_words words;
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = hd_words_begin(&words, &text, err);
	while (!rc && (rc = next(&words, err)) > 0) {
		rc = take(context, &words, err);
		if (rc)
			rc = hd_lines_error_prefix(&words.lines, rc, err);
	}
	hd_text_close(&text);
	return rc;
}

uint64_t traffic_cable_rate(const struct hd_traffic *traffic, const struct hd_fabric *fabric,
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
		places->rate[at] = traffic_cable_rate(traffic, fabric, port);
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

struct list {
	struct hd_traffic *traffic;
	uint32_t *endpoints, count;
	bool *seen;
};

static int traffic_add(struct list *list, const char *text, uint32_t endpoint, struct hd_error *err)
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

	return rc ? rc : traffic_add(list, text, endpoint, err);
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
		rc = traffic_add(list, text, i, err);
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

/* The endpoints that a text means, in its order: "all", numbers and ranges, names, "file:PATH" with
 * one host a line. Errors: -EINVAL unknown, repeated, no adapter, without LID; the errno of the
 * file; -ENOMEM. */
static int traffic_hosts(struct hd_traffic *traffic, const char *text, uint32_t **endpoints,
			 uint32_t *count, struct hd_error *err)
{
	struct hd_arena *arena = &traffic->arena;
	struct list list = {.traffic = traffic};
	int rc = 0;

	list.endpoints = hd_arena_alloc(arena, traffic->places.count, sizeof(*list.endpoints));
	list.seen = hd_arena_alloc(arena, traffic->places.count, sizeof(*list.seen));
	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	if (!strcmp(text, "all")) {
		for (uint32_t i = 0; i < list.traffic->places.count; i++)
			if (list.traffic->places.host[i])
				list.endpoints[list.count++] = i;
	} else if (!strncmp(text, "file:", 5))
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

uint64_t traffic_stream(const struct hd_traffic_part *part, uint32_t number)
{
	uint64_t stream = hd_hash_bytes(part->name, strlen(part->name)) + number;

	if (part->traffic->sim)
		return hd_sim_stream(part->traffic->sim, stream);
	uint64_t state = part->traffic->seed ^ hd_hash_number(stream);
	return hd_random_next(&state);
}

int traffic_fail(struct hd_traffic_part *part, int rc, const struct hd_error *err)
{
	struct hd_traffic *traffic = part->traffic;

	if (!traffic->rc) {
		traffic->rc = rc;
		hd_error_set(&traffic->err, rc, "traffic %s: %s", part->name,
			     err ? err->text : "no memory");
		hd_sim_stop(traffic->sim);
	}
	return rc;
}

uint8_t traffic_lane(const struct hd_traffic_part *part, uint64_t flow)
{
	if (part->lanes < 2)
		return part->template.lane;
	return (uint8_t)(part->template.lane + hd_hash_number(flow) % part->lanes);
}

struct hd_sim_message traffic_message(const struct hd_traffic_part *part, uint32_t source,
				      uint32_t destination, uint64_t bytes)
{
	struct hd_sim_message message = part->template;

	message.source = source;
	message.destination = destination;
	message.bytes = (uint32_t)bytes;
	message.lane = traffic_lane(part, (uint64_t)source << 32 | destination);
	message.lid_offset = (uint16_t)part->offset;
	return message;
}

uint32_t traffic_offset_count(const struct hd_traffic_part *part, uint32_t destination)
{
	return part->offset_count ? part->offset_count : part->traffic->places.lids[destination];
}

uint16_t traffic_offset(const struct hd_traffic_part *part, uint32_t destination, uint64_t *random)
{
	if (part->offset_count == 1)
		return (uint16_t)part->offset;
	return (uint16_t)(part->offset +
			  hd_random_below(random, traffic_offset_count(part, destination)));
}

void traffic_send(struct hd_traffic_part *part, struct hd_sim_message *message, uint64_t tag)
{
	message->tag = (uint64_t)part->index << TRAFFIC_TAG_BITS | (tag & TRAFFIC_TAG_MASK);
	int rc = hd_sim_send(part->traffic->sim, message);
	if (rc)
		traffic_fail(part, rc, NULL);
}

void traffic_wake(struct hd_traffic_part *part, uint64_t when, uint64_t token)
{
	int rc =
	    hd_sim_wake(part->traffic->sim, when,
			(uint64_t)part->index << TRAFFIC_TAG_BITS | (token & TRAFFIC_TAG_MASK));

	if (rc)
		traffic_fail(part, rc, NULL);
}

uint64_t traffic_now(const struct hd_traffic_part *part)
{
	return hd_sim_now(part->traffic->sim);
}

void traffic_finish(struct hd_traffic_part *part)
{
	struct hd_traffic *traffic = part->traffic;

	if (part->finished)
		return;
	part->finished = true;
	if (++traffic->finished == traffic->finite_count)
		hd_sim_stop(traffic->sim);
}

int traffic_class(struct hd_traffic *traffic, const char *name, uint16_t *index,
		  struct hd_error *err)
{
	uint32_t i = 0;

	while (i < traffic->class_count && strcmp(traffic->classes[i], name))
		i++;
	*index = (uint16_t)i;
	if (i < traffic->class_count)
		return 0;
	traffic->classes[i] = hd_arena_strdup(&traffic->arena, name);
	if (!traffic->classes[i])
		return hd_error_no_memory(err);
	traffic->class_count++;
	return 0;
}

struct hd_traffic_flow *traffic_add_flow(struct hd_traffic *traffic)
{
	struct hd_traffic_flow *flows =
	    hd_grow(traffic->flows, traffic->flow_count, 1, &traffic->flow_room, sizeof(*flows));

	if (!flows)
		return NULL;
	traffic->flows = flows;
	return &flows[traffic->flow_count++];
}

struct hd_traffic_group *traffic_add_group(struct hd_traffic *traffic)
{
	struct hd_traffic_group *groups = hd_grow(traffic->groups, traffic->group_count, 1,
						  &traffic->group_room, sizeof(*groups));

	if (!groups)
		return NULL;
	traffic->groups = groups;
	return &groups[traffic->group_count++];
}

int traffic_visit(const struct hd_traffic_part *part, uint32_t source, uint32_t destination,
		  hd_traffic_visit visit, void *context, struct hd_error *err)
{
	struct hd_sim_message message = traffic_message(part, source, destination, 1);
	const uint32_t offsets = traffic_offset_count(part, destination);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < offsets; i++, message.lid_offset++)
		rc = visit(context, &message, err);
	return rc;
}

uint64_t traffic_time(const struct hd_options *options, const char *name)
{
	uint64_t value = 0;

	hd_sim_parse_time(hd_options_get(options, name)->text, &value, NULL);
	return value;
}

uint64_t traffic_size(const struct hd_options *options, const char *name)
{
	uint64_t value = 0;

	hd_sim_parse_size(hd_options_get(options, name)->text, &value, NULL);
	return value;
}

uint64_t traffic_share(const struct hd_options *options, const char *name)
{
	uint64_t value = 0;

	hd_sim_parse_share(hd_options_get(options, name)->text, &value, NULL);
	return value;
}

/* "0 .. most" from the text of an option. Errors: -EINVAL, -ERANGE. */
static int traffic_number(const struct hd_options *options, const char *name, uint32_t most,
			  uint32_t *value, struct hd_error *err)
{
	const char *text = hd_options_get(options, name)->text;
	struct hd_cursor cursor = {text, text + strlen(text)};
	uint32_t number;

	if (!hd_take_decimal(&cursor, &number) || !hd_cursor_done(&cursor))
		return hd_error_set(err, -EINVAL, "option '%s': '%s' is no whole number", name,
				    text);
	if (number > most)
		return hd_error_set(err, -ERANGE,
				    "option '%s' is %" PRIu32 ", but must be 0 .. %" PRIu32, name,
				    number, most);
	*value = number;
	return 0;
}

/* A number, or a word that stands for `other`. */
static int number_or(const struct hd_options *options, const char *name, const char *word,
		     uint32_t most, uint32_t other, uint32_t *value, struct hd_error *err)
{
	if (strcmp(hd_options_get(options, name)->text, word))
		return traffic_number(options, name, most, value, err);
	*value = other;
	return 0;
}

/* "3", "3-7" or "sl". */
static int read_lanes(struct hd_traffic_part *part, const char *text, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};
	uint32_t first, last, most = part->traffic->scene->settings->lanes - 1;

	part->template.lane = HD_SIM_LANE_OF_SL;
	if (!strcmp(text, "sl"))
		return 0;
	bool good = hd_take_decimal(&cursor, &first);
	last = first;
	if (good && hd_take_text(&cursor, "-"))
		good = hd_take_decimal(&cursor, &last);
	if (!good || !hd_cursor_done(&cursor))
		return hd_error_set(
		    err, -EINVAL,
		    "option 'lane': '%s' is no lane, no range such as 3-7, and not sl", text);
	bool management = first == 15 && last == 15;
	if (!management && (last < first || last > most))
		return hd_error_set(
		    err, -ERANGE,
		    "option 'lane' is %s, but there are lanes 0 .. %" PRIu32 " and 15", text, most);
	part->template.lane = (uint8_t)first;
	part->lanes = last - first + 1;
	return 0;
}

int traffic_common(struct hd_traffic_part *part, const struct hd_options *options,
		   struct hd_error *err)
{
	const char *class = hd_options_get(options, "class")->text;
	int rc = traffic_hosts(part->traffic, hd_options_get(options, "hosts")->text,
			       &part->members, &part->member_count, err);

	if (rc)
		return hd_error_prefix(err, rc, "option 'hosts'");
	part->template.flow = HD_NONE;
	part->start = traffic_time(options, "start");
	part->stop = traffic_time(options, "stop");
	if (part->stop < part->start)
		return hd_error_set(err, -EINVAL, "option 'stop' is before 'start'");
	rc = traffic_class(part->traffic, *class ? class : part->name,
			   &part->template.traffic_class, err);
	if (rc)
		return rc;
	uint32_t sl;
	rc = number_or(options, "sl", "routes", 15, HD_SIM_SL_OF_ROUTES, &sl, err);
	if (!rc)
		rc = read_lanes(part, hd_options_get(options, "lane")->text, err);
	if (rc)
		return rc;
	part->template.sl = (uint8_t)sl;
	part->template.routing = (uint8_t)hd_options_get(options, "routing")->number;
	part->template.dropping = (uint8_t)hd_options_get(options, "dropping")->number;
	const char *text = hd_options_get(options, "offset")->text;
	char label[HD_NAME_SIZE];
	rc = 0;
	if (!strcmp(text, "random"))
		return 0; /* of all that a destination has */
	if (!strncmp(text, "random:", 7)) {
		/* "4-7" behind "random:". */
		const char *range = text + 7;
		struct hd_cursor cursor = {range, range + strlen(range)};
		uint32_t last;
		if (!hd_take_decimal(&cursor, &part->offset) || !hd_take_text(&cursor, "-") ||
		    !hd_take_decimal(&cursor, &last) || !hd_cursor_done(&cursor) ||
		    last < part->offset || last > UINT16_MAX)
			return hd_error_set(
			    err, -EINVAL,
			    "option 'offset': '%s' is no range of LID offsets such as 4-7", range);
		part->offset_count = last - part->offset + 1;
		rc = 0;
	} else {
		rc = traffic_number(options, "offset", UINT16_MAX, &part->offset, err);
		part->offset_count = 1;
	}
	for (uint32_t i = 0; !rc && i < part->member_count; i++)
		if (part->offset + part->offset_count >
		    part->traffic->places.lids[part->members[i]])
			return hd_error_set(
			    err, -ERANGE, "option 'offset' is %s, but host %s has %" PRIu32 " LIDs",
			    text,
			    traffic_label(part->traffic, part->members[i], label, sizeof(label)),
			    part->traffic->places.lids[part->members[i]]);
	return rc;
}

struct hd_traffic_report {
	struct hd_traffic *traffic;
	const struct hd_traffic_part *part;
	bool failed;
};

void traffic_report(struct hd_traffic_report *report, const struct traffic_value *value)
{
	struct hd_traffic *traffic = report->traffic;
	struct hd_traffic_figure *figures = hd_grow(traffic->figures, traffic->figure_count, 1,
						    &traffic->figure_room, sizeof(*figures));

	if (!figures) {
		report->failed = true;
		return;
	}
	traffic->figures = figures;
	figures[traffic->figure_count++] =
	    (struct hd_traffic_figure){.traffic = report->part->name,
				       .name = value->name,
				       .summary = value->summary,
				       .item = value->item ? value->item : "",
				       .index = value->index,
				       .unit = value->unit,
				       .value = value->value};
}

const struct hd_traffic_figure *hd_traffic_figures(struct hd_traffic *traffic, uint32_t *count)
{
	static const struct hd_traffic_figure none;
	struct hd_traffic_report report = {.traffic = traffic};

	traffic->figure_count = 0;
	for (uint32_t i = 0; i < traffic->part_count; i++) {
		report.part = &traffic->parts[i];
		if (report.part->kind->figures)
			report.part->kind->figures(report.part, &report);
	}
	*count = traffic->figure_count;
	if (report.failed)
		return NULL;
	return traffic->figures ? traffic->figures : &none;
}

const char *hd_traffic_unit_name(enum hd_traffic_unit unit)
{
	static const char *const names[] = {"", "", "s", "B", "B/s"};

	return names[unit];
}
