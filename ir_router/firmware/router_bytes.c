/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "router_bytes.h"

/* The remainders of all half bytes; the polynomial is 0x1EDC6F41, reflected. */
static const uint32_t remainders[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75};

uint32_t router_bytes_checksum(uint32_t before, const uint8_t *bytes, uint32_t length)
{
	uint32_t sum = ~before;

	for (uint32_t i = 0; i < length; i++) {
		sum ^= bytes[i];
		sum = sum >> 4 ^ remainders[sum & 15];
		sum = sum >> 4 ^ remainders[sum & 15];
	}
	return ~sum;
}
