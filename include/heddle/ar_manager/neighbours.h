/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The class "node to node" (N2N, 0x0C), by which switches send notices of lost ports to each other: what a manager
 * tells a switch of its neighbours, and the key that the switch asks of managers. MADs of this class go to queue pair 1
 * of port 0 of a switch, not to its subnet management agent. Nothing here was checked on hardware.
 *
 * Source of the format: the header iba/ib_types.h of NVIDIA's OpenSM 5.24. Which version the class has is not in it; 1
 * is assumed. All functions take constant time. Decoders accept any bytes.
 */
#ifndef HEDDLE_AR_MANAGER_NEIGHBOURS_H
#define HEDDLE_AR_MANAGER_NEIGHBOURS_H

#include <heddle/ar_manager/codec.h>

#define HD_N2N_CLASS 0x0Cu
#define HD_N2N_KEY 8u /* bytes of the manager's key, before the data */
#define HD_N2N_DATA 224u /* bytes of an attribute */
#define HD_N2N_NEIGHBOURS 14u /* records of a block */

enum hd_n2n_attribute { HD_N2N_KEY_INFO = 0x000F, HD_N2N_NEIGHBORS_INFO = 0x0010 };

/* A MAD of the class N2N. */
struct hd_n2n_mad {
	uint32_t attribute; /* enum hd_n2n_attribute */
	uint32_t modifier;
	uint16_t lid; /* of the switch */
	uint64_t manager_key;
	uint8_t data[HD_N2N_DATA];
};

/* What follows the header of the MAD. An answer has it, too. */
void hd_n2n_mad_encode(const struct hd_n2n_mad *mad, uint8_t data[HD_N2N_KEY + HD_N2N_DATA]);

/* The node at the other end of a port. All 0: no cable. */
struct hd_n2n_neighbour {
	uint8_t node_type; /* as in NodeInfo: 1 adapter, 2 switch, 3 router; 3 bits */
	uint16_t lid;
	uint64_t key; /* between nodes */
};

/* A block of records, in the order of ports; its number is the modifier. */
void hd_n2n_neighbours_encode(const struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS],
			      uint8_t data[HD_N2N_DATA]);
void hd_n2n_neighbours_decode(const uint8_t data[HD_N2N_DATA],
			      struct hd_n2n_neighbour records[HD_N2N_NEIGHBOURS]);

/* Blocks for the ports 1 .. port_count. */
static inline uint32_t hd_n2n_blocks(uint32_t port_count, const struct hd_ar_quirks *quirks)
{
	return (port_count - quirks->first_neighbour) / HD_N2N_NEIGHBOURS + 1;
}

struct hd_n2n_key_info {
	uint64_t manager_key; /* that MADs of managers must have; 0: any */
	bool protect; /* nobody without the key may read it */
	uint16_t
	    lease_s; /* after so long without the owner of the key the protection ends; 0: never */
	uint16_t violations,
	    node_violations; /* MADs with wrong keys: of managers, of other nodes */
};

void hd_n2n_key_info_encode(const struct hd_n2n_key_info *info, uint8_t data[HD_N2N_DATA]);
void hd_n2n_key_info_decode(const uint8_t data[HD_N2N_DATA], struct hd_n2n_key_info *info);

#endif
