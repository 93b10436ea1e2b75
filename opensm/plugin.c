/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libheddle.so's one door: OpenSM loads the library for `event_plugin_name heddle`, calls
 * create() before it reads `routing_engine`, and report() as sweeps go by.
 */
#include "plugin.h"
#include "dump.h"
#include "engine.h"
#include "host.h"
#include "multicast_trees.h"
#include "settings.h"

#include <complib/cl_passivelock.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void plugin_free(struct plugin *plugin)
{
	engine_forget(plugin);
	late_lanes_release(&plugin->late_lanes);
	hd_policy_files_release(&plugin->policy);
	configuration_end(&plugin->configuration);
	free(plugin->bindings);
	free(plugin);
}

/* Once, as the file is read in each sweep. */
static void say_unused(struct plugin *plugin)
{
	unsigned level = settings_multicast_sl(plugin->config);

	if (settings_multicast_share(plugin->config) != SHARE_SAME)
		level = 0;
	if (level && level != plugin->unused_sl)
		log_info(&plugin->log,
			 "multicast_sl = %u in section [heddle] has no effect without "
			 "multicast_share",
			 level);
	plugin->unused_sl = level;
}

static void read_config(struct plugin *plugin)
{
	configuration_read(&plugin->configuration, &plugin->log);
	plugin->config = plugin->configuration.values;
	plugin->log.threshold = settings_log_level(plugin->config);
	say_unused(plugin);
}

/* [heddle], and a section for each engine. */
static int register_sections(struct hd_config_sections *sections, struct hd_error *err)
{
	unsigned count;

	const struct hd_engine *const *engines = hd_engines(&count);
	int rc = hd_config_sections_add(sections, &settings_section, err);

	for (unsigned i = 0; !rc && i < count; i++)
		rc = hd_config_sections_add(
		    sections,
		    &(struct hd_config_section){.name = engines[i]->name,
						.options = engines[i]->options,
						.option_count = engines[i]->option_count},
		    err);
	return rc;
}

static int start_config(struct plugin *plugin, struct hd_error *err)
{
	const char *options = plugin->osm->subn.opt.event_plugin_options;
	struct hd_config_sections *sections = hd_config_sections_new();
	int rc = sections ? register_sections(sections, err) : hd_error_no_memory(err);

	if (!rc)
		rc = configuration_start(&plugin->configuration, sections, options, err);
	if (rc) {
		hd_config_sections_free(sections);
		return rc;
	}
	plugin->log.threshold = settings_log_level(plugin->configuration.values);
	read_config(plugin);
	return 0;
}

/* So that a misspelt name in routing_engine can be told from a plugin that is not there. */
static void say_loaded(const struct plugin *plugin)
{
	unsigned count;

	const struct hd_engine *const *engines = hd_engines(&count);
	char names[HD_ERROR_TEXT / 2] = "";

	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, " %s", engines[i]->name);
	}
	log_info(&plugin->log, "Heddle " HEDDLE_VERSION " is loaded; names for routing_engine:%s",
		 names);
}

static void *create(struct osm_opensm *osm)
{
	struct plugin *plugin = calloc(1, sizeof(*plugin));
	struct hd_error err;

	if (!plugin)
		return NULL;
	plugin->osm = osm;
	plugin->log = (struct host_log){.log = &osm->log, .threshold = HD_LOG_WARNING};
	if (start_config(plugin, &err)) {
		log_error(&plugin->log, LOG_ERROR_LOAD, "%s", err.text);
		plugin_free(plugin);
		return NULL;
	}
	if (!engine_register_all(plugin)) {
		plugin_free(plugin);
		return NULL;
	}
	say_loaded(plugin);
	return plugin;
}

static void delete (void *data)
{
	late_lanes_say_end(data);
	plugin_free(data);
}

/*
 * The subnet is discovered and OpenSM's own configuration read; routing comes next. A sweep that
 * OpenSM gives up gives up before this, or because it is no longer the master, or because no engine
 * could route: then a heavy sweep comes next, whatever is asked for.
 */
static void discovery_done(struct plugin *plugin)
{
	plugin->sweeping = true;
	lifetimes_apply(&plugin->lifetimes, plugin->config, &plugin->osm->subn.opt, &plugin->log);
}

/* Tables that another engine put over ours are no longer to be kept or counted from. */
static void routing_done(struct plugin *plugin)
{
	struct osm_opensm *osm = plugin->osm;
	const struct osm_routing_engine *used = osm->routing_engine_used;

	if (!used || !engine_is_ours(used)) {
		cl_plock_excl_acquire(&osm->lock);
		engine_forget(plugin);
		late_lanes_release(&plugin->late_lanes);
		cl_plock_release(&osm->lock);
		return;
	}
	late_lanes_look(plugin);
	/* OpenSM 3.3.23 never calls ucast_dump_tables itself. */
	if (dump_is_wanted(osm))
		used->ucast_dump_tables(used->context);
}

static void report(void *data, osm_epi_event_id_t event, void *details)
{
	struct plugin *plugin = data;

	(void)details;
	switch (event) {
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		read_config(plugin);
		multicast_distrust(plugin);
		break;
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
		discovery_done(plugin);
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
		plugin->sweeping = false;
		routing_done(plugin);
		break;
	default:
		break;
	}
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
    .osm_version = OSM_VERSION, .create = create, .delete = delete, .report = report};
