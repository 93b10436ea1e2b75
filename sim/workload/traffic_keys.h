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

/* NULL is allowed. */
void keys_free(struct traffic_keys *keys);

#endif
