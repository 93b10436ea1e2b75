/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of engines and generators as JSON. */
#ifndef CLI_OPTION_JSON_H
#define CLI_OPTION_JSON_H

#include <heddle/base/options.h>
#include <jansson.h>

/* { name, summary, options: [ { name, summary, type, default, ... } ] }; NULL: no memory. */
json_t *option_json_described(const char *name, const char *summary,
			      const struct hd_option *options, unsigned count);

#endif
