/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_output.h"
#include "command.h"
#include "common.h"
#include "output.h"

#include <string.h>

struct cli_fabric_format {
	const char *name;
	int (*write)(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);
};

static const struct cli_fabric_format formats[] = {
    {"netlist", hd_fabric_write_netlist},
    {"dot", hd_fabric_write_dot},
};

const struct cli_fabric_format *cli_fabric_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	cli_error("option '--format': '%s' is not one of " CLI_FABRIC_FORMATS, name);
	return NULL;
}

int cli_fabric_save(const struct hd_fabric *fabric, const struct cli_fabric_format *format,
		    const char *path)
{
	struct hd_error err = {""};
	struct cli_output output;
	int rc = cli_output_open(&output, path, &err);

	if (!rc) {
		int written = format->write(fabric, output.stream, &err);
		rc = cli_output_close(&output, written, &err);
	}
	return rc ? cli_fail(&err) : CLI_CLEAN;
}
