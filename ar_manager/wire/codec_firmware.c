/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/ar_manager/firmware.h>
#include <string.h>

/* Bytes of GeneralInfo of the vendor's class, after its key. */
enum { DEVICE = 10, MAJOR = 41, MINOR = 42, SUB_MINOR = 43, PSID = 56, EXTENDED = 76 };

static uint32_t word_at(const uint8_t *data)
{
	return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

/* The short form of a version has the low bytes of its long form. */
static bool is_long_form(const uint8_t data[HD_FIRMWARE_DATA], const uint32_t version[3])
{
	return version[0] && (version[0] & 0xFF) == data[MAJOR] &&
	       (version[1] & 0xFF) == data[MINOR] && (version[2] & 0xFF) == data[SUB_MINOR];
}

void hd_firmware_decode(const uint8_t data[HD_FIRMWARE_DATA], struct hd_firmware *firmware)
{
	const uint32_t version[] = {word_at(data + EXTENDED), word_at(data + EXTENDED + 4),
				    word_at(data + EXTENDED + 8)};
	const bool extended = is_long_form(data, version);

	*firmware = (struct hd_firmware){
	    .device = (uint16_t)(data[DEVICE] << 8 | data[DEVICE + 1]),
	    .major = extended ? version[0] : data[MAJOR],
	    .minor = extended ? version[1] : data[MINOR],
	    .sub_minor = extended ? version[2] : data[SUB_MINOR],
	};
	memcpy(firmware->psid, data + PSID, HD_FIRMWARE_PSID);
}
