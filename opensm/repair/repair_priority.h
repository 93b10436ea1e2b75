/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The priority of the writer's thread in a repair: the sweep's many threads run meanwhile. */
#ifndef OPENSM_REPAIR_PRIORITY_H
#define OPENSM_REPAIR_PRIORITY_H

/*
 * Adds to the nice value of the calling thread, and of threads that it starts from now on; 0: nothing
 * changes. Returns the usual value, for repair_priority_restore(). If the thread may not have the new
 * value, it keeps the usual one.
 */
int repair_priority_raise(int added);

void repair_priority_restore(int usual, int added);

#endif
