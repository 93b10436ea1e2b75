/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_inner.h"

#include <heddle/fabric/graph.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- GUIDs, LIDs and links ---- */

void hd_fabric_free(struct hd_fabric *fabric)
{
	if (!fabric)
		return;
	struct fabric_holder *holder = (struct fabric_holder *)fabric;
	struct hd_arena arena = holder->arena;
	hd_arena_release(&arena);
}

static uint32_t find_guid(const uint64_t *guids, uint32_t begin, uint32_t end, uint64_t guid)
{
	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;
		if (guids[middle] == guid)
			return middle;
		if (guids[middle] < guid)
			begin = middle + 1;
		else
			end = middle;
	}
	return HD_NONE;
}

uint32_t hd_fabric_find_node(const struct hd_fabric *fabric, uint64_t guid)
{
	uint32_t node = find_guid(fabric->node_guid, 0, fabric->switch_count, guid);

	if (node != HD_NONE)
		return node;
	return find_guid(fabric->node_guid, fabric->switch_count, fabric->node_count, guid);
}

uint32_t hd_fabric_find_port(const struct hd_fabric *fabric, uint64_t guid)
{
	const struct fabric_holder *holder = (const struct fabric_holder *)fabric;
	uint32_t found = find_guid(holder->guid_sorted, 0, holder->guid_count, guid);

	if (found != HD_NONE)
		return holder->guid_port[found];
	uint32_t node = hd_fabric_find_node(fabric, guid);
	if (node == HD_NONE)
		return HD_NONE;
	return hd_port_index(fabric, node, hd_is_switch(fabric, node) ? 0 : 1);
}

/* Index of a port in ports[begin .. end - 1], which ascend; HD_NONE: not found. */
static uint32_t find_number(const uint8_t *ports, uint32_t begin, uint32_t end, uint32_t port)
{
	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;
		if (ports[middle] == port)
			return middle;
		if (ports[middle] < port)
			begin = middle + 1;
		else
			end = middle;
	}
	return HD_NONE;
}

uint32_t hd_fabric_find_isl(const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	return find_number(fabric->isl_port, fabric->isl_base[sw], fabric->isl_base[sw + 1], port);
}

uint32_t hd_fabric_find_host(const struct hd_fabric *fabric, uint32_t port)
{
	uint32_t entry = hd_fabric_entry(fabric, port);

	if (entry == HD_NONE || entry == port)
		return HD_NONE;
	uint32_t sw = fabric->port_node[entry];
	return find_number(fabric->host_switch_port, fabric->host_base[sw],
			   fabric->host_base[sw + 1], hd_port_number(fabric, entry));
}

uint32_t hd_fabric_entry(const struct hd_fabric *fabric, uint32_t port)
{
	if (port >= fabric->port_count)
		return HD_NONE;
	if (hd_is_switch(fabric, fabric->port_node[port]))
		return hd_port_number(fabric, port) ? HD_NONE : port;
	uint32_t peer = fabric->peer[port];
	return peer != HD_NONE && hd_is_switch(fabric, fabric->port_node[peer]) ? peer : HD_NONE;
}

bool hd_fabric_lid_destination(const struct hd_fabric *fabric, uint32_t lid, uint32_t *sw,
			       uint8_t *port)
{
	uint32_t owner = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

	if (owner == HD_NONE)
		return false;
	uint32_t end = owner; /* the switch port by which packets leave for the LID */
	if (!hd_is_switch(fabric, fabric->port_node[owner]))
		end = fabric->peer[owner];
	if (end == HD_NONE || !hd_is_switch(fabric, fabric->port_node[end]))
		return false;
	*sw = fabric->port_node[end];
	*port = (uint8_t)hd_port_number(fabric, end);
	return true;
}

uint32_t hd_fabric_lids_in_use(const struct hd_fabric *fabric)
{
	uint32_t count = 0;

	for (uint32_t lid = 0; lid < fabric->lid_count; lid++)
		count += fabric->lid_owner[lid] != HD_NONE;
	return count;
}

unsigned hd_fabric_largest_lmc(const struct hd_fabric *fabric)
{
	unsigned largest = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		if (fabric->lid[port] && fabric->lmc[port] > largest)
			largest = fabric->lmc[port];
	}
	return largest;
}

double hd_port_rate(const struct hd_fabric *fabric, uint32_t port_index)
{
	static const double lane_rate[HD_SPEED_COUNT] = {
	    [HD_SPEED_SDR] = 2.0,    [HD_SPEED_DDR] = 4.0,   [HD_SPEED_QDR] = 8.0,
	    [HD_SPEED_FDR10] = 10.0, [HD_SPEED_FDR] = 13.64, [HD_SPEED_EDR] = 25.0,
	    [HD_SPEED_HDR] = 50.0,   [HD_SPEED_NDR] = 100.0, [HD_SPEED_XDR] = 200.0,
	};

	return lane_rate[fabric->speed[port_index]] * fabric->width[port_index];
}

char *hd_port_label(const struct hd_fabric *fabric, uint32_t port_index, char *buffer, int size)
{
	uint32_t node = fabric->port_node[port_index];

	snprintf(buffer, (size_t)size, "'%s' 0x%016" PRIx64 "[%u]", fabric->node_name[node],
		 fabric->node_guid[node], hd_port_number(fabric, port_index));
	return buffer;
}

static void mark_lids(const struct hd_fabric *fabric, const uint32_t *ports, uint32_t count,
		      bool *marks)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t offset = 0; offset < hd_port_lid_count(fabric, ports[i]); offset++)
			marks[fabric->lid[ports[i]] + offset] = true;
}

bool *hd_fabric_adapter_lids(const struct hd_fabric *fabric)
{
	bool *marks = calloc(fabric->lid_count, sizeof(*marks));

	if (!marks)
		return NULL;
	mark_lids(fabric, fabric->host_port, fabric->host_count, marks);
	mark_lids(fabric, fabric->aside_port, fabric->aside_count, marks);
	return marks;
}

/* ---- speeds and widths of links ---- */

static const char *const names[HD_SPEED_COUNT] = {
    [HD_SPEED_UNKNOWN] = "???", [HD_SPEED_SDR] = "SDR",	    [HD_SPEED_DDR] = "DDR",
    [HD_SPEED_QDR] = "QDR",	[HD_SPEED_FDR10] = "FDR10", [HD_SPEED_FDR] = "FDR",
    [HD_SPEED_EDR] = "EDR",	[HD_SPEED_HDR] = "HDR",	    [HD_SPEED_NDR] = "NDR",
    [HD_SPEED_XDR] = "XDR"};

const char *hd_speed_name(enum hd_speed speed)
{
	return names[speed];
}

uint8_t hd_link_width(unsigned active)
{
	switch (active) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

enum hd_speed hd_link_speed(unsigned active, unsigned extended)
{
	static const uint8_t extended_speeds[] = {
	    [1] = HD_SPEED_FDR, [2] = HD_SPEED_EDR, [4] = HD_SPEED_HDR, [8] = HD_SPEED_NDR};
	static const uint8_t speeds[] = {
	    [1] = HD_SPEED_SDR, [2] = HD_SPEED_DDR, [4] = HD_SPEED_QDR};
	uint8_t speed = HD_SPEED_UNKNOWN;

	if (extended < sizeof(extended_speeds))
		speed = extended_speeds[extended];
	if (speed == HD_SPEED_UNKNOWN && active < sizeof(speeds))
		speed = speeds[active];
	return (enum hd_speed)speed;
}
