/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_priority.h"

#include <sys/resource.h>
#include <unistd.h>

int repair_priority_raise(int added)
{
	const id_t self = (id_t)gettid();
	const int usual = getpriority(PRIO_PROCESS, self);

	if (added)
		setpriority(PRIO_PROCESS, self, usual + added);
	return usual;
}

void repair_priority_restore(int usual, int added)
{
	if (added)
		setpriority(PRIO_PROCESS, (id_t)gettid(), usual);
}
