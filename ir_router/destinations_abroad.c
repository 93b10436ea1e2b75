/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "destinations_abroad.h"

static bool is_destination(const struct hd_fabric *fabric, uint32_t host)
{
	uint32_t port = fabric->host_port[host];

	return fabric->port_guid[port] && fabric->node_type[fabric->port_node[port]] == HD_CA;
}

static void list_hosts(struct destinations_abroad *abroad, uint32_t subnet)
{
	const struct hd_subnet *other = &abroad->interconnect->subnets[subnet];

	for (uint32_t host = 0; host < other->fabric->host_count; host++) {
		if (!is_destination(other->fabric, host))
			continue;
		struct hd_gid gid = {other->prefix,
				     other->fabric->port_guid[other->fabric->host_port[host]]};
		abroad->host[abroad->count] = host;
		abroad->list[abroad->count++] =
		    (struct hd_assign_destination){.gid = gid, .group = subnet, .wanted = HD_NONE};
	}
}

static void list_ports(struct destinations_abroad *abroad)
{
	const struct hd_interconnect *interconnect = abroad->interconnect;
	const uint32_t *base = &interconnect->ordered_base[abroad->subnet];
	uint32_t count = base[1] - base[0];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = interconnect->ordered[base[0] + i];
		const struct hd_router_port *port = &interconnect->ports[number];
		abroad->ports[i] =
		    (struct hd_assign_port){port->guid, interconnect->router_guid[port->router]};
		for (uint32_t to = 0; to < interconnect->subnet_count; to++)
			abroad->leads[(size_t)to * count + i] =
			    hd_interconnect_leads(interconnect, number, to);
	}
}

int destinations_abroad_list(struct destinations_abroad *abroad,
			     const struct hd_interconnect *interconnect, uint32_t subnet)
{
	uint32_t hosts = 0;
	uint32_t ports =
	    interconnect->ordered_base[subnet + 1] - interconnect->ordered_base[subnet];

	*abroad = (struct destinations_abroad){.interconnect = interconnect, .subnet = subnet};
	for (uint32_t i = 0; i < interconnect->subnet_count; i++)
		hosts += interconnect->subnets[i].fabric->host_count;
	abroad->ports = hd_arena_alloc(&abroad->arena, ports, sizeof(*abroad->ports));
	abroad->leads = hd_arena_alloc(&abroad->arena, (size_t)interconnect->subnet_count * ports,
				       sizeof(bool));
	abroad->list = hd_arena_alloc(&abroad->arena, hosts, sizeof(*abroad->list));
	abroad->host = hd_arena_alloc(&abroad->arena, hosts, sizeof(*abroad->host));
	if (hd_arena_check(&abroad->arena))
		return -ENOMEM;
	list_ports(abroad);
	for (uint32_t other = 0; other < interconnect->subnet_count; other++)
		if (other != subnet)
			list_hosts(abroad, other);
	return 0;
}

struct hd_assign_request destinations_abroad_request(const struct destinations_abroad *abroad,
						     const struct hd_map_options *options)
{
	const uint32_t *base = &abroad->interconnect->ordered_base[abroad->subnet];

	return (struct hd_assign_request){.ports = abroad->ports,
					  .port_count = base[1] - base[0],
					  .leads = abroad->leads,
					  .destinations = abroad->list,
					  .destination_count = abroad->count,
					  .backups = options ? options->backups : HD_ASSIGN_BACKUPS,
					  .defaults = !options || !options->no_defaults,
					  .previous = options ? options->previous : NULL};
}
