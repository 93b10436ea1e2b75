/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that replaces OpenSM's head-of-queue lifetimes by those of heddle.conf. OpenSM's link
 * manager then sets them at the ports. If heddle.conf has no lifetime any more, the part restores
 * OpenSM's own.
 */
#ifndef OPENSM_LIFETIMES_PART_H
#define OPENSM_LIFETIMES_PART_H

#include "part.h"

extern const struct part lifetimes_part;

#endif
