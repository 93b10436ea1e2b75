/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters and tables as JSON, without newlines. */
#ifndef EMULATOR_JSON_H
#define EMULATOR_JSON_H

#include "emulator_nodes.h"
#include <stdio.h>

/* A list of [attribute, "get" or "set", seen]. */
void json_counts(FILE *out, const struct mad_counts *counts);

/* What a switch holds: AdaptiveRoutingInfo, groups, AR LFTs, private LFTs. */
void json_tables(FILE *out, const struct node *node);

#endif
