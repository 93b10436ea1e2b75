/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_host.h"
#include "emulator_attributes.h"
#include "emulator_switch.h"
#include "emulator_wire.h"
#include <stdlib.h>

#define MASKS 52u /* adaptive_timeout_sl_mask, then ooo_sl_mask */
#define MASKS_END 56u
#define PATTERN 0xA5 /* of bytes that a manager must keep */

uint8_t (*host_records(uint8_t ports))[HOST_RECORD]
{
	uint8_t(*records)[HOST_RECORD] = malloc((ports + (size_t)1) * HOST_RECORD);

	for (unsigned port = 0; records && port <= ports; port++) {
		memset(records[port], PATTERN, HOST_RECORD);
		memset(records[port] + MASKS, 0, MASKS_END - MASKS);
	}
	return records;
}

static uint16_t do_general_info(uint8_t method, uint32_t modifier, uint8_t *data)
{
	if (method == METHOD_SET)
		return STATUS_UNSUPPORTED_METHOD;
	if (modifier != 4)
		return STATUS_INVALID_VALUE;
	memset(data, 0, HOST_RECORD);
	wire_put32(data, 1u << CAPABILITY_EXTENDED_PORT_INFO);
	return STATUS_OK;
}

static uint16_t do_port_info(uint8_t *record, uint8_t method, uint8_t *data)
{
	if (method == METHOD_SET &&
	    (memcmp(data, record, MASKS) ||
	     memcmp(data + MASKS_END, record + MASKS_END, HOST_RECORD - MASKS_END)))
		return STATUS_INVALID_VALUE;
	memcpy(method == METHOD_SET ? record : data, method == METHOD_SET ? data : record,
	       HOST_RECORD);
	return STATUS_OK;
}

uint16_t host_do(uint8_t (*records)[HOST_RECORD], uint8_t ports, uint8_t method, uint16_t attribute,
		 uint32_t modifier, uint8_t *data)
{
	if (attribute == ATTRIBUTE_GENERAL_INFO)
		return do_general_info(method, modifier, data);
	if (attribute != ATTRIBUTE_EXTENDED_PORT_INFO)
		return STATUS_UNSUPPORTED_ATTRIBUTE;
	if (!modifier || modifier > ports)
		return STATUS_INVALID_VALUE;
	return do_port_info(records[modifier], method, data);
}
