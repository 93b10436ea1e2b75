/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics written in the format that --format names. */
#ifndef CLI_FABRIC_OUTPUT_H
#define CLI_FABRIC_OUTPUT_H

#include <heddle/fabric.h>

#define FABRIC_OUTPUT_FORMATS "netlist or dot"

struct fabric_output_format; /* "netlist", "dot" */

/* NULL after a message when there is no such format. */
const struct fabric_output_format *fabric_output_format(const char *name);

/* Writes to `path` (NULL or "-": standard output); the exit status. */
int fabric_output_save(const struct hd_fabric *fabric, const struct fabric_output_format *format,
		       const char *path);

#endif
