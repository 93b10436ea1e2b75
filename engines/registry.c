/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "all_engines.h"

#include <string.h>

/* clang-format off */
static const struct hd_engine *const engines[] = {
    &hd_engine_dmodk,
    &hd_engine_updown,
    &hd_engine_spf,
    &hd_engine_turns,
    &hd_engine_rings,
    &hd_engine_multipath,
    &hd_engine_dfp,
    &hd_engine_auto,
    &hd_engine_issr,
    &hd_engine_isfr,
    &hd_engine_ark,
    &hd_engine_nrk,
    NULL,
};
/* clang-format on */

const struct hd_engine *const *hd_engines(unsigned *count)
{
	*count = sizeof(engines) / sizeof(engines[0]) - 1;
	return engines;
}

const struct hd_engine *hd_engine_find(const char *name)
{
	for (const struct hd_engine *const *engine = engines; *engine; engine++)
		if (!strcmp((*engine)->name, name))
			return *engine;
	return NULL;
}

const struct hd_engine_alias *hd_engine_aliases(unsigned *count)
{
	static const struct hd_engine_alias aliases[] = {
	    {"ar_updn", "updown"}, {"ar_ftree", "dmodk"}, {"ar_dor", "spf"}};

	*count = sizeof(aliases) / sizeof(aliases[0]);
	return aliases;
}
