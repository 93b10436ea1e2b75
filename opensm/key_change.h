/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A routing key that comes, goes or changes between sweeps, as other parts see it. The writer's thread calls the hooks
 * `key_*` of struct part with it, in this order:
 *
 *	key_begins     its forwarding entries come next
 *	key_programs   the key is proved, and the switches have its forwarding entries; adaptive routing follows
 *	key_ends       whatever has happened before: it is in force, or the forwarding entries are those before,
 *	               or nobody knows
 *
 * Without adaptive routing nothing is to be done. With it, a switch has the entry of a key in two tables, and the key is
 * in force when both are acknowledged. No mixture of the entries before and after has a loop or a credit loop:
 * hd_keys_proof_change().
 */
#ifndef OPENSM_KEY_CHANGE_H
#define OPENSM_KEY_CHANGE_H

#include <heddle/ar_manager/pins.h>
#include <stdbool.h>
#include <stdint.h>

struct routing;

struct key_change {
	struct routing *after; /* with the key, not published yet */
	struct hd_ar_pins places; /* entries of the key before and of the one after */
	bool published; /* at the end: `after` is in force */
	bool unsure; /* at the end: switches may hold a mixture, until the next sweep */
};

#endif
