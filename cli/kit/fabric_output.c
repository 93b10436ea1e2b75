/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_output.h"
#include "message.h"
#include "output.h"
#include "status.h"

#include <string.h>

struct fabric_output_format {
	const char *name;
	int (*write)(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);
};

static const struct fabric_output_format formats[] = {
    {"netlist", hd_fabric_write_netlist},
    {"dot", hd_fabric_write_dot},
};

const struct fabric_output_format *fabric_output_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	message_error("option '--format': '%s' is not one of " FABRIC_OUTPUT_FORMATS, name);
	return NULL;
}

int fabric_output_save(const struct hd_fabric *fabric, const struct fabric_output_format *format,
		       const char *path)
{
	struct hd_error err = {""};
	struct output output;
	int rc = output_open(&output, path, &err);

	if (!rc) {
		int written = format->write(fabric, output.stream, &err);
		rc = output_close(&output, written, &err);
	}
	return rc ? message_fail(&err) : STATUS_CLEAN;
}
