/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmodk: destination-modulo-k routing of fat trees. Regular trees have a closed form: at level l a
 * packet for the d-th host climbs by up-link (d / (w1 ... wl)) mod (w(l+1) * p(l+1)), so that each
 * host has one top switch and its own links down. All other fat trees get the same order of
 * destinations with balanced counters. A fabric that is not a fat tree is refused. Source: Zahavi,
 * D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees
 * (2010).
 */
#ifndef ENGINES_DMODK_H
#define ENGINES_DMODK_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_dmodk;

#endif
