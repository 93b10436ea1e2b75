/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spf: shortest path first. Each destination has a tree of shortest paths, by hops, inverse link
 * rate or given weights. Among equal paths the destination-first balance decides. Not free of
 * deadlock by itself where shortest paths follow a cycle of the fabric. Source: Kim, Yum, Das et
 * al., design alternatives for IBA fabrics, section 3.1.
 */
#ifndef ENGINES_SPF_H
#define ENGINES_SPF_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_spf;

#endif
