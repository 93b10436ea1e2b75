/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as a topology file, after unpacking if they are gzip's. What is accepted must
 * survive being written and read again. */
#include "fuzzing.h"

#include <heddle/base/gzip.h>

#define UNPACKED_LARGEST (1u << 20)

static void check_round_trip(const struct hd_fabric *fabric)
{
	char *text = NULL;
	size_t length = 0;
	struct hd_fabric *back = NULL;
	FILE *stream = open_memstream(&text, &length);

	demand(stream != NULL);
	demand(hd_fabric_write_netlist(fabric, stream, NULL) == 0);
	fclose(stream);
	demand(hd_fabric_parse(text, length, "again", NULL, &back, NULL) == 0);
	demand(back->node_count == fabric->node_count && back->port_count == fabric->port_count);
	demand(!memcmp(back->peer, fabric->peer, fabric->port_count * sizeof(*fabric->peer)));
	demand(!memcmp(back->lid, fabric->lid, fabric->port_count * sizeof(*fabric->lid)));
	demand(!memcmp(back->node_guid, fabric->node_guid,
		       fabric->node_count * sizeof(*fabric->node_guid)));
	hd_fabric_free(back);
	free(text);
}

static void check_text(const struct hd_text *text)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (hd_fabric_parse(text->bytes, text->length, "topo", NULL, &fabric, &err)) {
		demand(!fabric && err.text[0]);
		return;
	}
	demand(fabric->lid_count <= HD_LID_LAST + 1);
	check_round_trip(fabric);
	FILE *nowhere = fopen("/dev/null", "w");
	demand(nowhere && hd_fabric_write_dot(fabric, nowhere, NULL) == 0);
	fclose(nowhere);
	hd_fabric_free(fabric);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hd_text text = {.bytes = (const char *)data, .length = size, .name = "topo"};
	struct hd_error err = {""};

	if (hd_gzip_unpack(&text, UNPACKED_LARGEST, &err)) {
		demand(err.text[0]);
		return 0;
	}
	check_text(&text);
	hd_text_close(&text);
	return 0;
}
