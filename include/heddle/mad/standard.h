/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of standard attributes that we use. libibmad knows where they are. */
#ifndef HEDDLE_MAD_STANDARD_H
#define HEDDLE_MAD_STANDARD_H

#include <heddle/mad/smp.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_node_info {
	uint64_t guid, port_guid, system_guid; /* host byte order, as all fields here */
	uint32_t vendor;
	uint16_t device;
	uint8_t port_count; /* without port 0 */
	uint8_t local_port; /* by which the SMP came in */
	bool is_switch;
};

struct hd_switch_info {
	uint16_t linear_cap; /* entries of the forwarding table */
	uint16_t linear_top; /* highest LID that it has an entry for */
};

struct hd_port_info {
	uint16_t lid, sm_lid;
	uint8_t lmc;
	uint8_t state; /* 1 down, 2 initialize, 3 armed, 4 active */
	uint8_t physical_state; /* 5 link up */
};

/* From the data of an answer. They cannot fail: each byte pattern means something. */
void hd_node_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_node_info *info);
void hd_switch_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_switch_info *info);
void hd_port_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_port_info *info);

#endif
