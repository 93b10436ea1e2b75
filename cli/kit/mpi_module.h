/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the module heddle-mpi.so offers the command. It alone is linked with MPI, so that the command
 * needs MPI only where mpirun or srun starts several processes of it.
 */
#ifndef CLI_MPI_MODULE_H
#define CLI_MPI_MODULE_H

#include <heddle/base/error.h>
#include <stddef.h>
#include <stdint.h>

#define MPI_MODULE_SYMBOL "hd_mpi_module"
#define MPI_MODULE_HOST 256 /* bytes of a host's name */

struct mpi_module_world {
	uint32_t part, parts;
	unsigned threads; /* processors of this host for each of its processes */
};

struct mpi_module {
	const char *version; /* of Heddle: that of the command */

	/*
	 * Joins the other processes, and watches them: if one ends before end(), the others would wait
	 * for it for ever, and so they end, too, all with the exit status `bad`. One of them or more
	 * call `lost` before that, in a thread of its own, with the number and host of the lost one, or
	 * NULL if not all have joined within minutes.
	 * Errors: -ENOTSUP this MPI cannot join what this launcher started, -EIO.
	 */
	int (*begin)(struct mpi_module_world *world, void (*lost)(uint32_t part, const char *host),
		     int bad, struct hd_error *err);

	/* Waits for the others, and leaves them. */
	void (*end)(void);

	/*
	 * Numbers 0, 1, 2 ... of which each goes to one process: deal() begins with 0. All must call it,
	 * and nobody may call next() before. Several threads may call next().
	 */
	void (*deal)(void);
	uint64_t (*next)(void);

	/* Adds up words over all processes, or takes their minima. All must call it. Errors: -EIO. */
	int (*add_up)(uint64_t *words, size_t count);
	int (*least)(uint64_t *words, size_t count);
};

#endif
