/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether mpirun or srun started this process as one of several, by what they leave in its environment. */
#ifndef CLI_LAUNCHED_H
#define CLI_LAUNCHED_H

#include <stdbool.h>

struct launched {
	const char *by; /* "mpirun", "srun", or NULL: this process was started alone */
	unsigned count; /* processes that were started; 0: only MPI knows */
	unsigned local; /* number of this process among those on this host */
	bool strangers; /* srun gave the processes nothing by which they find each other */
};

/*
 * Reads the environment. Processes that srun started without PMI count only if slurmstepd is their
 * parent: a script between them may give each its own work.
 */
struct launched launched_read(void);

#endif
