/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor_site.h"
#include "need.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN_WORDS ", \t\n"

static const struct hd_opensm_line *line_of(const struct doctor_site *site, const char *name)
{
	return site->conf ? hd_opensm_conf_find(site->conf, name) : NULL;
}

const char *doctor_option(const struct doctor_site *site, const char *name, const char *fallback)
{
	const struct hd_opensm_line *line = line_of(site, name);

	return line ? line->value : fallback;
}

bool doctor_option_is_true(const struct doctor_site *site, const char *name, bool fallback)
{
	return !strcmp(doctor_option(site, name, fallback ? "TRUE" : "FALSE"), "TRUE");
}

unsigned doctor_option_number(const struct doctor_site *site, const char *name, unsigned fallback)
{
	unsigned count = 0;
	const struct hd_opensm_line *lines =
	    site->conf ? hd_opensm_conf_lines(site->conf, &count) : NULL;
	uint32_t value = fallback;

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(lines[i].name, name))
			hd_opensm_number(name, lines[i].value, &value);
	return value;
}

const char *doctor_option_place(const struct doctor_site *site, const char *name,
				char place[DOCTOR_PLACE_SIZE])
{
	const struct hd_opensm_line *line = line_of(site, name);

	if (line)
		snprintf(place, DOCTOR_PLACE_SIZE, "%s:%u", site->opensm_conf_path, line->number);
	else
		snprintf(place, DOCTOR_PLACE_SIZE, "%s", site->opensm_conf_path);
	return place;
}

const struct hd_option_value *doctor_setting(const struct doctor_site *site, const char *section,
					     const char *name)
{
	return site->heddle.config
		   ? hd_options_get(hd_config_options(site->heddle.config, section), name)
		   : NULL;
}

static const struct hd_engine *find_alias(const char *name)
{
	unsigned count;
	const struct hd_engine_alias *aliases = hd_engine_aliases(&count);

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(aliases[i].name, name))
			return hd_engine_find(aliases[i].engine);
	return NULL;
}

const struct hd_engine *doctor_engine(const struct doctor_site *site, const char *name,
				      bool *adaptive)
{
	const struct hd_engine *engine = find_alias(name);

	*adaptive = !strncmp(name, "ar_", 3);
	if (engine)
		return engine;
	return hd_engine_list_find(site->heddle.engines, *adaptive ? name + 3 : name);
}

void doctor_each_engine(const struct doctor_site *site,
			bool (*take)(void *context, const char *name), void *context)
{
	char *words = need(strdup(doctor_option(site, "routing_engine", ""))), *rest = words, *word;
	bool more = true;

	while (more && (word = strsep(&rest, BETWEEN_WORDS)))
		if (*word)
			more = take(context, word);
	free(words);
}

struct wish {
	const struct doctor_site *site;
	bool heddle, adaptive;
};

static bool note_wish(void *context, const char *name)
{
	struct wish *wish = context;
	bool adaptive;

	if (doctor_engine(wish->site, name, &adaptive)) {
		wish->heddle = true;
		wish->adaptive |= adaptive;
	}
	return true;
}

static struct wish wish_of(const struct doctor_site *site)
{
	struct wish wish = {.site = site};

	doctor_each_engine(site, note_wish, &wish);
	return wish;
}

bool doctor_wants_adaptive(const struct doctor_site *site)
{
	const struct hd_option_value *enable = doctor_setting(site, "ar", "enable");

	return wish_of(site).adaptive || (enable && enable->number);
}

bool doctor_uses_heddle(const struct doctor_site *site)
{
	return wish_of(site).heddle;
}

const char *doctor_port_place(const struct doctor_site *site, uint32_t port,
			      char place[DOCTOR_PLACE_SIZE])
{
	const struct hd_fabric *fabric = site->fabric;
	const uint32_t node = fabric->port_node[port];

	snprintf(place, DOCTOR_PLACE_SIZE, "'%s' 0x%016" PRIx64 "[%u]", fabric->node_name[node],
		 fabric->node_guid[node], hd_port_number(fabric, port));
	return place;
}
