/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The vendor attributes of an adaptive-routing switch. The emulator is strict: it refuses what a
 * switch might accept in silence, so that tests find mistakes.
 */
#ifndef EMULATOR_ATTRIBUTES_H
#define EMULATOR_ATTRIBUTES_H

#include "emulator_switch.h"
#include <stdbool.h>
#include <stdint.h>

enum {
	ATTRIBUTE_VENDOR_FIRST = 0xFF10,
	ATTRIBUTE_PLFT_INFO = 0xFF10,
	ATTRIBUTE_PLFT_DEFINITION = 0xFF11,
	ATTRIBUTE_PLFT_MAP = 0xFF12,
	ATTRIBUTE_SL_TO_PLFT = 0xFF14,
	ATTRIBUTE_GENERAL_INFO = 0xFF17,
	ATTRIBUTE_AR_INFO = 0xFF20,
	ATTRIBUTE_GROUP_TABLE = 0xFF21,
	ATTRIBUTE_AR_LFT_OLD = 0xFF22,
	ATTRIBUTE_AR_LFT_REV1 = 0xFF23,
	ATTRIBUTE_PFRN_CONFIG = 0xFF61,
	ATTRIBUTE_EXTENDED_PORT_INFO = 0xFF90, /* of channel adapters; see `hosts` */
	ATTRIBUTE_GROUP_COPY = 0xFFBD,
	ATTRIBUTE_VENDOR_LAST = 0xFFBD
};

/* Attributes of the class N2N, and what is added to them in counters and faults. */
enum { ATTRIBUTE_KEY_INFO = 0x000F, ATTRIBUTE_NEIGHBORS_INFO = 0x0010, ATTRIBUTE_N2N = 0x0C00 };

/* Bits of the bytes 3, 20 and 22 of AdaptiveRoutingInfo. */
enum {
	INFO_AR_ENABLED = 1,
	INFO_RECOVERY_SUPPORTED = 1 << 3,
	INFO_RECOVERY_ENABLED = 1 << 4,
	INFO_NOTICES_SUPPORTED = 1 << 1,
	INFO_NOTICES_ENABLED = 1 << 4
};

/* Whether the emulator, not ibsim, answers this attribute. */
static inline bool attributes_are_vendor(uint16_t attribute)
{
	return (attribute & 0xFF00) == ATTRIBUTE_N2N ||
	       (attribute >= ATTRIBUTE_VENDOR_FIRST && attribute <= ATTRIBUTE_VENDOR_LAST &&
		attribute != ATTRIBUTE_EXTENDED_PORT_INFO);
}

/*
 * Does a Get or Set (`method`) of an attribute. `data`, 64 bytes, are those of the request, and
 * afterwards those of the answer. Returns the status for the answer; unless it is STATUS_OK the
 * switch is as before, and so are the data.
 */
uint16_t attributes_do(struct ar_switch *sw, uint8_t method, uint16_t attribute, uint32_t modifier,
		       uint8_t *data);

#endif
