/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routing keys in a simulation: what heddle-keyd and the subnet manager do together (doc/papers/routing-keys.md). A
 * key is made before the run. When a phase begins, its shift is chosen for the loads of the keys in
 * force, and its entries are written into the tables; when the phase ends, the entries of before
 * return.
 */
#ifndef TRAFFIC_KEYS_H
#define TRAFFIC_KEYS_H

#include "traffic.h"

#include <heddle/keyd/key.h>

enum keys_mode { KEYS_NONE, KEYS_ARK, KEYS_NRK };

#define KEYS_OPTIONS                                                                               \
	TRAFFIC_CHOICE("keys",                                                                     \
		       "routing keys for the phases: none; ark: as they were made; nrk: shifted "  \
		       "for the loads when a phase begins",                                        \
		       "none", "none|ark|nrk"),                                                    \
	    TRAFFIC_INT("key_offset", "first LID offset that keys use", "1", 0, 32767),            \
	    TRAFFIC_INT("key_offsets", "LID offsets that a key may use", "1", 1, 128),             \
	    TRAFFIC_CHECKED("key_delay", "time from a request to the key in force", "0",           \
			    hd_sim_check_time),                                                    \
	    TRAFFIC_CHOICE("key_shift", "what a shift minimises: see heddle key", "links",         \
			   "links|paper"),                                                         \
	    TRAFFIC_CHOICE("key_colours", "how the flows of a key are coloured", "auto",           \
			   "auto|paths|euler|paper")

struct keys_settings {
	enum keys_mode mode;
	unsigned first_offset, offsets;
	uint64_t delay; /* ps */
	enum hd_key_objective objective;
	enum hd_colour_algorithm algorithm;
};

struct traffic_keys;

/* Reads KEYS_OPTIONS. */
void keys_settings(const struct hd_options *options, struct keys_settings *settings);

/*
 * Makes a key for flows between endpoints, the key of least contention if none is free of it;
 * *number: 0, 1, 2 ... The first key of a traffic also finds the tree. Keys of one application, which
 * is `job` of the part, are never in force at the same time; keys of two need different LIDs. Errors:
 * -EINVAL no tables to write to, several subnets, a LID of another application; those of
 * hd_key_tree_new(), hd_key_make() and hd_key_overlay(); -ENOMEM.
 */
int keys_add(struct hd_traffic_part *part, uint32_t job, const struct keys_settings *settings,
	     const struct hd_key_flow *flows, uint32_t count, uint32_t *number,
	     struct hd_error *err);

/* The LID offset of a flow of a key. */
uint32_t keys_offset(const struct traffic_keys *keys, uint32_t number, uint32_t flow);

/* The largest number of its flows on a link, as the key was made. */
uint32_t keys_contention(const struct traffic_keys *keys, uint32_t number);

/* Puts a key in force, which must not be so yet. Errors: -ENOMEM, those of hd_key_overlay(). */
int keys_begin(struct traffic_keys *keys, uint32_t number, struct hd_error *err);

/* The phase is over. Nothing happens if the key is not in force. */
void keys_end(struct traffic_keys *keys, uint32_t number);

/* Flows of keys in force on the most loaded link, now and at any time before. */
uint32_t keys_largest_load(const struct traffic_keys *keys);

/* NULL is allowed. */
void keys_free(struct traffic_keys *keys);

#endif
