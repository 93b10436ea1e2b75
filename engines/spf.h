/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spf: shortest path first. Per destination a shortest-path tree, by hops, inverse link rate or
 * given weights; among equals the destination-first balance decides. Not free of deadlock by
 * itself where the fabric has cycles that shortest paths follow. Source: Kim, Yum, Das et al.,
 * design alternatives for IBA fabrics, section 3.1.
 */
#ifndef ENGINES_SPF_H
#define ENGINES_SPF_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_spf;

#endif
