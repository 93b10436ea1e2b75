/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "late_lanes.h"
#include "lane_tables.h"
#include "log.h"
#include "opensm_headers.h"
#include "virtual_lanes.h"

#include <complib/cl_passivelock.h>

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Finds the ports whose tables OpenSM has just written for fewer lanes. */
static struct late_ports find(struct osm_opensm *osm, const struct lane_tables *tables,
			      const struct opensm_log *log)
{
	struct late_ports late = {0};
	bool all = true;

	if (!tables->levels && !tables->multicast)
		return late;
	cl_plock_acquire(&osm->lock);
	all = virtual_lanes_late(osm, lane_tables_needed(tables), &late);
	cl_plock_release(&osm->lock);
	if (!all)
		log_error(
		    log, LOG_ERROR_HANDOVER,
		    "out of memory in the search for ports whose virtual lanes were set up late; "
		    "the next heavy sweep searches again");
	return late;
}

static void ask_for_sweep(struct late_lanes *late, struct osm_opensm *osm, size_t count,
			  const struct opensm_log *log)
{
	log_info(
	    log,
	    "OpenSM wrote tables of %zu port%s before it set up all virtual lanes there; Heddle "
	    "requests one more heavy sweep, and until then service levels share fewer lanes there",
	    count, plural(count));
	late->due = count;
	osm->subn.force_heavy_sweep = TRUE;
}

static void say_left(struct late_lanes *late, size_t count, struct opensm_log *log)
{
	struct hd_log remarks = log_sink(log);

	if (count && count != late->said)
		hd_log(
		    &remarks, HD_LOG_WARNING,
		    "%zu port%s still %s fewer virtual lanes operational than both ends support: "
		    "service levels share lanes there, and packets can deadlock",
		    count, plural(count), count == 1 ? "has" : "have");
	late->said = count;
}

void late_lanes_look(struct late_lanes *late, struct osm_opensm *osm,
		     const struct lane_tables *tables, struct opensm_log *log)
{
	struct late_ports now = find(osm, tables, log);
	size_t count = now.count;

	late->due = 0;
	if (late_ports_note(&late->known, &now))
		ask_for_sweep(late, osm, count, log);
	else
		say_left(late, count, log);
}

void late_lanes_say_end(const struct late_lanes *late, const struct opensm_log *log)
{
	if (late->due)
		log_info(log,
			 "OpenSM ends before the sweep that completes the tables of %zu "
			 "port%s: run OpenSM once more",
			 late->due, plural(late->due));
}

void late_lanes_release(struct late_lanes *late)
{
	late_ports_release(&late->known);
	late->due = late->said = 0;
}
