/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_part.h"
#include "map_foreign.h"
#include "map_hook.h"
#include "part.h"
#include "routing.h"

#include <complib/cl_passivelock.h>
#include <stdlib.h>

static const struct hd_option options[] = {
    {.name = "file",
     .summary = "the map: which router port each destination in other subnets uses",
     .type = HD_OPTION_STRING,
     .fallback = ""},
};

struct map_state {
	struct part_context *context;
	struct map_table table;
	struct map_hook hook;
	bool said_lanes; /* that the tables need several lanes */
};

static int sections(struct hd_config_sections *all, struct hd_error *err)
{
	return hd_config_sections_add(
	    all,
	    &(struct hd_config_section){.name = "map",
					.options = options,
					.option_count = sizeof(options) / sizeof(options[0])},
	    err);
}

static const char *path_of(const struct map_state *state)
{
	return hd_options_get(hd_config_options(state->context->config, "map"), "file")->text;
}

static int create(struct part_context *context, void **out, struct hd_error *err)
{
	struct map_state *state = calloc(1, sizeof(*state));
	int rc;

	if (!state)
		return hd_error_no_memory(err);
	state->context = context;
	rc = map_hook_set(&state->hook, context->osm, &state->table, err);
	if (rc) {
		free(state);
		return rc;
	}
	*out = state;
	return 0;
}

static void sweep_begins(void *data)
{
	struct map_state *state = data;

	map_table_read(&state->table, path_of(state), &state->context->log);
}

/* What the subnet has at each router port of a map, to be freed. NULL: no memory. */
static enum map_port *look(const struct map_state *state, const struct hd_map *map)
{
	enum map_port *ports = calloc((size_t)map->port_count + 1, sizeof(*ports));
	struct osm_opensm *osm = state->context->osm;

	if (!ports)
		return NULL;
	cl_plock_acquire(&osm->lock);
	map_foreign_look(&osm->subn, map, ports);
	cl_plock_release(&osm->lock);
	return ports;
}

static void judge(struct map_state *state)
{
	enum map_port *ports = state->table.next ? look(state, state->table.next) : NULL;

	if (ports)
		map_table_judge(&state->table, path_of(state), ports, &state->context->log);
	free(ports);
}

/* Of the map that is going to be in force. NULL: there is none, or no memory. */
static bool *find_usable(const struct map_state *state)
{
	const struct hd_map *map = map_table_candidate(&state->table);
	enum map_port *ports = map ? look(state, map) : NULL;
	bool *usable = ports ? calloc((size_t)map->port_count + 1, sizeof(*usable)) : NULL;

	for (uint32_t i = 0; usable && i < map->port_count; i++)
		usable[i] = ports[i] == MAP_PORT_USABLE;
	free(ports);
	return usable;
}

/* A packet keeps its service level in all subnets. What that means elsewhere is not known here. */
static void check_lanes(struct map_state *state)
{
	const struct routing *routing = state->context->published;
	unsigned lanes = routing ? hd_routes_router_lanes(routing->fabric, routing->routes) : 1;
	bool several = state->table.map && (lanes & (lanes - 1));

	if (several && !state->said_lanes)
		log_error(&state->context->log, LOG_ERROR_MAP,
			  "map: paths of %s to router ports use more than one virtual lane, but "
			  "packets keep "
			  "their service level in other subnets, where it can mean another lane; "
			  "use the engine issr or isfr",
			  routing->routes->engine);
	state->said_lanes = several;
}

/* OpenSM has the tables for the subnet as it is now, so paths can be told. */
static void routed(void *data)
{
	struct map_state *state = data;
	struct osm_opensm *osm = state->context->osm;
	struct map_table old;
	bool *usable;

	judge(state);
	usable = find_usable(state);
	if (!usable && map_table_candidate(&state->table)) {
		log_error(&state->context->log, LOG_ERROR_MAP,
			  "map: out of memory; the map in force is that of the last sweep");
		return;
	}
	cl_plock_excl_acquire(&osm->lock);
	old = map_table_replace(&state->table, usable);
	cl_plock_release(&osm->lock);
	map_table_release(&old);
	map_table_report(&state->table, path_of(state), &state->context->log);
	check_lanes(state);
}

static void destroy(void *data)
{
	struct map_state *state = data;

	map_table_release(&state->table);
	free(state);
}

const struct part map_part = {
    .name = "map",
    .sections = sections,
    .create = create,
    .sweep_begins = sweep_begins,
    .routed = routed,
    .destroy = destroy,
};
