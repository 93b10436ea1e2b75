/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engines_stored.h"
#include "engines_state.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "port_path.h"
#include "routing.h"
#include "settings.h"
#include "state_file.h"

#include <stdlib.h>
#include <string.h>

static const char *engine_list(const struct engines *engines)
{
	const char *list = engines->context->osm->subn.opt.routing_engine_names;

	return list ? list : "";
}

static char *path_of(const struct part_context *context)
{
	return state_file_path(context->config, port_path_guid(context->osm));
}

void engines_stored_load(struct engines *engines)
{
	struct part_context *context = engines->context;
	char *path = engines->loaded ? NULL : path_of(context);
	char *old =
	    path ? state_file_old_path(context->config, port_path_guid(context->osm), path) : NULL;

	engines->loaded = true;
	if (path)
		state_file_load(old ? old : path, engine_list(engines), &engines->memory,
				&context->log);
	if (old && engines->memory.in_place)
		engines->memory.changed = true; /* the next sweep writes them to the new place */
	if (!old && engines->memory.in_place) {
		engines->stored = path;
		engines->mark = file_mark(path);
		path = NULL;
	}
	free(old);
	free(path);
}

/* heddle.conf names another file or none: the old one would be wrong after the next change of tables. */
static void move(struct engines *engines, char *path)
{
	if (engines->stored && (!path || strcmp(engines->stored, path)))
		file_mark_remove(engines->stored, &engines->mark);
	free(engines->stored);
	engines->stored = path;
	engines->mark = path ? file_mark(path) : (struct file_mark){0};
}

void engines_stored_save(struct engines *engines)
{
	struct part_context *context = engines->context;
	struct hd_log remarks = log_sink(&context->log);
	char *path = path_of(context);
	const bool moved = engines->stored && path && strcmp(engines->stored, path);

	if (!settings_state(context->config))
		move(engines, NULL);
	if (!path || !(engines->memory.changed || moved)) {
		free(path);
		return;
	}
	const double begin = monotonic_ms();
	/* at the end of OpenSM a repair may replace it meanwhile */
	struct routing *published = part_hold_published(context);
	struct hd_error err;
	if (!state_file_store(path, engine_list(engines), &engines->memory, published, &err)) {
		engines->memory.changed = false;
		engines->store_failed = false;
		hd_log(&remarks, HD_LOG_DEBUG, "stored the tables in %s in %.1f ms", path,
		       monotonic_ms() - begin);
		move(engines, path);
		path = NULL;
	} else if (!engines->store_failed) {
		engines->store_failed = true;
		log_error(&context->log, LOG_ERROR_STATE,
			  "%s; after a restart OpenSM will not know the tables in the switches",
			  err.text);
	}
	routing_release(published);
	free(path);
}
