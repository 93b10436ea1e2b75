/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of names in Slurm's short form: "node[08-10,12],login1". */
#ifndef FABRIC_WRITE_HOSTLIST_H
#define FABRIC_WRITE_HOSTLIST_H

#include <stdint.h>
#include <stdio.h>

/* Writes the names, which are sorted for that. Names that differ only in the number at their end
 * share a pair of brackets. Cost: O(count log count). */
void write_hostlist(const char **names, uint32_t count, FILE *stream);

#endif
