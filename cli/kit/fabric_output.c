/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_output.h"
#include "message.h"
#include "output.h"
#include "status.h"

typedef int write_fn(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

static write_fn *const writers[] = {
    [FABRIC_OUTPUT_NETLIST] = hd_fabric_write_netlist,
    [FABRIC_OUTPUT_DOT] = hd_fabric_write_dot,
    [FABRIC_OUTPUT_SLURM] = hd_fabric_write_slurm,
    [FABRIC_OUTPUT_GRAPHML] = hd_fabric_write_graphml,
};

int fabric_output_save(const struct hd_fabric *fabric, enum fabric_output_format format,
		       const char *path)
{
	struct hd_error err = {""};
	struct output output;
	int rc = output_open(&output, path, &err);

	if (!rc) {
		int written = writers[format](fabric, output.stream, &err);
		/* Reasons that lie in the fabric stay as they are. */
		rc = ferror(output.stream) ? output_close(&output, written, &err)
					   : output_close_all(&output, 1, written, &err);
	}
	return rc ? message_fail(&err) : STATUS_CLEAN;
}
