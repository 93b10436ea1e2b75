/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle why asks a running OpenSM for. */
#ifndef CLI_WHY_LIVE_H
#define CLI_WHY_LIVE_H

#include "plugin_answer.h"

#define WHY_LIVE_NAME "OpenSM" /* of its answers in messages */

/* Answers of the plugin as texts; NULL: not asked for. Zero-initialise before use. */
struct why_live {
	char *fabric, *tables, *counters;
};

/* Asks for the fabric, the counters and, if they are wanted, the tables. To be released also after an error. Errors:
 * those of plugin_answer_get(); -ENODATA the plugin does not know it, with what to do. */
int why_live_ask(const struct plugin_address *address, bool tables, struct why_live *live,
		 struct hd_error *err);

void why_live_release(struct why_live *live);

#endif
