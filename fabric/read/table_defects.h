/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What readers find wrong with tables that can be read all the same. */
#ifndef FABRIC_TABLE_DEFECTS_H
#define FABRIC_TABLE_DEFECTS_H

#include <heddle/fabric/read.h>

/* Counts a defect and keeps its text if there is room. Errors: -ENOMEM. */
int table_defects_add(struct hd_table_defects *defects, enum hd_table_defect_kind kind,
		      const char *text, struct hd_error *err);

#endif
