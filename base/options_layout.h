/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The content of hd_options. Engine modules have a copy of options.c, possibly an older one, and read
 * the options of their host with it: a change here changes HD_ENGINE_ABI. */
#ifndef BASE_OPTIONS_LAYOUT_H
#define BASE_OPTIONS_LAYOUT_H

#include <heddle/base/options.h>

struct hd_options {
	const struct hd_option *table;
	unsigned count;
	struct hd_option_value *values;
	char **owned; /* text of given values */
};

#endif
