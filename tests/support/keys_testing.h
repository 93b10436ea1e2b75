/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics with an LMC, their tables, and entries of keys. Include after <cmocka.h>. */
#ifndef KEYS_TESTING_H
#define KEYS_TESTING_H

#include "generate_testing.h"
#include "variants.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/keyd/channel.h>

/* XGFT(3;3,3,3;1,3,3), each host with 2^lmc LIDs. */
static inline struct hd_fabric *keys_fabric(unsigned lmc)
{
	struct hd_fabric *plain = generate("xgft", "children=3,3,3 parents=1,3,3");
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};

	if (hd_fabric_assign_lids(plain, lmc, &fabric, &err))
		fail_msg("%s", err.text);
	hd_fabric_free(plain);
	return fabric;
}

static inline struct hd_routes *keys_route(const char *engine, const struct hd_fabric *fabric)
{
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	if (hd_engine_route(hd_engine_find(engine), &(struct hd_route_request){.fabric = fabric},
			    &routes, &err))
		fail_msg("%s: %s", engine, err.text);
	return routes;
}

/* A LID above the base LID of a host. */
static inline uint16_t keys_lid(const struct hd_fabric *fabric, uint32_t host, uint32_t offset)
{
	return (uint16_t)(fabric->lid[fabric->host_port[host]] + offset);
}

static inline int keys_compare(const void *a, const void *b)
{
	const struct hd_key_entry *left = a, *right = b;

	if (left->switch_guid != right->switch_guid)
		return left->switch_guid < right->switch_guid ? -1 : 1;
	return left->lid < right->lid ? -1 : left->lid > right->lid;
}

/* Sorts entries as the key channel has them: ascending, each place once. Returns their number. */
static inline uint32_t keys_sort(struct hd_key_entry *entries, uint32_t count)
{
	uint32_t kept = 0;

	qsort(entries, count, sizeof(*entries), keys_compare);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || keys_compare(&entries[kept - 1], &entries[i]))
			entries[kept++] = entries[i];
	return kept;
}

/* Whether a switch is at the top of the generated tree: "S3_0_1". */
static inline bool keys_is_top(const struct hd_fabric *fabric, uint32_t sw)
{
	return fabric->node_name[sw][1] == '3';
}

/* Entries by which packets for a LID go down from one switch to a leaf and up again to another. */
static inline uint32_t keys_valley(const struct hd_fabric *fabric, uint16_t lid, uint64_t *random,
				   struct hd_key_entry *entries)
{
	uint32_t host = (uint32_t)hd_random_below(random, fabric->host_count);
	uint32_t leaf = fabric->host_switch[host];
	uint32_t links = fabric->isl_base[leaf + 1] - fabric->isl_base[leaf];
	uint32_t first = (uint32_t)hd_random_below(random, links);
	uint32_t one = fabric->isl_base[leaf] + first;
	uint32_t other = fabric->isl_base[leaf] + (first + 1) % links;

	entries[0] = (struct hd_key_entry){.switch_guid = fabric->node_guid[fabric->isl_to[one]],
					   .lid = lid,
					   .port = fabric->isl_port[fabric->isl_reverse[one]]};
	entries[1] = (struct hd_key_entry){
	    .switch_guid = fabric->node_guid[leaf], .lid = lid, .port = fabric->isl_port[other]};
	return keys_sort(entries, 2);
}

/*
 * Random entries for one LID: `changes` switches lead elsewhere than in the tables. legal: a climb
 * becomes another climb, as in keys of heddle-keyd; else any cable takes the place of any.
 */
static inline uint32_t keys_random(const struct hd_fabric *fabric, const struct hd_routes *base,
				   uint16_t lid, uint32_t changes, bool legal, uint64_t *random,
				   struct hd_key_entry *entries)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < changes; i++) {
		uint32_t sw = (uint32_t)hd_random_below(random, fabric->switch_count);
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw];
		uint32_t link = fabric->isl_base[sw] + (uint32_t)hd_random_below(random, links);
		uint32_t half = hd_node_ports(fabric, sw) / 2; /* ports above it climb */

		if (legal && (keys_is_top(fabric, sw) || hd_routes_port(base, sw, lid) <= half ||
			      fabric->isl_port[link] <= half))
			continue;
		entries[count++] = (struct hd_key_entry){.switch_guid = fabric->node_guid[sw],
							 .lid = lid,
							 .port = fabric->isl_port[link]};
	}
	return keys_sort(entries, count);
}

#endif
