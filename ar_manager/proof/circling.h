/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dependencies that lie on loops of graphs that are collected. */
#ifndef AR_MANAGER_CIRCLING_H
#define AR_MANAGER_CIRCLING_H

#include "proving.h"

#include <heddle/ar_manager/circling.h>

/* Whether the graphs have a loop: 0, -ELOOP, or -ENOMEM; without a reason. */
int circling_look(struct proving *proving);

/* Lists the dependencies on loops, but those that `known` has (NULL: none). `out` is empty before. Errors:
 * -ENOMEM, without a reason. */
int circling_list(struct proving *all, const struct proving *known, struct hd_ar_circling *out);

#endif
