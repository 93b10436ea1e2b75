/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lane_shortage.h"
#include "settings.h"
#include "virtual_lanes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add_text(struct hd_error *err, const char *format, ...) HD_PRINTF(2, 3);

static void add_text(struct hd_error *err, const char *format, ...)
{
	size_t used = strlen(err->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(err->text + used, sizeof(err->text) - used, format, arguments);
	va_end(arguments);
}

void lane_shortage_explain(const struct hd_config *config, const struct hd_engine *engine,
			   const struct virtual_lanes *lanes, unsigned for_unicast,
			   struct hd_error *err)
{
	unsigned wanted = settings_vls(config, engine);

	if (wanted && wanted < for_unicast) {
		add_text(err, "; vls = %u in section [%s] of heddle.conf allows no more", wanted,
			 engine->name);
		return;
	}
	if (*lanes->reason)
		add_text(err, "; %s", lanes->reason);
	if (for_unicast + 1 < lanes->count)
		add_text(err, "; multicast_sl = %u in section [heddle] leaves unicast no more",
			 for_unicast);
	else if (for_unicast < lanes->count)
		add_text(err, "; multicast_share reserves one for multicast");
}
