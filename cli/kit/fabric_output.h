/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics written in the format that --format names. */
#ifndef CLI_FABRIC_OUTPUT_H
#define CLI_FABRIC_OUTPUT_H

#include <heddle/fabric.h>

#define CLI_FABRIC_FORMATS "netlist or dot"

struct cli_fabric_format; /* "netlist", "dot" */

/* NULL after a message when there is no such format. */
const struct cli_fabric_format *cli_fabric_format(const char *name);

/* Writes to `path` (NULL or "-": standard output); the exit status. */
int cli_fabric_save(const struct hd_fabric *fabric, const struct cli_fabric_format *format,
		    const char *path);

#endif
