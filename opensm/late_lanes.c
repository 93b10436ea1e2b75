/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "late_lanes.h"
#include "host.h"
#include "plugin.h"
#include "virtual_lanes.h"

#include <complib/cl_passivelock.h>

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Ports whose tables OpenSM has just cut. */
static struct late_ports find(struct plugin *plugin)
{
	const struct lane_tables *tables = &plugin->lane_tables;
	struct late_ports late = {0};
	bool all = true;

	if (!tables->levels && !tables->multicast)
		return late;
	cl_plock_acquire(&plugin->osm->lock);
	all = virtual_lanes_late(plugin->osm, lane_tables_needed(tables), &late);
	cl_plock_release(&plugin->osm->lock);
	if (!all)
		log_error(&plugin->log, LOG_ERROR_HOST,
			  "no memory to find all ports that get more virtual lanes only now; "
			  "a further sweep makes sure of their tables");
	return late;
}

static void ask_for_sweep(struct plugin *plugin, size_t count)
{
	log_info(&plugin->log,
		 "%zu port%s get%s more virtual lanes only now; until the next heavy sweep, "
		 "which is asked for, tables there put all service levels on fewer lanes",
		 count, plural(count), count == 1 ? "s" : "");
	plugin->late_lanes.due = count;
	plugin->osm->subn.force_heavy_sweep = TRUE;
}

static void say_left(struct plugin *plugin, size_t count)
{
	struct hd_log remarks = log_sink(&plugin->log);

	if (count && count != plugin->late_lanes.said)
		hd_log(&remarks, HD_LOG_WARNING,
		       "%zu port%s still %s not as many virtual lanes operational as both ends "
		       "can do: tables there put all service levels on fewer lanes, and may "
		       "deadlock",
		       count, plural(count), count == 1 ? "has" : "have");
	plugin->late_lanes.said = count;
}

void late_lanes_look(struct plugin *plugin)
{
	struct late_lanes *late = &plugin->late_lanes;
	struct late_ports now = find(plugin);
	size_t count = now.count;

	late->due = 0;
	if (late_ports_note(&late->known, &now))
		ask_for_sweep(plugin, count);
	else
		say_left(plugin, count);
}

void late_lanes_say_end(const struct plugin *plugin)
{
	size_t count = plugin->late_lanes.due;

	if (count)
		log_info(&plugin->log,
			 "OpenSM ends before the sweep that completes the tables of %zu "
			 "port%s: it is to be run once more",
			 count, plural(count));
}

void late_lanes_release(struct late_lanes *late)
{
	late_ports_release(&late->known);
	late->due = late->said = 0;
}
