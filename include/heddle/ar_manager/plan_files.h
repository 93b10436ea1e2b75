/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readers and writers of plans. */
#ifndef HEDDLE_AR_MANAGER_PLAN_FILES_H
#define HEDDLE_AR_MANAGER_PLAN_FILES_H

#include <heddle/ar_manager/codec.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/base/text.h>
#include <stdio.h>

/* ---- reading ---- */

/* Reads plans that hd_ar_write_far() wrote. */

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

/* ---- writing ---- */

/*
 * Writers of plans, in the forms of the dumps that tools read. Each flushes the stream, which stays
 * the caller's. Errors: the errno of the stream.
 */

/*
 * A .far file: for each switch its groups, with a list of ports for each sub-group, and its LIDs
 * with static port, state and group (- if the entry is static).
 *
 *   Switch 0x0000000000200000 ('leaf1') table 0
 *   (Group - Sub-group) : Ports
 *   0 - 0 : 5, 6, 7,
 *   LID : Static port : State : Group
 *   0x0004 : 5 : free : 0
 *   0x0005 : 1 : static : -
 */
int hd_ar_write_far(const struct hd_ar_plan *plan, const struct hd_fabric *fabric, FILE *stream,
		    struct hd_error *err);

/* Names of the columns of AR_INFO, and the row of one switch. */
int hd_ar_write_info_begin(FILE *stream, struct hd_error *err);
int hd_ar_write_info_row(uint64_t guid, const struct hd_ar_info *info, FILE *stream,
			 struct hd_error *err);
int hd_ar_write_info_end(FILE *stream, struct hd_error *err);

#endif
