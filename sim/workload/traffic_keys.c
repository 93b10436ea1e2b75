/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_keys.h"

#include <heddle/base/grow.h>
#include <stdlib.h>

struct key {
	struct keys_settings settings;
	struct hd_key *key;
	bool in_force;
	struct hd_key_shift *shift; /* while it is in force: NULL is the key as it was made */
	struct hd_key_overlay overlay;
	uint8_t *before; /* [overlay.count] what the tables had */
};

struct traffic_keys {
	struct hd_key_tree *tree;
	struct hd_key_loads *loads;
	const struct hd_fabric *fabric;
	struct hd_routes *tables;
	uint32_t count, room, largest;
	struct key *keys;
	uint64_t *owner; /* [LIDs] application whose keys have entries for a LID; 0: none */
};

void keys_settings(const struct hd_options *options, struct keys_settings *settings)
{
	*settings = (struct keys_settings){
	    .mode = (enum keys_mode)hd_options_get(options, "keys")->number,
	    .first_offset = (unsigned)hd_options_get(options, "key_offset")->number,
	    .offsets = (unsigned)hd_options_get(options, "key_offsets")->number,
	    .delay = traffic_time(options, "key_delay"),
	    .objective = (enum hd_key_objective)hd_options_get(options, "key_shift")->number,
	};
	hd_colour_algorithm_parse(hd_options_get(options, "key_colours")->text,
				  &settings->algorithm);
}

void keys_free(struct traffic_keys *keys)
{
	if (!keys)
		return;
	for (uint32_t i = 0; i < keys->count; i++) {
		hd_key_free(keys->keys[i].key);
		hd_key_shift_free(keys->keys[i].shift);
		hd_key_overlay_release(&keys->keys[i].overlay);
		free(keys->keys[i].before);
	}
	free(keys->keys);
	free(keys->owner);
	hd_key_loads_free(keys->loads);
	hd_key_tree_free(keys->tree);
	free(keys);
}

static int open_keys(struct hd_traffic *traffic, struct hd_error *err)
{
	const struct hd_traffic_scene *scene = traffic->scene;

	if (traffic->keys)
		return 0;
	if (scene->network->subnet_count != 1)
		return hd_error_set(err, -EINVAL, "option 'keys': keys are for one subnet");
	if (!scene->tables)
		return hd_error_set(err, -EINVAL, "option 'keys': there are no tables to write to");
	struct traffic_keys *keys = calloc(1, sizeof(*keys));
	if (!keys)
		return hd_error_no_memory(err);
	traffic->keys = keys;
	keys->fabric = scene->network->subnets[0].fabric;
	keys->tables = scene->tables;
	int rc = hd_key_tree_new(keys->fabric, &keys->tree, err);
	if (rc)
		return rc;
	keys->loads = hd_key_loads_new(keys->tree);
	keys->owner = calloc(keys->fabric->lid_count, sizeof(*keys->owner));
	return keys->loads && keys->owner ? 0 : hd_error_no_memory(err);
}

/* Two keys in force must not have entries for one LID. */
static int own_lids(struct traffic_keys *keys, const struct hd_key_overlay *overlay, uint64_t owner,
		    struct hd_error *err)
{
	for (uint32_t i = 0; i < overlay->count; i++) {
		uint64_t *of = &keys->owner[overlay->entries[i].lid];

		if (*of && *of != owner)
			return hd_error_set(
			    err, -EINVAL,
			    "two applications have keys for LID %u: give them other "
			    "hosts, or another 'key_offset'",
			    overlay->entries[i].lid);
		*of = owner;
	}
	return 0;
}

/* Whether the destinations have the LIDs that the key needs: a shift needs the same ones. */
static int try_overlay(struct traffic_keys *keys, const struct hd_key *key,
		       const struct keys_settings *settings, uint64_t owner, struct hd_error *err)
{
	struct hd_key_overlay overlay;
	int rc = hd_key_overlay(keys->tree, key, NULL, settings->first_offset, &overlay, err);

	if (rc)
		return rc;
	rc = own_lids(keys, &overlay, owner, err);
	hd_key_overlay_release(&overlay);
	return rc;
}

static int store(struct traffic_keys *keys, struct hd_key *key,
		 const struct keys_settings *settings, uint32_t *number, struct hd_error *err)
{
	struct key *all = hd_grow(keys->keys, keys->count, 1, &keys->room, sizeof(*all));

	if (!all)
		return hd_error_no_memory(err);
	keys->keys = all;
	all[keys->count] = (struct key){.settings = *settings, .key = key};
	*number = keys->count++;
	return 0;
}

int keys_add(struct hd_traffic_part *part, uint32_t job, const struct keys_settings *settings,
	     const struct hd_key_flow *flows, uint32_t count, uint32_t *number,
	     struct hd_error *err)
{
	uint64_t owner = ((uint64_t)part->index << 32 | job) + 1;
	struct hd_key *key = NULL;
	int rc = open_keys(part->traffic, err);

	if (rc)
		return rc;
	struct traffic_keys *keys = part->traffic->keys;
	struct hd_key_request request = {.tree = keys->tree,
					 .flows = flows,
					 .flow_count = count,
					 .algorithm = settings->algorithm,
					 .offsets = settings->offsets,
					 .best_effort = true,
					 .threads = 1};
	rc = hd_key_make(&request, &key, err);
	if (!rc)
		rc = try_overlay(keys, key, settings, owner, err);
	if (!rc)
		rc = store(keys, key, settings, number, err);
	if (rc)
		hd_key_free(key);
	return rc;
}

uint32_t keys_offset(const struct traffic_keys *keys, uint32_t number, uint32_t flow)
{
	const struct key *key = &keys->keys[number];

	return key->settings.first_offset + key->key->routes[flow].offset;
}

uint32_t keys_contention(const struct traffic_keys *keys, uint32_t number)
{
	return keys->keys[number].key->contention;
}

static uint8_t *entry_at(const struct traffic_keys *keys, const struct hd_key_entry *entry)
{
	uint32_t sw = hd_fabric_find_node(keys->fabric, entry->switch_guid);

	return hd_routes_row(keys->tables, sw) + entry->lid;
}

static void write_entries(struct traffic_keys *keys, struct key *key)
{
	for (uint32_t i = 0; i < key->overlay.count; i++) {
		uint8_t *entry = entry_at(keys, &key->overlay.entries[i]);

		key->before[i] = *entry;
		*entry = key->overlay.entries[i].port;
	}
}

int keys_begin(struct traffic_keys *keys, uint32_t number, struct hd_error *err)
{
	struct key *key = &keys->keys[number];
	int rc = 0;

	if (key->settings.mode == KEYS_NRK)
		rc = hd_key_shift_choose(keys->tree, key->key, keys->loads, key->settings.objective,
					 &key->shift, err);
	if (!rc)
		rc = hd_key_overlay(keys->tree, key->key, key->shift, key->settings.first_offset,
				    &key->overlay, err);
	if (rc)
		return rc;
	key->before = malloc(key->overlay.count ? key->overlay.count : 1);
	if (!key->before)
		return hd_error_no_memory(err);
	write_entries(keys, key);
	hd_key_loads_add(keys->loads, keys->tree, key->key, key->shift, 1);
	for (uint32_t i = 0; i < keys->loads->link_count; i++)
		if (keys->loads->flows[i] > keys->largest)
			keys->largest = keys->loads->flows[i];
	key->in_force = true;
	return 0;
}

void keys_end(struct traffic_keys *keys, uint32_t number)
{
	struct key *key = &keys->keys[number];

	if (!key->in_force)
		return;
	for (uint32_t i = 0; i < key->overlay.count; i++)
		*entry_at(keys, &key->overlay.entries[i]) = key->before[i];
	hd_key_loads_add(keys->loads, keys->tree, key->key, key->shift, -1);
	hd_key_shift_free(key->shift);
	hd_key_overlay_release(&key->overlay);
	free(key->before);
	*key = (struct key){.settings = key->settings, .key = key->key};
}

uint32_t keys_largest_load(const struct traffic_keys *keys)
{
	return keys->largest;
}
