/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which LID offset each flow of a key uses. */
#ifndef KEYD_KEY_OFFSETS_H
#define KEYD_KEY_OFFSETS_H

#include <heddle/keyd/key.h>

/*
 * Several flows from one switch to one host get different offsets, as far as there are enough: they need different
 * cables. Flows from different switches can share one. Sets the offsets of the routes that leave their switch, and
 * key->offsets and key->wanted_offsets. Errors: -ENOMEM. Cost: O(flows log flows).
 */
int key_offsets_choose(const struct hd_key_request *request, struct hd_key *key);

#endif
