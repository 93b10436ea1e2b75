/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The entries of routing keys as places in tables. */
#ifndef OPENSM_KEYS_ENTRIES_H
#define OPENSM_KEYS_ENTRIES_H

#include <heddle/ar_manager/pins.h>
#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <heddle/keyd/key.h>

struct keys_entry {
	uint32_t sw; /* row of the tables */
	uint16_t lid;
	uint8_t port;
};

struct keys_entries {
	uint32_t count;
	struct keys_entry *list; /* [count] ascending by switch, then LID */
	uint32_t lid_count;
	uint16_t *lids; /* [lid_count] that they are for; ascending, each once */
};

/*
 * Finds the switches of entries, and judges each entry on its own. *out is released with
 * keys_entries_release(). Errors: -EINVAL a switch is not in the fabric, a port has no cable, or a
 * LID is not above the base LID of a host, with the reason; -ENOMEM. O(entries log switches + LIDs).
 */
int keys_entries_find(const struct hd_fabric *fabric, const struct hd_key_entry *entries,
		      uint32_t count, struct keys_entries *out, struct hd_error *err);

void keys_entries_release(struct keys_entries *entries);

/* Appends places to a list. Errors: -ENOMEM. */
int keys_entries_append(struct keys_entries *sum, const struct keys_entries *more);

/* The order of two struct keys_entry, for qsort(). */
int keys_entries_compare(const void *a, const void *b);

/* Puts a list in order to which places were appended. O(entries log entries). */
void keys_entries_sort(struct keys_entries *entries);

/* Writes the ports into tables. */
void keys_entries_write(const struct keys_entries *entries, struct hd_routes *routes);

/* Writes the ports of the tables `base` in their place. */
void keys_entries_revert(const struct keys_entries *entries, const struct hd_routes *base,
			 struct hd_routes *routes);

/* Their places. *out is released with hd_ar_pins_release(). Errors: -ENOMEM. O(entries). */
int keys_entries_pins(const struct keys_entries *entries, struct hd_ar_pins *out);

/* "'leaf1' 0x0002c9..." of a switch, for messages; size HD_LABEL_SIZE is enough. */
const char *keys_entries_switch_name(const struct hd_fabric *fabric, uint32_t sw, char *buffer,
				     int size);

#endif
