/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine_lanes.h"
#include "engine.h"
#include "host.h"
#include "plugin.h"
#include "settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add_text(struct hd_error *err, const char *format, ...) HD_PRINTF(2, 3);

static void add_text(struct hd_error *err, const char *format, ...)
{
	size_t used = strlen(err->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(err->text + used, sizeof(err->text) - used, format, arguments);
	va_end(arguments);
}

void engine_lanes_explain(const struct engine_binding *binding, const struct virtual_lanes *lanes,
			  unsigned for_unicast, struct hd_error *err)
{
	unsigned wanted = settings_vls(binding->plugin->config, binding->engine);

	if (wanted && wanted < for_unicast) {
		add_text(err, "; vls = %u in section [%s] of heddle.conf allows no more", wanted,
			 binding->engine->name);
		return;
	}
	if (*lanes->reason)
		add_text(err, "; %s", lanes->reason);
	if (for_unicast + 1 < lanes->count)
		add_text(err, "; multicast_sl = %u in section [heddle] leaves no more to unicast",
			 for_unicast);
	else if (for_unicast < lanes->count)
		add_text(err, "; multicast_share keeps one for multicast");
}

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in_port, uint8_t out_port,
			 ib_slvl_table_t *table)
{
	const struct engine_binding *binding = context;

	(void)in_port;
	(void)out_port;
	if (binding->plugin->published)
		lane_tables_map(&binding->plugin->lane_tables, port, table);
}

static void update_vlarb(void *context, osm_physp_t *port, uint8_t port_number,
			 ib_vl_arb_table_t *block, unsigned length, unsigned number)
{
	const struct engine_binding *binding = context;

	(void)port_number;
	if (binding->plugin->published)
		lane_tables_arbitrate(&binding->plugin->lane_tables, port, block, length, number);
}

/* While an engine has update_sl2vl OpenSM sets all pairs of a switch's ports one by one, though
 * the switch may know a shorter way: hence only where opensm.conf's tables would not do. */
static void set_callbacks(const struct engine_binding *binding)
{
	const struct lane_tables *tables = &binding->plugin->lane_tables;
	struct osm_routing_engine *re = binding->plugin->osm->routing_engine_list;

	for (; re; re = re->next) {
		if (!engine_is_ours(re) || re->context != binding)
			continue;
		re->update_sl2vl = lane_tables_act(tables) ? update_sl2vl : NULL;
		re->update_vlarb = tables->multicast ? update_vlarb : NULL;
	}
}

/* Once, as sweeps go on: it is no news. */
static void say_fault(struct plugin *plugin, const char *fault)
{
	if (*fault && strcmp(fault, plugin->multicast_fault))
		log_error(&plugin->log, LOG_ERROR_MULTICAST_LANE,
			  "%s; multicast stays on the lanes of unicast", fault);
	snprintf(plugin->multicast_fault, sizeof(plugin->multicast_fault), "%s", fault);
}

static void say_multicast(struct plugin *plugin, const struct lane_tables *before)
{
	const struct lane_tables *now = &plugin->lane_tables;

	if (!now->multicast || (before->multicast && before->lanes == now->lanes &&
				!memcmp(&before->weights, &now->weights, sizeof(now->weights))))
		return;
	log_info(&plugin->log,
		 "multicast on service level %u has lane %u: weight %u, %u for each of %u "
		 "lane%s of unicast; %.1f destinations a packet",
		 now->multicast_sl, now->multicast_lane, now->weights.multicast,
		 now->weights.unicast, now->unicast_lanes, now->unicast_lanes == 1 ? "" : "s",
		 now->destinations);
}

void engine_lanes_prepare(struct engine_binding *binding)
{
	struct plugin *plugin = binding->plugin;
	const struct routing *routing = plugin->published;
	struct lane_tables before = plugin->lane_tables;
	struct hd_error err;
	int rc = lane_tables_make(plugin->osm, plugin->config, routing->routes, &routing->lanes,
				  &plugin->lane_tables, &err);

	say_fault(plugin, rc ? err.text : "");
	set_callbacks(binding);
	say_multicast(plugin, &before);
}

void engine_lanes_say_lifetime(const struct engine_binding *binding)
{
	struct plugin *plugin = binding->plugin;

	if (settings_deadlock(plugin->config, binding->engine) == HD_DEADLOCK_DROP)
		lifetimes_say_drop(&plugin->osm->subn.opt, binding->engine->name, &plugin->log);
}
