/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writers of plans, in the forms of the dumps that tools read. Each flushes the stream, which stays
 * the caller's. Errors: the errno of the stream.
 */
#ifndef HEDDLE_AR_MANAGER_WRITE_H
#define HEDDLE_AR_MANAGER_WRITE_H

#include <heddle/ar_manager/codec.h>
#include <heddle/ar_manager/plan.h>
#include <stdio.h>

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
