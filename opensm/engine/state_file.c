/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state_file.h"
#include "port_path.h"
#include "routing.h"
#include "settings.h"

#include <errno.h>
#include <heddle/base/place.h>
#include <heddle/base/replacement.h>
#include <heddle/base/text.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_FOLDER "/var/cache/opensm" /* OpenSM's own, unless it was built with another one */
#define FILE_NAME "heddle-tables"
#define LARGEST ((size_t)4 << 30)

static char *default_path(uint64_t guid)
{
	const char *folder = getenv("OSM_CACHE_DIR");
	char name[sizeof(FILE_NAME) + 32], *made;

	if (!folder || !*folder)
		folder = CACHE_FOLDER;
	port_path_expand(guid, guid ? FILE_NAME "-%g" : FILE_NAME, name, sizeof(name));
	return asprintf(&made, "%s/%s", folder, name) < 0 ? NULL : made;
}

char *state_file_path(const struct hd_config *config, uint64_t guid)
{
	const char *path = settings_state(config);
	char made[PATH_MAX];

	if (!path)
		return NULL;
	if (!*path)
		return default_path(guid);
	port_path_expand(guid, path, made, sizeof(made));
	return strdup(made);
}

char *state_file_old_path(const struct hd_config *config, uint64_t guid, const char *path)
{
	const char *set = settings_state(config);

	return guid && set && !*set && access(path, F_OK) && errno == ENOENT ? default_path(0)
									     : NULL;
}

/* ---- reading ---- */

static void take_over(struct hd_stored_state *state, const char *list,
		      struct routing_memory *memory)
{
	*memory = (struct routing_memory){.in_place = state->sets[0],
					  .other_list = strcmp(state->text, list) != 0};
	for (uint32_t i = 1; i < state->count; i++)
		memory->baselines[memory->baseline_count++] = state->sets[i];
	state->count = 0;
}

static int read_state(const char *path, struct hd_stored_state *state, struct hd_error *err)
{
	struct hd_text text = {0};
	int rc = hd_place_check(path, err);

	if (!rc)
		rc = hd_text_open_regular(path, LARGEST, &text, err);
	if (rc)
		return rc;
	rc = hd_stored_state_read(text.bytes, text.length, state, err);
	hd_text_close(&text);
	return rc ? hd_error_prefix(err, rc, "%s", path) : 0;
}

void state_file_load(const char *path, const char *list, struct routing_memory *memory,
		     struct opensm_log *log)
{
	struct hd_log remarks = log_sink(log);
	struct hd_stored_state *state = calloc(1, sizeof(*state));
	struct hd_error err;
	int rc = state ? read_state(path, state, &err) : hd_error_no_memory(&err);

	if (!rc) {
		log_info(log, "the switches have tables of %s for %u switches, says %s",
			 state->sets[0]->routes->engine, state->sets[0]->routes->switch_count,
			 path);
		take_over(state, list, memory);
	} else if (rc != -ENOENT) {
		hd_log(&remarks, HD_LOG_WARNING,
		       "%s; Heddle does not know the tables in the switches and routes afresh",
		       err.text);
	}
	free(state);
}

/* ---- writing ---- */

static int write_state(const void *context, FILE *stream, struct hd_error *err)
{
	return hd_stored_state_write(context, stream, err);
}

static int store(const char *path, const char *list, const struct routing_memory *memory,
		 const struct routing *routing, struct hd_error *err)
{
	struct hd_stored_state state = {.count = 1};
	struct hd_stored_tables *in_place;
	int rc = hd_stored_tables_name(routing->fabric, &in_place, err);

	if (rc)
		return rc;
	snprintf(state.text, sizeof(state.text), "%s", list);
	in_place->policy = routing->policy;
	in_place->routes = routing_base(routing);
	state.sets[0] = in_place;
	for (uint32_t i = 0; i < memory->baseline_count; i++)
		state.sets[state.count++] = memory->baselines[i];
	rc = hd_replace(path, 0600, write_state, &state, err);
	in_place->routes = NULL; /* the routing's */
	hd_stored_tables_free(in_place);
	return rc;
}

int state_file_store(const char *path, const char *list, const struct routing_memory *memory,
		     const struct routing *routing, struct hd_error *err)
{
	return routing ? store(path, list, memory, routing, err) : hd_replace_by_nothing(path, err);
}
