/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an administrator says about adaptive routing: [ar], [ar.switch GUID] and [ar.quirks] of
 * heddle.conf, and the vendor's file that ar.legacy_conf names. */
#ifndef OPENSM_AR_SETTINGS_H
#define OPENSM_AR_SETTINGS_H

#include "log.h"

#include <heddle/ar_manager/site.h>

/* Zero-initialise before use. */
struct ar_settings {
	struct hd_ar_config config;
	struct hd_ar_quirks quirks;
	bool legacy; /* `config` comes from a vendor's file */
	char fault[HD_ERROR_TEXT]; /* what the log said of that file last */
};

/*
 * Reads the values again. `named`: the engine's name asks for AR, as ar_dmodk does. A vendor's file
 * that is bad keeps the last good values, and the log says what is wrong, once. If there were none,
 * AR stays off. Without memory nothing changes.
 */
void ar_settings_read(struct ar_settings *settings, const struct hd_config *values, bool named,
		      struct opensm_log *log);

/* Whether adaptive routing can be on with these values: also if they are bad, because the values in force
 * before, which may enable it, then stay. `named` as above. */
bool ar_settings_may_enable(const struct hd_config *values, bool named);

/* Whether adaptive routing is on with private tables, by these values: DFP. `named` as above. */
bool ar_settings_may_be_private(const struct hd_config *values, bool named);

/* An independent copy, to be released. Errors: -ENOMEM. */
int ar_settings_copy(const struct ar_settings *settings, struct ar_settings *out);
void ar_settings_release(struct ar_settings *settings);

#endif
