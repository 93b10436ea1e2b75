/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way from the keys in force to those with the key of a SET. */
#ifndef OPENSM_KEYS_PROVE_H
#define OPENSM_KEYS_PROVE_H

struct setting;

/*
 * Proves the tables with the key, and every mixture of them with those in force on the way there; fills setting->order.
 * A key that is replaced by another one, and finds no such way, is first taken back to the routes without it. A SET that
 * joins others finds no other way: the proof must keep what theirs have. Errors:
 * -EINVAL, -ELOOP the key is not sound, or no way is; -ENOMEM; with the reason. Cost: that of hd_keys_order(), perhaps
 * with that of new proofs.
 */
int keys_prove(struct setting *setting);

#endif
