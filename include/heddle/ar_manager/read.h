/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads plans that hd_ar_write_far() wrote. */
#ifndef HEDDLE_AR_MANAGER_READ_H
#define HEDDLE_AR_MANAGER_READ_H

#include <heddle/ar_manager/plan.h>
#include <heddle/base/text.h>

/*
 * Reads a .far file into a plan of the fabric; *out is freed with hd_ar_plan_free(). Nothing of it
 * is proved. Entries that the file does not have are static, without a port. The algorithm of the
 * plan is DFP where it has several tables, else AUTO. Errors, with the line: -EINVAL a line that is
 * not of the form, a switch, LID or port that the fabric does not have, a group that is not
 * defined, bounded and free entries in one file, a switch, LID or group that is given twice; -ENODATA
 * no switch; -ENOTSUP several tables for a fabric that is no Dragonfly+; -ENOMEM. Cost: O(bytes + switches * LIDs).
 */
int hd_ar_read_far(const struct hd_text *text, const struct hd_fabric *fabric,
		   struct hd_ar_plan **out, struct hd_error *err);

#endif
