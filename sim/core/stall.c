/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stall.h"

bool stall_search(struct hd_sim *sim)
{
	(void)sim;
	return false;
}

void stall_check(struct hd_sim *sim)
{
	if (stall_search(sim))
		sim->deadlocked = true;
}
