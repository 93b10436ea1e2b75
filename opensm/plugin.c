/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entry points of libheddle.so. OpenSM loads the library for `event_plugin_name heddle`. It
 * calls create() before it reads `routing_engine`, and report() at the stages of a sweep. The parts
 * do the work.
 */
#include "adaptive_state.h"
#include "configuration.h"
#include "counted.h"
#include "drained.h"
#include "engine_modules.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "settings.h"
#include "writer.h"

#include <heddle/config/sections.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_version.h>
#include <stdlib.h>

/* In the order in which we create them and call their hooks. */
static const struct part *const parts[] = {
    &engines_part, &lanes_part,	  &lifetimes_part,   &multicast_part, &ar_part,
    &map_part,	   &keys_part,	  &certificate_part, &repair_part,    &sweep_part,
    &drain_part,   &balance_part, &status_part};

#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

struct plugin {
	struct configuration configuration;
	struct engine_modules modules;
	struct writer writer;
	struct adaptive adaptive;
	struct drained drained;
	struct counted counted;
	struct part_context context;
};

/* Puts the last good configuration in force, or the defaults. */
static void use_configuration(struct plugin *plugin)
{
	plugin->context.config = plugin->configuration.values;
	plugin->context.log.threshold = settings_log_level(plugin->context.config);
}

static void read_configuration(struct plugin *plugin)
{
	configuration_read(&plugin->configuration, &plugin->context.log);
	use_configuration(plugin);
	if (plugin->configuration.was_read)
		engine_modules_watch(&plugin->modules, plugin->context.config,
				     &plugin->context.log);
}

static void load_engines(struct plugin *plugin, struct hd_config_sections *sections)
{
	engine_modules_load(&plugin->modules, plugin->context.osm->subn.opt.event_plugin_options,
			    sections, &plugin->context.log);
	plugin->context.engines = plugin->modules.list;
}

static int start_configuration(struct plugin *plugin, struct hd_error *err)
{
	const char *options = plugin->context.osm->subn.opt.event_plugin_options;
	struct hd_config_sections *sections = hd_config_sections_new();
	int rc = sections ? hd_config_sections_add_all(sections, HD_CONFIG_PLUGIN, err)
			  : hd_error_no_memory(err);

	if (!rc)
		load_engines(plugin, sections);
	if (!rc)
		rc = configuration_start(&plugin->configuration, sections, options, err);
	if (rc) {
		hd_config_sections_free(sections);
		return rc;
	}
	use_configuration(plugin);
	configuration_check_options(options, plugin->context.osm->subn.opt.event_plugin_name,
				    &plugin->context.log);
	read_configuration(plugin);
	return 0;
}

static void release(struct plugin *plugin)
{
	writer_release(&plugin->writer);
	adaptive_state_release(&plugin->adaptive);
	drained_release(&plugin->drained);
	counted_release(&plugin->counted);
	configuration_end(&plugin->configuration);
	engine_modules_release(&plugin->modules);
	free(plugin);
}

static void *create(struct osm_opensm *osm)
{
	struct plugin *plugin = calloc(1, sizeof(*plugin));
	struct hd_error err;
	int rc;

	if (!plugin)
		return NULL;
	plugin->context.osm = osm;
	plugin->context.log = (struct opensm_log){.log = &osm->log, .threshold = HD_LOG_WARNING};
	plugin->context.writer = &plugin->writer;
	plugin->context.adaptive = &plugin->adaptive;
	plugin->context.drained = &plugin->drained;
	plugin->context.counted = &plugin->counted;
	writer_init(&plugin->writer, osm);
	adaptive_state_init(&plugin->adaptive);
	drained_init(&plugin->drained);
	counted_init(&plugin->counted);
	rc = start_configuration(plugin, &err);
	if (!rc)
		rc = part_create_all(&plugin->context, parts, PART_COUNT, &err);
	if (!rc) {
		part_started(&plugin->context);
		return plugin;
	}
	log_error(&plugin->context.log, LOG_ERROR_LOAD, "%s", err.text);
	release(plugin);
	return NULL;
}

static void destroy(void *data)
{
	struct plugin *plugin = data;

	part_destroy_all(&plugin->context);
	release(plugin);
}

static void report(void *data, osm_epi_event_id_t event, void *details)
{
	struct plugin *plugin = data;

	switch (event) {
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		read_configuration(plugin);
		part_sweep_begins(&plugin->context);
		break;
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
		part_discovered(&plugin->context);
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
		part_routed(&plugin->context);
		break;
	case OSM_EVENT_ID_SUBNET_UP:
		part_idle(&plugin->context);
		break;
	case OSM_EVENT_ID_TRAP:
		part_trap(&plugin->context, details);
		break;
	case OSM_EVENT_ID_PORT_DATA_COUNTERS:
		counted_data(&plugin->counted, details, monotonic_ms());
		break;
	case OSM_EVENT_ID_PORT_ERRORS:
		counted_errors(&plugin->counted, details, monotonic_ms());
		break;
	default:
		break;
	}
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
    .osm_version = OSM_VERSION, .create = create, .delete = destroy, .report = report};
