/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as a file of the vendor's AR manager: accepted, or refused with a reason. */
#include "fuzzing.h"

#include <heddle/ar_manager.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hd_text text = {
	    .bytes = (const char *)data, .length = size, .name = "ar_mgr.conf"};
	struct hd_ar_config config = {.mode = HD_AR_BOUNDED};
	struct hd_error err = {""};

	if (hd_ar_legacy_parse(&text, NULL, &config, &err))
		demand(err.text[0] && !config.switch_count);
	demand(config.settings.sl_mask <= 0xFFFF);
	demand(config.mode == HD_AR_BOUNDED || config.mode == HD_AR_FREE);
	hd_ar_config_release(&config);
	return 0;
}
