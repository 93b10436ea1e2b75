/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_entries.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LID_WORDS ((HD_LID_LAST + 64u) / 64u)

const char *keys_entries_switch_name(const struct hd_fabric *fabric, uint32_t sw, char *buffer,
				     int size)
{
	snprintf(buffer, (size_t)size, "'%.64s' 0x%016" PRIx64, fabric->node_name[sw],
		 fabric->node_guid[sw]);
	return buffer;
}

/* Whether a port of a switch leads to another switch or to a host. */
static bool has_cable(const struct hd_fabric *fabric, uint32_t sw, uint8_t port)
{
	return port && port <= hd_node_ports(fabric, sw) &&
	       fabric->peer[hd_port_index(fabric, sw, port)] != HD_NONE;
}

static int check_lid(const struct hd_fabric *fabric, uint16_t lid, struct hd_error *err)
{
	uint32_t owner = lid < fabric->lid_count ? fabric->lid_owner[lid] : HD_NONE;

	if (owner == HD_NONE || hd_fabric_find_host(fabric, owner) == HD_NONE)
		return hd_error_set(err, -EINVAL, "LID %u is not one of a host", lid);
	if (fabric->lid[owner] == lid)
		return hd_error_set(err, -EINVAL,
				    "LID %u is a base LID: its routes are those of the engine, and "
				    "a key must use the LIDs above it",
				    lid);
	return 0;
}

static int find_one(const struct hd_fabric *fabric, const struct hd_key_entry *entry,
		    struct keys_entry *out, struct hd_error *err)
{
	uint32_t sw = hd_fabric_find_node(fabric, entry->switch_guid);
	char name[HD_LABEL_SIZE];

	if (sw == HD_NONE || !hd_is_switch(fabric, sw))
		return hd_error_set(err, -EINVAL,
				    "switch 0x%016" PRIx64 " is not in the fabric of OpenSM",
				    entry->switch_guid);
	if (!has_cable(fabric, sw, entry->port))
		return hd_error_set(err, -EINVAL, "port %u of switch %s has no cable", entry->port,
				    keys_entries_switch_name(fabric, sw, name, sizeof(name)));
	*out = (struct keys_entry){.sw = sw, .lid = entry->lid, .port = entry->port};
	return check_lid(fabric, entry->lid, err);
}

/* The LIDs of the entries, from a set of bits. */
static int list_lids(struct keys_entries *entries, struct hd_error *err)
{
	uint64_t *met = calloc(LID_WORDS, sizeof(*met));

	entries->lids = malloc(((size_t)entries->count + 1) * sizeof(*entries->lids));
	if (!met || !entries->lids) {
		free(met);
		return hd_error_no_memory(err);
	}
	for (uint32_t i = 0; i < entries->count; i++)
		met[entries->list[i].lid / 64] |= UINT64_C(1) << (entries->list[i].lid % 64);
	for (uint32_t word = 0; word < LID_WORDS; word++)
		for (uint64_t bits = met[word]; bits; bits &= bits - 1)
			entries->lids[entries->lid_count++] =
			    (uint16_t)(word * 64 + (uint32_t)__builtin_ctzll(bits));
	free(met);
	return 0;
}

int keys_entries_find(const struct hd_fabric *fabric, const struct hd_key_entry *entries,
		      uint32_t count, struct keys_entries *out, struct hd_error *err)
{
	struct keys_entries found = {.list = malloc(((size_t)count + 1) * sizeof(*found.list))};
	int rc = found.list ? 0 : hd_error_no_memory(err);

	for (; !rc && found.count < count; found.count++)
		rc = find_one(fabric, &entries[found.count], &found.list[found.count], err);
	if (!rc)
		rc = list_lids(&found, err);
	if (rc)
		keys_entries_release(&found);
	else
		*out = found;
	return rc;
}

void keys_entries_release(struct keys_entries *entries)
{
	free(entries->list);
	free(entries->lids);
	*entries = (struct keys_entries){0};
}

int keys_entries_append(struct keys_entries *sum, const struct keys_entries *more)
{
	const size_t count = (size_t)sum->count + more->count;
	struct keys_entry *list = realloc(sum->list, (count + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	if (more->count)
		memcpy(list + sum->count, more->list, more->count * sizeof(*list));
	sum->list = list;
	sum->count = (uint32_t)count;
	return 0;
}

int keys_entries_compare(const void *a, const void *b)
{
	const struct keys_entry *left = a, *right = b;

	if (left->sw != right->sw)
		return left->sw < right->sw ? -1 : 1;
	return left->lid < right->lid ? -1 : left->lid > right->lid;
}

void keys_entries_sort(struct keys_entries *entries)
{
	if (entries->count)
		qsort(entries->list, entries->count, sizeof(*entries->list), keys_entries_compare);
}

void keys_entries_write(const struct keys_entries *entries, struct hd_routes *routes)
{
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct keys_entry *entry = &entries->list[i];

		hd_routes_row(routes, entry->sw)[entry->lid] = entry->port;
	}
}

void keys_entries_revert(const struct keys_entries *entries, const struct hd_routes *base,
			 struct hd_routes *routes)
{
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct keys_entry *entry = &entries->list[i];

		hd_routes_row(routes, entry->sw)[entry->lid] =
		    hd_routes_row(base, entry->sw)[entry->lid];
	}
}

int keys_entries_pins(const struct keys_entries *entries, struct hd_ar_pins *out)
{
	struct hd_ar_pins pins = {.list =
				      malloc(((size_t)entries->count + 1) * sizeof(*pins.list))};

	if (!pins.list)
		return -ENOMEM;
	for (; pins.count < entries->count; pins.count++)
		pins.list[pins.count] = (struct hd_ar_pin){.sw = entries->list[pins.count].sw,
							   .lid = entries->list[pins.count].lid};
	*out = pins;
	return 0;
}
