/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that gives OpenSM our routing engines, and publishes what they route. It reads the
 * policy files and heddle.conf's sections of the engines, and writes the dumps.
 */
#ifndef OPENSM_ENGINES_PART_H
#define OPENSM_ENGINES_PART_H

#include "part.h"

extern const struct part engines_part;

#endif
