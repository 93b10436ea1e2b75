/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* An entry as one number, whose order is that of the result: switches ascend by GUID. */
static uint64_t pack(uint32_t sw, uint32_t lid, uint8_t port)
{
	return (uint64_t)sw << 32 | (uint64_t)lid << 8 | port;
}

static int overlay_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int find_lid(const struct hd_fabric *fabric, uint32_t host, unsigned offset, uint32_t *lid,
		    struct hd_error *err)
{
	uint32_t port = fabric->host_port[host];
	char label[HD_LABEL_SIZE];

	if (offset < hd_port_lid_count(fabric, port)) {
		*lid = fabric->lid[port] + offset;
		return 0;
	}
	hd_port_label(fabric, port, label, sizeof(label));
	if (!fabric->lid[port])
		return hd_error_set(err, -ERANGE, "%s has no LID", label);
	return hd_error_set(
	    err, -ERANGE, "%s has no LID with offset %u: its LMC is %u, so its offsets are 0 .. %u",
	    label, offset, fabric->lmc[port], hd_port_lid_count(fabric, port) - 1);
}

/* Adds the entries of one route; returns their number. */
static uint32_t list_hops(const struct hd_key_tree *tree, const struct hd_key_route *route,
			  const struct hd_key_shift *shift, uint32_t lid, uint64_t *packed)
{
	const struct hd_fabric *fabric = tree->fabric;
	uint32_t links[2 * HD_KEY_LEVELS];
	uint32_t count = hd_key_path(tree, route, shift, links);

	for (uint32_t hop = 0; hop < count; hop++)
		packed[hop] =
		    pack(hd_isl_from(fabric, links[hop]), lid, fabric->isl_port[links[hop]]);
	packed[count] = pack(fabric->host_switch[route->destination], lid,
			     fabric->host_switch_port[route->destination]);
	return count + 1;
}

static int list_routes(const struct hd_key_tree *tree, const struct hd_key *key,
		       const struct hd_key_shift *shift, unsigned first_offset, uint64_t *packed,
		       uint32_t *count, struct hd_error *err)
{
	for (uint32_t i = 0; i < key->flow_count; i++) {
		const struct hd_key_route *route = &key->routes[i];
		uint32_t lid = 0;
		if (route->left_out)
			continue;
		int rc = find_lid(tree->fabric, route->destination, first_offset + route->offset,
				  &lid, err);
		if (rc)
			return rc;
		*count += list_hops(tree, route, shift, lid, packed + *count);
	}
	return 0;
}

int hd_key_overlay(const struct hd_key_tree *tree, const struct hd_key *key,
		   const struct hd_key_shift *shift, unsigned first_offset,
		   struct hd_key_overlay *out, struct hd_error *err)
{
	size_t most = (size_t)key->flow_count * (2 * tree->top + 1);
	uint64_t *packed = malloc((most + 1) * sizeof(*packed));
	struct hd_key_entry *entries = NULL;
	uint32_t count = 0;
	int rc = packed ? 0 : hd_error_no_memory(err);

	if (!rc)
		rc = list_routes(tree, key, shift, first_offset, packed, &count, err);
	if (!rc) {
		entries = malloc(((size_t)count + 1) * sizeof(*entries));
		rc = entries ? 0 : hd_error_no_memory(err);
	}
	if (!rc) {
		qsort(packed, count, sizeof(*packed), overlay_compare);
		/* Each entry once. Two ports for one LID of a switch would be a defect. */
		const struct hd_fabric *fabric = tree->fabric;
		uint32_t kept = 0;
		for (uint32_t i = 0; i < count; i++) {
			if (i && packed[i] == packed[i - 1])
				continue;
			assert(!i || packed[i] >> 8 != packed[i - 1] >> 8);
			entries[kept++] =
			    (struct hd_key_entry){.switch_guid = fabric->node_guid[packed[i] >> 32],
						  .lid = (uint16_t)(packed[i] >> 8),
						  .port = (uint8_t)packed[i]};
		}
		out->count = kept;
		out->entries = entries;
	}
	free(packed);
	return rc;
}

void hd_key_overlay_release(struct hd_key_overlay *overlay)
{
	free(overlay->entries);
	*overlay = (struct hd_key_overlay){0};
}
