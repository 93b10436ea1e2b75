/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds what is lost, and what is left. */
#ifndef OPENSM_REPAIR_LOSSES_H
#define OPENSM_REPAIR_LOSSES_H

#include "repair_state.h"

/* Asks the issuers of traps, and makes repair->damaged. Errors: -ENODATA nothing is lost, -E2BIG, those
 * of repair_ask_run() and hd_repair_fabric(), with a reason. */
int repair_losses_find(struct repair *repair, const struct repair_issuers *issuers,
		       struct hd_error *err);

#endif
