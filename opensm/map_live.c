/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "map_live.h"
#include "routing.h"

#include <errno.h>
#include <heddle/ir_router/isfr.h>

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

int map_live_make(const struct map_live_request *request, struct hd_map **out,
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
