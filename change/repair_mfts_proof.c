/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_mfts_work.h"

#include <errno.h>

/* The entry at the other end of a port, if both ends have the cable; HD_NONE: the port leads to an
 * adapter or is the switch itself. */
static int follow(const struct repair_mfts_work *work, const struct hd_mft_entry *entries,
		  uint32_t sw, uint32_t port, uint32_t *next, struct hd_error *err)
{
	const struct hd_fabric *fabric = work->request->damaged;
	uint32_t mlid = entries->mlid;

	*next = HD_NONE;
	if (port > hd_node_ports(fabric, sw))
		return hd_error_set(err, -EINVAL, "MLID 0x%X: switch '%s' has no port %u", mlid,
				    fabric->node_name[sw], port);
	uint32_t index = hd_port_index(fabric, sw, port);
	uint32_t peer = port ? fabric->peer[index] : index;
	if (peer == HD_NONE)
		return hd_error_set(err, -EINVAL, "MLID 0x%X: '%s'[%u] has no cable", mlid,
				    fabric->node_name[sw], port);
	uint32_t far = fabric->port_node[peer];
	if (!port || !hd_is_switch(fabric, far))
		return 0;
	*next = work->entry[far];
	if (*next == HD_NONE ||
	    !hd_port_set_has(&entries[*next].ports, hd_port_number(fabric, peer)))
		return hd_error_set(err, -EINVAL,
				    "MLID 0x%X: '%s'[%u] sends to '%s', which does not send back",
				    mlid, fabric->node_name[sw], port, fabric->node_name[far]);
	return 0;
}

/* Follows all ports of the switches that can be reached from the first entry: *met of them, with *ends
 * of cables between them. */
static int search(struct repair_mfts_work *work, const struct hd_mft_entry *entries, uint32_t *met,
		  uint32_t *ends, struct hd_error *err)
{
	*met = 1;
	*ends = 0;
	work->queue[0] = 0;
	work->seen[0] = true;
	for (uint32_t done = 0; done < *met; done++) {
		const struct hd_mft_entry *at = &entries[work->queue[done]];
		HD_PORT_SET_FOREACH(port, &at->ports) {
			uint32_t next;
			int rc = follow(work, entries, at->sw, port, &next, err);
			if (rc)
				return rc;
			*ends += next != HD_NONE;
			if (next == HD_NONE || work->seen[next])
				continue;
			work->seen[next] = true;
			work->queue[(*met)++] = next;
		}
	}
	return 0;
}

int repair_mfts_proof(struct repair_mfts_work *work, const struct hd_mft_entry *entries,
		      uint32_t count, struct hd_error *err)
{
	uint32_t met, ends;
	int rc;

	if (!count)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		work->entry[entries[i].sw] = i;
		work->seen[i] = false;
	}
	rc = search(work, entries, &met, &ends, err);
	for (uint32_t i = 0; i < count; i++)
		work->entry[entries[i].sw] = HD_NONE;
	if (!rc && (met != count || ends != 2 * (count - 1)))
		rc = hd_error_set(err, -EINVAL,
				  "MLID 0x%X: the new entries of %u switches are not a tree",
				  entries->mlid, count);
	return rc;
}
