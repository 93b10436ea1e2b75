/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options that all kinds of traffic have. */
#include "traffic.h"

#include <heddle/base/text.h>
#include <inttypes.h>

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

int traffic_number(const struct hd_options *options, const char *name, uint32_t most,
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

static int check_offset(const struct hd_traffic_part *part, struct hd_error *err)
{
	char label[HD_NAME_SIZE];

	if (part->offset == TRAFFIC_RANDOM_OFFSET)
		return 0;
	for (uint32_t i = 0; i < part->member_count; i++)
		if (part->offset >= part->traffic->places.lids[part->members[i]])
			return hd_error_set(
			    err, -ERANGE,
			    "option 'offset' is %" PRIu32 ", but host %s has %" PRIu32 " LIDs",
			    part->offset,
			    traffic_label(part->traffic, part->members[i], label, sizeof(label)),
			    part->traffic->places.lids[part->members[i]]);
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

static int addressing(struct hd_traffic_part *part, const struct hd_options *options,
		      struct hd_error *err)
{
	uint32_t sl;
	int rc = number_or(options, "sl", "routes", 15, HD_SIM_SL_OF_ROUTES, &sl, err);

	if (!rc)
		rc = read_lanes(part, hd_options_get(options, "lane")->text, err);
	if (!rc)
		rc = number_or(options, "offset", "random", UINT16_MAX, TRAFFIC_RANDOM_OFFSET,
			       &part->offset, err);
	if (rc)
		return rc;
	part->template.sl = (uint8_t)sl;
	part->template.routing = (uint8_t)hd_options_get(options, "routing")->number;
	part->template.dropping = (uint8_t)hd_options_get(options, "dropping")->number;
	return check_offset(part, err);
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
	return rc ? rc : addressing(part, options, err);
}

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
