/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as the allocation of jobs to the hosts of a small fabric. */
#include "fuzzing.h"

#include <heddle/analysis/allocation.h>

static const char topology[] =
    "switchguid=0x200000(200000)\n"
    "Switch 5 \"S-0000000000200000\" # \"leaf\" base port 0 lid 13 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"node1 mlx5_0\" lid 1 4xEDR\n"
    "[2] \"H-0000000000100010\"[1](100011) # \"node02.site.org HCA-1\" lid 2 4xEDR\n"
    "[3] \"H-0000000000100020\"[1](100021) # \"gpu10\" lid 3 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"node1 mlx5_0\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 1 lmc 0 \"leaf\" lid 13 4xEDR\n"
    "Ca 1 \"H-0000000000100010\" # \"node02.site.org HCA-1\"\n"
    "[1](100011) \"S-0000000000200000\"[2] # lid 2 lmc 0 \"leaf\" lid 13 4xEDR\n"
    "Ca 1 \"H-0000000000100020\" # \"gpu10\"\n"
    "[1](100021) \"S-0000000000200000\"[3] # lid 3 lmc 0 \"leaf\" lid 13 4xEDR\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hd_fabric *fabric = fabric_of(topology);
	const struct hd_text text = {.bytes = (const char *)data, .length = size, .name = "jobs"};
	struct hd_allocation *allocation = NULL;
	struct hd_error err = {""};
	uint32_t hosts = 0;

	if (hd_allocation_parse(&text, fabric, NULL, &allocation, &err)) {
		demand(!allocation && err.text[0]);
		return 0;
	}
	demand(allocation->job_count > 0);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t job = allocation->host_job[host];
		demand(job < allocation->job_count || job >= HD_SEVERAL_JOBS);
		demand(hd_allocation_name(allocation, job) != NULL);
		hosts += job != HD_NONE;
	}
	demand(hosts == allocation->hosts);
	hd_allocation_free(allocation);
	return 0;
}
