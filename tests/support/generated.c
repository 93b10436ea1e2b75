/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "generated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int generated_set(struct hd_options *options, const char *settings, struct hd_error *err)
{
	char *copy = strdup(settings), *rest = copy;
	int rc = copy ? 0 : hd_error_no_memory(err);

	for (char *pair; !rc && (pair = strsep(&rest, " "));)
		if (*pair)
			rc = hd_options_set_pair(options, pair, err);
	free(copy);
	return rc;
}

int generated_fabric(const char *kind, const char *settings, struct hd_fabric **out,
		     struct hd_error *err)
{
	const struct hd_generator *generator = hd_generator_find(kind);

	if (!generator)
		return hd_error_set(err, -ENOENT, "no generator '%s'", kind);
	struct hd_options *options = hd_options_new(generator->options, generator->option_count);
	int rc = options ? generated_set(options, settings, err) : hd_error_no_memory(err);
	if (!rc)
		rc = generator->generate(options, out, err);
	hd_options_free(options);
	return rc;
}
