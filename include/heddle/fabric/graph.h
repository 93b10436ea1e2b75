/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * struct hd_fabric: an immutable, validated snapshot of one subnet, laid out for fast walks through
 * memory. Only hd_builder_build() makes one. Its users may rely on everything in this file without
 * checking it again.
 *
 * Order is canonical: switches have the first numbers, then all other nodes, each kind by ascending
 * GUID. So a fabric always gets the same indices, in whatever order its nodes were found.
 */
#ifndef HEDDLE_FABRIC_GRAPH_H
#define HEDDLE_FABRIC_GRAPH_H

#include <heddle/base/error.h>
#include <heddle/base/index.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_NO_PORT 0xFF /* LFT entry: no route */
#define HD_LID_LAST 0xBFFF /* last unicast LID */
#define HD_LMC_INFINIBAND                                                                          \
	7 /* the largest LMC that a subnet manager, a file or a user may ask for */
/* The largest LMC of fabrics that are built in memory, for engines without OpenSM and for the
 * simulator. HD_LID_LAST leaves room for one port with LMC 15, and for no port with LMC 16. */
#define HD_LMC_MAX 16
#define HD_PORTS_MAX 254 /* an LFT can have port numbers 1..254 */

enum hd_node_type { HD_SWITCH, HD_CA, HD_ROUTER };

/* Signalling rate of one lane; HD_SPEED_UNKNOWN if the file does not give it. */
enum hd_speed {
	HD_SPEED_UNKNOWN,
	HD_SPEED_SDR,
	HD_SPEED_DDR,
	HD_SPEED_QDR,
	HD_SPEED_FDR10,
	HD_SPEED_FDR,
	HD_SPEED_EDR,
	HD_SPEED_HDR,
	HD_SPEED_NDR,
	HD_SPEED_XDR,
	HD_SPEED_COUNT
};

struct hd_fabric {
	/* ---- nodes, indexed 0 .. node_count-1; the first switch_count are the switches ---- */
	uint32_t node_count;
	uint32_t switch_count;
	const uint64_t *node_guid; /* unique; ascending within each of the two kinds */
	const uint64_t *system_guid; /* system image GUID, 0 where unknown */
	const uint32_t
	    *vendor_id; /* of the adapter or switch chip (an IEEE OUI), 0 where unknown */
	const uint16_t *device_id; /* the vendor's number for its kind, 0 where unknown */
	const uint8_t *node_type; /* enum hd_node_type */
	const char *const *node_name; /* node description; never NULL */
	const uint32_t
	    *port_base; /* [node_count + 1]: port p of node n has index port_base[n] + p */

	/* ---- ports, p = 0 .. number of ports; a switch's port 0 is its management port ---- */
	uint32_t port_count;
	const uint32_t *port_node; /* node a port belongs to */
	const uint32_t *peer; /* port at the other end of the cable, or HD_NONE */
	const uint64_t *port_guid; /* 0 if unknown; a switch's GUID is at its port 0 */
	const uint16_t *lid; /* base LID, 0 = no LID; a switch's LID is at its port 0 */
	const uint8_t *lmc; /* the port answers to lid .. lid + 2^lmc - 1 */
	const uint8_t *width; /* lanes: 1, 2, 4, 8, 12; 0 = unknown */
	const uint8_t *speed; /* enum hd_speed */
	const bool *aside; /* the port is of an adapter that is set aside, see below */

	/* ---- hosts: ports of channel adapters and routers that are cabled to a switch and not set
	 *      aside, in leaf-major order: by switch index, then by switch port ---- */
	uint32_t host_count;
	const uint32_t *host_port; /* port index of the host's own port */
	const uint32_t *host_switch; /* switch to which it is cabled */
	const uint8_t *host_switch_port; /* port of that switch that leads to the host */
	const uint32_t *
	    host_base; /* [switch_count + 1]: hosts of switch s: host_base[s] .. host_base[s+1]-1 */

	/* ---- adapters that are set aside: cabled to a switch like hosts and in the same order,
	 * but they make no switch a leaf and count in no balance. Each is reached from every switch
	 *      (heddle/fabric/aside.h) ---- */
	uint32_t aside_count;
	const uint32_t *aside_port; /* as for hosts */
	const uint32_t *aside_switch;
	const uint8_t *aside_switch_port;
	const uint32_t *aside_base; /* [switch_count + 1] */

	/* ---- inter-switch links, one entry a direction, by switch then port; links of a
	 *      switch to itself are left out ---- */
	uint32_t isl_count;
	const uint32_t *isl_base; /* [switch_count + 1] */
	const uint32_t *isl_to; /* switch at the far end */
	const uint8_t *isl_port; /* port number at the near end */
	const uint32_t *isl_reverse; /* entry of the same cable in the other direction */

	/* ---- LIDs ---- */
	uint32_t lid_count; /* highest LID in use + 1; 1 if no port has a LID */
	const uint32_t *lid_owner; /* [lid_count]: index of the port that owns a LID, or HD_NONE */
};

/* Frees the fabric; NULL is allowed. */
void hd_fabric_free(struct hd_fabric *fabric);

/* Number of ports of a node, port 0 not counted. */
static inline uint32_t hd_node_ports(const struct hd_fabric *fabric, uint32_t node)
{
	return fabric->port_base[node + 1] - fabric->port_base[node] - 1;
}

/* Index of a port by its node and its number on it: 0 .. hd_node_ports(). */
static inline uint32_t hd_port_index(const struct hd_fabric *fabric, uint32_t node, uint32_t port)
{
	return fabric->port_base[node] + port;
}

/* Number of a port on its node. */
static inline uint32_t hd_port_number(const struct hd_fabric *fabric, uint32_t port_index)
{
	return port_index - fabric->port_base[fabric->port_node[port_index]];
}

/* Whether a node is a switch; false for numbers that are no node's. */
static inline bool hd_is_switch(const struct hd_fabric *fabric, uint32_t node)
{
	return node < fabric->switch_count;
}

/* Switch at the near end of a directed inter-switch link. */
static inline uint32_t hd_isl_from(const struct hd_fabric *fabric, uint32_t link)
{
	return fabric->isl_to[fabric->isl_reverse[link]];
}

/* Number of LIDs that a port owns, from its base LID on; 0 if it has no LID. */
static inline uint32_t hd_port_lid_count(const struct hd_fabric *fabric, uint32_t port_index)
{
	return fabric->lid[port_index] ? 1u << fabric->lmc[port_index] : 0;
}

/* Whether hosts are cabled to the switch. */
static inline bool hd_has_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->host_base[sw] < fabric->host_base[sw + 1];
}

/* Whether adapters are cabled to the switch: hosts, or such as are set aside. They send. */
static inline bool hd_has_adapters(const struct hd_fabric *fabric, uint32_t sw)
{
	return hd_has_hosts(fabric, sw) || fabric->aside_base[sw] < fabric->aside_base[sw + 1];
}

/* Number of LIDs that have an owner. O(LIDs). */
uint32_t hd_fabric_lids_in_use(const struct hd_fabric *fabric);

/* For each LID whether it is one of a host or of an adapter that is set aside: [lid_count], to be
 * freed with free(). NULL: no memory. O(LIDs). */
bool *hd_fabric_adapter_lids(const struct hd_fabric *fabric);

/* Largest LMC of a host that has a LID; 0 without such hosts. O(hosts). */
unsigned hd_fabric_largest_lmc(const struct hd_fabric *fabric);

/* Index of the node with that GUID, or HD_NONE. O(log nodes). */
uint32_t hd_fabric_find_node(const struct hd_fabric *fabric, uint64_t guid);

/*
 * Index of the port with that port GUID, or HD_NONE. A switch's node GUID finds its port 0. If the
 * port GUIDs of an adapter are unknown, its node GUID finds its first port. O(log ports).
 */
uint32_t hd_fabric_find_port(const struct hd_fabric *fabric, uint64_t guid);

/* Index of the host with that port (an index), or HD_NONE: any other port, also of an adapter that
 * is set aside, and numbers that are no port's. O(log radix). */
uint32_t hd_fabric_find_host(const struct hd_fabric *fabric, uint32_t port);

/* Directed inter-switch link that leaves `sw` by `port`, or HD_NONE. O(log radix). */
uint32_t hd_fabric_find_isl(const struct hd_fabric *fabric, uint32_t sw, uint32_t port);

/* Destination switch of a LID, and the port by which packets leave that switch (0: the switch
 * itself is the destination). False if the LID has no owner, or if its owner is not cabled to a
 * switch. */
bool hd_fabric_lid_destination(const struct hd_fabric *fabric, uint32_t lid, uint32_t *sw,
			       uint8_t *port);

/* The switch port by which packets from `port` come in: the far end of a host's cable, or port 0 of
 * a switch itself. HD_NONE for all other ports, for ports without a cable, and for numbers that are
 * no port's. */
uint32_t hd_fabric_entry(const struct hd_fabric *fabric, uint32_t port);

/* Data rate of a port in Gbit/s (width times lane rate after coding); 0 if unknown. */
double hd_port_rate(const struct hd_fabric *fabric, uint32_t port_index);

/* Lanes of a LinkWidthActive of PortInfo; 0: none, or unknown. */
uint8_t hd_link_width(unsigned active);

/* The speed of a LinkSpeedActive and a LinkSpeedExtActive of PortInfo. The second is 0 where the port
 * has no extended speeds. PortInfo does not tell FDR10 from QDR. */
enum hd_speed hd_link_speed(unsigned active, unsigned extended);

/* "QDR", as tools print it; "???" if the speed is unknown. A constant, not to be freed. */
const char *hd_speed_name(enum hd_speed speed);

/*
 * Name of a port for messages: "'leaf3' 0x0002c9...[17]". Writes at most size bytes, always
 * terminated, and returns buffer.
 */
char *hd_port_label(const struct hd_fabric *fabric, uint32_t port_index, char *buffer, int size);

#define HD_LABEL_SIZE 128

/*
 * Hops from each switch to the nearest one with hosts, HD_NONE if no path leads to one.
 * `level` has switch_count entries and belongs to the caller. Errors: -ENOMEM. O(links).
 */
int hd_fabric_levels(const struct hd_fabric *fabric, uint32_t *level, struct hd_error *err);

/*
 * Hops of the shortest paths between switches: hops[a * switch_count + b], 0xFF if there is no
 * path. `hops` has switch_count^2 bytes and belongs to the caller. Runs 64 searches
 * at a time on bit masks. Errors: -ENOMEM, -ERANGE two switches more than 254 hops apart.
 * Cost: O(diameter * links * switches / 64).
 */
int hd_fabric_distances(const struct hd_fabric *fabric, unsigned threads, uint8_t *hops,
			struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
