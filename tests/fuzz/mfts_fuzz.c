/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as the multicast tables of one small fabric. What is accepted must fit the fabric
 * and can be checked. */
#include "fuzzing.h"

static const char topology[] =
    "switchguid=0x200000(2000aa)\n"
    "Switch 4 \"S-0000000000200000\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"h1\" lid 4 4xEDR\n"
    "[3] \"S-0000000000200001\"[3] # \"leaf2\" lid 2 4xEDR\n"
    "[4] \"S-0000000000200001\"[4] # \"leaf2\" lid 2 4xEDR\n"
    "switchguid=0x200001(200001)\n"
    "Switch 20 \"S-0000000000200001\" # \"leaf2\" base port 0 lid 2 lmc 0\n"
    "[1] \"H-0000000000100002\"[1](100003) # \"h2\" lid 6 4xEDR\n"
    "[3] \"S-0000000000200000\"[3] # \"leaf1\" lid 1 4xEDR\n"
    "[4] \"S-0000000000200000\"[4] # \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"h1\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 4 lmc 0 \"leaf1\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100002\" # \"h2\"\n"
    "[1](100003) \"S-0000000000200001\"[1] # lid 6 lmc 0 \"leaf2\" lid 2 4xEDR\n";

static void check_entry(const struct hd_fabric *fabric, const struct hd_mft_entry *entry)
{
	demand(entry->mlid >= HD_MLID_FIRST && entry->mlid <= HD_MLID_LAST);
	demand(entry->sw < fabric->switch_count);
	for (uint32_t port = hd_node_ports(fabric, entry->sw) + 1; port < HD_PORT_SET_SIZE; port++)
		demand(!hd_port_set_has(&entry->ports, port));
}

static void check_group(const struct hd_fabric *fabric, const struct hd_mfts *mfts, uint32_t mlid)
{
	struct hd_mft_report *report = NULL;
	struct hd_mft_group group = {.source = HD_NONE};

	group.entries = hd_mfts_group(mfts, mlid, &group.entry_count);
	demand(group.entry_count && group.entry_count <= fabric->switch_count);
	demand(hd_mft_check(fabric, &group, &report, NULL) == 0);
	hd_mft_report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hd_fabric *fabric = fabric_of(topology);
	struct hd_mfts *mfts = NULL;
	struct hd_error err = {""};

	if (hd_mfts_parse((const char *)data, size, "mfts", fabric, NULL, &mfts, &err)) {
		demand(!mfts && err.text[0]);
		return 0;
	}
	for (uint32_t i = 0; i < mfts->count; i++) {
		check_entry(fabric, &mfts->entries[i]);
		check_group(fabric, mfts, mfts->entries[i].mlid);
	}
	hd_mfts_free(mfts);
	return 0;
}
