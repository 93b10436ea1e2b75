/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ROUTING TO OTHER SUBNETS.
 *
 * A map says which router port each host of another subnet uses. It comes from a file, or from what routers hand over,
 * and then it is made here by ISSR or ISFR.
 *
 *	sweep_begins   reads the file (map_table.h)
 *	routed         OpenSM has tables for the subnet as it is now: looks which router ports are usable, and puts the map
 *	               in force, with OpenSM's lock held exclusively
 *	idle           routers get the hosts of this subnet (map_lists.h)
 *
 * The SA's threads answer path queries for hosts in the map (map_hook.h), with OpenSM's lock held shared. They only
 * read the map in force.
 *
 * A thread of the part talks to routers (map_server.h). What they hand over is copied by the next sweep
 * (map_foreign_lists.h), and news ask for one.
 *
 * A bad file, or too little memory, leaves the map in force as it is, and the log says why.
 */
#include "map_foreign.h"
#include "map_foreign_lists.h"
#include "map_hook.h"
#include "map_server.h"
#include "part.h"
#include "parts.h"
#include "port_path.h"
#include "routing.h"
#include "socket_path.h"
#include "status_report.h"
#include "switch_tables.h"

#include <complib/cl_passivelock.h>
#include <errno.h>
#include <heddle/ir_router/assign.h>
#include <heddle/ir_router/map.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the map in force ---- */

/* Makes the map inside OpenSM, from the lists that routers hand over. */

struct routing;

struct map_live_request {
	const struct routing *routing;
	uint64_t prefix; /* of this subnet */
	const struct map_foreign_lists *foreign;
	bool by_isfr; /* else by ISSR */
	const struct hd_map *previous; /* in force; NULL: none. Its lines stay. */
};

struct map_live_report {
	uint32_t destinations, by_isfr;
};

struct making {
	const struct map_live_request *request;
	struct hd_interconnect *interconnect; /* of this subnet alone */
	struct hd_isfr_plan *plan;
	struct hd_assign_port *ports;
	uint32_t *order; /* [port_count of the interconnect] number of a port in `ports` */
	struct hd_assign_destination *destinations;
	uint32_t port_count, destination_count;
	struct hd_arena arena;
	struct map_live_report report;
};

static int list_ports(struct making *making)
{
	const struct hd_interconnect *interconnect = making->interconnect;
	uint32_t count = interconnect->port_count;

	making->ports = hd_arena_alloc(&making->arena, (size_t)count + 1, sizeof(*making->ports));
	making->order = hd_arena_alloc(&making->arena, (size_t)count + 1, sizeof(uint32_t));
	if (hd_arena_check(&making->arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_router_port *port = &interconnect->ports[interconnect->ordered[i]];
		making->order[interconnect->ordered[i]] = i;
		making->ports[i] =
		    (struct hd_assign_port){port->guid, interconnect->router_guid[port->router]};
	}
	making->port_count = count;
	return 0;
}

/* Places in a subnet: as many as the last host has before it, and itself. */
static uint32_t count_places(const struct map_foreign_list *list)
{
	return list->host_count ? list->hosts[list->host_count - 1].place + 1 : 0;
}

/* Number of the port that ISFR names, or HD_NONE. */
static uint32_t wanted_port(const struct making *making, const struct hd_handshake_host *host,
			    uint64_t before)
{
	const struct hd_isfr_subnet *tree = &making->plan->subnets[0];

	if (!making->request->by_isfr || tree->reason || !host->top_switch)
		return HD_NONE;
	uint32_t group = host->place % tree->groups;
	uint32_t cable =
	    (uint32_t)((host->place / tree->groups + before / tree->groups) % tree->cables);
	uint32_t port = tree->port[group * tree->cables + cable];
	return port == HD_NONE ? HD_NONE : making->order[port];
}

static void add_list(struct making *making, const struct map_foreign_list *list, uint64_t before)
{
	for (uint32_t i = 0; i < list->host_count; i++) {
		uint32_t wanted = wanted_port(making, &list->hosts[i], before);
		making->report.by_isfr += wanted != HD_NONE;
		making->destinations[making->destination_count++] = (struct hd_assign_destination){
		    .gid = {list->prefix, list->hosts[i].guid}, .wanted = wanted};
	}
}

static int list_destinations(struct making *making)
{
	const struct map_foreign_lists *foreign = making->request->foreign;
	const struct hd_isfr_subnet *own = &making->plan->subnets[0];
	uint64_t before = 0;
	size_t hosts = 0;

	for (uint32_t i = 0; i < foreign->count; i++)
		hosts += foreign->items[i].host_count;
	making->destinations =
	    hd_arena_alloc(&making->arena, hosts + 1, sizeof(*making->destinations));
	if (hd_arena_check(&making->arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < foreign->count; i++) {
		const struct map_foreign_list *list = &foreign->items[i];
		bool after_us = list->prefix > making->request->prefix;
		add_list(making, list, before + (after_us ? own->hosts : 0));
		before += count_places(list);
	}
	making->report.destinations = making->destination_count;
	return 0;
}

static int assign(struct making *making, struct hd_map **out, struct hd_error *err)
{
	if (list_ports(making) || list_destinations(making))
		return hd_error_no_memory(err);
	if (!making->destination_count)
		return hd_error_set(err, -ENOENT,
				    "no router has handed over hosts of another subnet yet");
	return hd_assign(&(struct hd_assign_request){.ports = making->ports,
						     .port_count = making->port_count,
						     .destinations = making->destinations,
						     .destination_count = making->destination_count,
						     .backups = HD_ASSIGN_BACKUPS,
						     .defaults = true,
						     .previous = making->request->previous},
			 out, NULL, err);
}

/*
 * The map of the subnet. By ISFR, a host has the router port that D-mod-K names: its place in its
 * subnet chooses the top switch, and its place together with the hosts of the subnets before it, by
 * prefix, the cable from there. Hosts for which that is not possible are spread as by ISSR. Errors:
 * -ENOENT there is no router port, or no foreign host; those of hd_assign().
 */
static int map_live_make(const struct map_live_request *request, struct hd_map **out,
			 struct map_live_report *report, struct hd_error *err)
{
	const struct hd_subnet subnet = {
	    .prefix = request->prefix, .name = "this subnet", .fabric = request->routing->fabric};
	struct making making = {.request = request};
	int rc = hd_interconnect_new(&subnet, 1, &making.interconnect, err);

	if (!rc)
		rc = hd_isfr_plan_new(making.interconnect, &making.plan, err);
	if (!rc)
		rc = assign(&making, out, err);
	hd_isfr_plan_free(making.plan);
	hd_interconnect_free(making.interconnect);
	hd_arena_release(&making.arena);
	if (!rc)
		*report = making.report;
	return rc;
}

/* ---- the part ---- */

#define AGENT_GROUP "heddle-router"

enum { BY_FILE, BY_ISSR, BY_ISFR }; /* as in [map] algorithm */

/* What the report of the plugin's state says. */
struct map_figures {
	bool any; /* a map is in force */
	char source[HD_ERROR_TEXT]; /* file, or algorithm; "" no map is wanted */
	uint32_t lines, ports, usable, backup, unusable; /* the last two: lines */
};

struct map_state {
	struct part_context *context;
	struct map_table table;
	struct map_hook hook;
	bool said_lanes; /* that the tables need several lanes */
	struct map_server *server; /* NULL: routers cannot connect */
	char address[HD_ERROR_TEXT], group[HD_ERROR_TEXT]; /* the ones that were tried last */
	struct map_lists *published; /* what the server has got last */
	bool tables_changed; /* since then */
	struct map_live_report report; /* of the last map that was made here */
	atomic_bool live; /* the map is made from what routers hand over */
	pthread_mutex_t lock; /* of what is below */
	struct map_figures figures;
};

static const char *option(const struct map_state *state, const char *name)
{
	return hd_options_get(hd_config_options(state->context->config, "map"), name)->text;
}

static int64_t algorithm(const struct map_state *state)
{
	return hd_options_get(hd_config_options(state->context->config, "map"), "algorithm")
	    ->number;
}

/* For messages: where the map comes from. */
static const char *path_of(const struct map_state *state)
{
	return algorithm(state) == BY_FILE ? option(state, "file") : option(state, "algorithm");
}

static int create(struct part_context *context, void **out, struct hd_error *err)
{
	struct map_state *state = calloc(1, sizeof(*state));
	int rc;

	if (!state)
		return hd_error_no_memory(err);
	state->context = context;
	pthread_mutex_init(&state->lock, NULL);
	rc = map_hook_set(&state->hook, context->osm, &state->table, err);
	if (rc) {
		pthread_mutex_destroy(&state->lock);
		free(state);
		return rc;
	}
	*out = state;
	return 0;
}

static uint64_t prefix_of(const struct map_state *state)
{
	return cl_ntoh64(state->context->osm->subn.opt.subnet_prefix);
}

/* A heavy sweep makes the map again. Called in the thread of the server. */
static void foreign_changed(void *context)
{
	struct map_state *state = context;
	struct osm_opensm *osm = state->context->osm;

	if (osm_exit_flag || !state->live)
		return;
	osm->subn.force_heavy_sweep = TRUE;
	osm_sm_signal(&osm->sm, OSM_SIGNAL_SWEEP);
}

/* By default that of the agent's package, if this process can give the socket to it. "": that of OpenSM. */
static const char *group_of(const struct map_state *state)
{
	const char *group = option(state, "router_group");

	if (*group)
		return group;
	return !geteuid() && socket_path_group_exists(AGENT_GROUP) ? AGENT_GROUP : "";
}

/* Starts, ends or moves the server if its settings have changed. */
static void keep_server(struct map_state *state)
{
	const char *group = group_of(state);
	char address[sizeof(state->address)];
	struct hd_error err = {""};

	port_path_expand(port_path_guid(state->context->osm), option(state, "router_socket"),
			 address, sizeof(address));
	if (!strcmp(address, state->address) && !strcmp(group, state->group))
		return;
	map_server_end(state->server);
	map_lists_free(state->published);
	state->server = NULL;
	state->published = NULL;
	snprintf(state->address, sizeof(state->address), "%s", address);
	snprintf(state->group, sizeof(state->group), "%s", group);
	const struct map_server_settings settings = {.address = state->address,
						     .group = state->group,
						     .prefix = prefix_of(state),
						     .log = &state->context->log,
						     .foreign_changed = foreign_changed,
						     .context = state};
	if (*address && map_server_start(&settings, &state->server, &err))
		state->server = NULL;
	if (*err.text)
		log_error(&state->context->log, LOG_ERROR_MAP, "map: routers cannot connect: %s",
			  err.text);
}

static void sweep_begins(void *data)
{
	struct map_state *state = data;

	state->live = algorithm(state) != BY_FILE;
	keep_server(state);
	if (!state->live)
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

/* From what routers have handed over. Until there is something, the map in force stays. */
static void make_map(struct map_state *state)
{
	struct map_foreign_lists foreign = {.count = 0};
	struct map_live_request request = {.routing = state->context->published,
					   .prefix = prefix_of(state),
					   .foreign = &foreign,
					   .by_isfr = algorithm(state) == BY_ISFR,
					   .previous = state->table.map};
	struct map_live_report report;
	struct hd_map *map = NULL;
	struct hd_error err;

	if (!request.routing || !state->server || map_server_foreign(state->server, &foreign))
		return;
	int rc = map_live_make(&request, &map, &report, &err);
	map_foreign_lists_release(&foreign);
	if (!rc && (report.destinations != state->report.destinations ||
		    report.by_isfr != state->report.by_isfr))
		log_info(&state->context->log,
			 "map: %" PRIu32 " hosts of other subnets, %" PRIu32 " of them by ISFR",
			 report.destinations, report.by_isfr);
	if (!rc)
		state->report = report;
	else if (rc != -ENOENT)
		log_error(&state->context->log, LOG_ERROR_MAP, "map: %s", err.text);
	map_table_take(&state->table, rc ? NULL : map);
}

static void judge(struct map_state *state)
{
	enum map_port *ports = state->table.next ? look(state, state->table.next) : NULL;

	if (ports)
		map_table_judge(&state->table, path_of(state), ports, &state->context->log);
	free(ports);
}

/* Of the map that is going to be in force. NULL: no map, or no memory. */
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

/* After map_table_report(), which counts. */
static void note_figures(struct map_state *state)
{
	const struct hd_map *map = state->table.map;
	struct map_figures figures = {.any = map != NULL};

	snprintf(figures.source, sizeof(figures.source), "%s", path_of(state));
	if (map) {
		figures.lines = map->gid_count + map->block_count + map->default_count;
		figures.ports = map->port_count;
		figures.usable = state->table.reported[0];
		figures.backup = state->table.reported[1];
		figures.unusable = state->table.reported[2];
	}
	pthread_mutex_lock(&state->lock);
	state->figures = figures;
	pthread_mutex_unlock(&state->lock);
}

/* OpenSM has the tables for the subnet as it is now, so paths can be told. */
static void routed(void *data)
{
	struct map_state *state = data;
	struct osm_opensm *osm = state->context->osm;
	struct map_table old;
	bool *usable;

	state->tables_changed |= !state->context->published || state->context->published->changes;
	if (state->live)
		make_map(state);
	else
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
	note_figures(state);
	check_lanes(state);
}

/* ---- what routers get ---- */

static bool all_have_tables(const struct map_state *state)
{
	struct osm_opensm *osm = state->context->osm;
	bool complete;

	cl_plock_acquire(&osm->lock);
	complete = !switch_tables_incomplete(state->context->published, osm);
	cl_plock_release(&osm->lock);
	return complete;
}

static int make_lists(const struct map_state *state, struct map_lists **out, struct hd_error *err)
{
	return map_lists_make(state->context->published,
			      cl_ntoh64(state->context->osm->subn.opt.subnet_prefix), &state->table,
			      out, err);
}

/* Routers ask the switches for their tables as soon as they get the lists. So they get them only
 * when all switches have acknowledged their tables, and only if something has changed: then routers
 * ask the switches again. */
static void idle(void *data)
{
	struct map_state *state = data;
	struct map_lists *lists, *copy;
	struct hd_error err;

	if (!state->server || !state->context->published || !all_have_tables(state))
		return;
	int rc = make_lists(state, &lists, &err);
	if (!rc && !state->tables_changed && map_lists_equal(lists, state->published)) {
		map_lists_free(lists);
		return;
	}
	if (!rc) {
		map_lists_free(state->published);
		state->published = lists;
		rc = make_lists(state, &copy, &err);
	}
	state->tables_changed = rc != 0;
	if (!rc)
		map_server_publish(state->server, copy);
	else
		log_error(&state->context->log, LOG_ERROR_MAP,
			  "map: nothing is sent to routers: %s", err.text);
}

/* ---- the report of the plugin's state ---- */

static void add_summary(const struct map_figures *figures, struct status_report *report)
{
	if (figures->any)
		status_report_text(
		    report, "summary",
		    "%s: %" PRIu32 " lines; %" PRIu32 " of %" PRIu32 " router ports are usable",
		    figures->source, figures->lines, figures->usable, figures->ports);
	else
		status_report_text(report, "summary", "%s%s",
				   *figures->source ? figures->source : "off",
				   *figures->source ? ": no map is in force" : "");
}

static void add_figures(const struct map_figures *figures, struct status_report *report)
{
	static const struct status_metric ports = {"heddle_map_router_ports", "gauge",
						   "Router ports of the map"},
					  usable = {"heddle_map_usable_router_ports", "gauge",
						    "Those that can be used"},
					  unusable = {
					      "heddle_map_lines_without_port", "gauge",
					      "Lines of the map without a usable router port"};

	status_report_number(report, "lines", figures->lines);
	status_report_number(report, "router_ports", figures->ports);
	status_report_number(report, "usable_ports", figures->usable);
	status_report_number(report, "lines_on_backups", figures->backup);
	status_report_number(report, "lines_without_port", figures->unusable);
	if (figures->usable < figures->ports)
		status_report_fault(report,
				    "%" PRIu32 " of %" PRIu32 " router ports cannot be used",
				    figures->ports - figures->usable, figures->ports);
	status_report_metric(report, &ports, figures->ports);
	status_report_metric(report, &usable, figures->usable);
	status_report_metric(report, &unusable, figures->unusable);
}

static void status(void *data, struct status_report *report)
{
	struct map_state *state = data;
	struct map_figures figures;

	pthread_mutex_lock(&state->lock);
	figures = state->figures;
	pthread_mutex_unlock(&state->lock);
	status_report_section(report, "map");
	add_summary(&figures, report);
	status_report_text(report, "source", "%s", figures.source);
	if (figures.any)
		add_figures(&figures, report);
	else if (*figures.source)
		status_report_fault(report, "the map of %s is not in force", figures.source);
}

static void destroy(void *data)
{
	struct map_state *state = data;

	map_server_end(state->server);
	pthread_mutex_destroy(&state->lock);
	map_lists_free(state->published);
	map_table_release(&state->table);
	free(state);
}

const struct part map_part = {
    .name = "map",
    .create = create,
    .sweep_begins = sweep_begins,
    .routed = routed,
    .idle = idle,
    .status = status,
    .destroy = destroy,
};
