/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engines whose tables take routing keys: dmodk for every LID, and in OpenSM the entries of the keys
 * on top (doc/guide/key-channel.md). Which routes a key has is up to heddle-keyd: with ark a key
 * stays as it was made, with nrk it is shifted to the least loaded switches.
 */
#ifndef ENGINES_KEYED_H
#define ENGINES_KEYED_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_ark;
extern const struct hd_engine hd_engine_nrk;

#endif
