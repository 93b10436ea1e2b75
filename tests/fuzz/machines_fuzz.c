/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as the machines of a small fabric, and as the names of its adapters. */
#include "fuzzing.h"

#include <heddle/base/text.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/machines.h>
#include <stdio.h>
#include <string.h>

static const char topology[] =
    "switchguid=0x200000(200000)\n"
    "Switch 5 \"S-0000000000200000\" # \"leaf\" base port 0 lid 13 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"gpu1 mlx5_0\" lid 1 4xEDR\n"
    "[2] \"H-0000000000100010\"[1](100011) # \"gpu1 mlx5_1\" lid 2 4xEDR\n"
    "[3] \"H-0000000000100020\"[1](100021) # \"gpu2\" lid 3 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"gpu1 mlx5_0\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 1 lmc 0 \"leaf\" lid 13 4xEDR\n"
    "Ca 1 \"H-0000000000100010\" # \"gpu1 mlx5_1\"\n"
    "[1](100011) \"S-0000000000200000\"[2] # lid 2 lmc 0 \"leaf\" lid 13 4xEDR\n"
    "Ca 1 \"H-0000000000100020\" # \"gpu2\"\n"
    "[1](100021) \"S-0000000000200000\"[3] # lid 3 lmc 0 \"leaf\" lid 13 4xEDR\n";

static void demand_whole(const struct hd_fabric *fabric, const struct hd_machines *machines)
{
	demand(machines->count > 0 && machines->count <= fabric->host_count);
	demand(machines->base[machines->count] == fabric->host_count);
	for (uint32_t i = 0; i < machines->count; i++) {
		demand(hd_machines_size(machines, i) > 0 && machines->name[i]);
		for (uint32_t at = machines->base[i]; at < machines->base[i + 1]; at++)
			demand(machines->of_host[machines->host[at]] == i);
	}
}

/* The lines of the input are the names of its adapters. */
static struct hd_fabric *rename_adapters(const struct hd_fabric *fabric, const uint8_t *data,
					 size_t size)
{
	struct hd_builder *builder = hd_builder_from(fabric);
	struct hd_fabric *renamed = NULL;
	struct hd_error err;
	size_t at = 0;

	for (uint32_t node = fabric->switch_count; node < fabric->node_count; node++) {
		char name[HD_NAME_SIZE];
		size_t length = 0;
		while (at < size && data[at] && data[at] != '\n' && length + 1 < sizeof(name))
			name[length++] = (char)data[at++];
		name[length] = '\0';
		at += at < size;
		hd_builder_set_name(builder, node, name);
	}
	if (hd_builder_build(builder, &renamed, &err))
		renamed = NULL;
	hd_builder_free(builder);
	return renamed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hd_fabric *fabric = fabric_of(topology);
	struct hd_fabric *renamed = rename_adapters(fabric, data, size);
	struct hd_machines *machines = NULL;
	struct hd_error err = {""};

	if (hd_machines_parse(fabric, (const char *)data, size, "machines", &machines, &err))
		demand(!machines && err.text[0]);
	else
		demand_whole(fabric, machines);
	hd_machines_free(machines);
	machines = NULL;
	if (renamed) {
		demand(!hd_machines_find(renamed, HD_MACHINES_AUTO, &machines, &err));
		demand_whole(renamed, machines);
	}
	hd_machines_free(machines);
	hd_fabric_free(renamed);
	return 0;
}
