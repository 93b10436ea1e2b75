/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tree_fabric.h"

#include <heddle/base/options.h>
#include <heddle/fabric/generate.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void tree_fabric_stop(const struct hd_error *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

struct hd_fabric *tree_fabric(const char *children, const char *parents)
{
	const struct hd_generator *xgft = hd_generator_find("xgft");
	struct hd_options *options = hd_options_new(xgft->options, xgft->option_count);
	struct hd_error err = {""};
	struct hd_fabric *fabric;

	if (!options || hd_options_set(options, "children", children, &err) ||
	    hd_options_set(options, "parents", parents, &err) ||
	    xgft->generate(options, &fabric, &err))
		tree_fabric_stop(&err);
	hd_options_free(options);
	return fabric;
}
