/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that registers our routing engines with OpenSM and publishes their routings. It reads
 * the policy files and the engines' sections of heddle.conf, and writes the dumps.
 */
#ifndef OPENSM_ENGINES_PART_H
#define OPENSM_ENGINES_PART_H

#include "part.h"

extern const struct part engines_part;

#endif
