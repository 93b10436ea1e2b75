/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics written in the format that --format names. */
#ifndef CLI_FABRIC_OUTPUT_H
#define CLI_FABRIC_OUTPUT_H

#include <heddle/fabric.h>

#define FABRIC_OUTPUT_FORMATS "netlist|dot|slurm|graphml" /* in the order of the enum */

enum fabric_output_format {
	FABRIC_OUTPUT_NETLIST,
	FABRIC_OUTPUT_DOT,
	FABRIC_OUTPUT_SLURM,
	FABRIC_OUTPUT_GRAPHML
};

/* Writes to `path` (NULL or "-": standard output). The exit status. */
int fabric_output_save(const struct hd_fabric *fabric, enum fabric_output_format format,
		       const char *path);

#endif
