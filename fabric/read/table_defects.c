/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table_defects.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16u

static int grow(struct hd_table_defects *defects, struct hd_error *err)
{
	size_t room = defects->room ? 2 * defects->room : ROOM_FIRST;
	struct hd_table_defect *list = reallocarray(defects->list, room, sizeof(*list));

	if (!list)
		return hd_error_no_memory(err);
	defects->list = list;
	defects->room = room;
	return 0;
}

int table_defects_add(struct hd_table_defects *defects, enum hd_table_defect_kind kind,
		      const char *text, struct hd_error *err)
{
	defects->count++;
	if (defects->kept == HD_TABLE_DEFECTS_KEPT)
		return 0;
	int rc = defects->kept == defects->room ? grow(defects, err) : 0;
	if (rc)
		return rc;
	char *copy = strdup(text);
	if (!copy)
		return hd_error_no_memory(err);
	defects->list[defects->kept++] = (struct hd_table_defect){kind, copy};
	return 0;
}

void hd_table_defects_release(struct hd_table_defects *defects)
{
	for (size_t i = 0; i < defects->kept; i++)
		free(defects->list[i].text);
	free(defects->list);
	*defects = (struct hd_table_defects){0};
}
