/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "machines_source.h"

#include <string.h>

static const char *const words[] = {[HD_MACHINES_ALONE] = "none",
				    [HD_MACHINES_AUTO] = "auto",
				    [HD_MACHINES_NAME] = "name",
				    [HD_MACHINES_SYSTEM_GUID] = "system-guid",
				    [HD_MACHINES_FILE] = "file"};

int machines_source_take(const struct typed *typed, void *place)
{
	struct machines_source *source = place;

	*source = (struct machines_source){.by = HD_MACHINES_FILE};
	for (int by = HD_MACHINES_AUTO; by < HD_MACHINES_FILE; by++)
		if (!strcmp(typed->text, words[by]))
			source->by = (enum hd_machines_by)by;
	if (source->by == HD_MACHINES_FILE)
		source->file = arguments_path(typed->text);
	return 0;
}

int machines_source_load(const struct machines_source *source, const struct hd_fabric *fabric,
			 struct hd_machines **out, struct hd_error *err)
{
	if (source->by == HD_MACHINES_FILE)
		return hd_machines_read(fabric, source->file, out, err);
	return hd_machines_find(
	    fabric, source->by == HD_MACHINES_ALONE ? HD_MACHINES_AUTO : source->by, out, err);
}

const char *machines_source_word(enum hd_machines_by by)
{
	return words[by];
}
