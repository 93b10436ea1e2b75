/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables that have replaced those of the sweep since: routing keys do that. */
#ifndef OPENSM_REPAIR_ADOPT_H
#define OPENSM_REPAIR_ADOPT_H

#include <heddle/change/repair.h>

struct routing;

/*
 * If `published` differs from *held in its keys alone, it replaces *held, and *in_place and *base become those of
 * its tables. The caller has `published` held, and it is taken over; NULL: it is not ours. Errors: -ECANCELED it
 * is another routing, or go_on says no; -ELOOP, -ENOMEM.
 */
int repair_adopt(struct routing *published, struct routing **held, struct hd_routes **in_place,
		 struct hd_repair_base **base, unsigned threads, const struct hd_go_on *go_on,
		 struct hd_error *err);

#endif
