/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which firmware a switch or adapter of the vendor has: the attribute GeneralInfo (0x17) of the vendor's class 0x0A, as
 * vendstat of infiniband-diags prints it. Newer devices have a long form of the version behind the short one; it counts
 * if its low bytes are the short one. Source of the format: vendstat.c of rdma-core. Not checked on hardware.
 */
#ifndef HEDDLE_AR_MANAGER_FIRMWARE_H
#define HEDDLE_AR_MANAGER_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

#define HD_FIRMWARE_CLASS 0x0Au
#define HD_FIRMWARE_ATTRIBUTE 0x17u
#define HD_FIRMWARE_DATA 232u /* bytes after the header that all MADs have */
#define HD_FIRMWARE_PSID 16

struct hd_firmware {
	uint16_t device; /* the vendor's number for the kind of device */
	uint32_t major, minor, sub_minor;
	char psid[HD_FIRMWARE_PSID + 1]; /* which configuration the firmware has */
};

/* Decodes any bytes. */
void hd_firmware_decode(const uint8_t data[HD_FIRMWARE_DATA], struct hd_firmware *firmware);

#endif
