/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that puts the head-of-queue lifetimes of heddle.conf in place of OpenSM's own, from
 * which OpenSM's link manager sets the ports. OpenSM's own come back when heddle.conf no longer
 * names any.
 */
#ifndef OPENSM_LIFETIMES_PART_H
#define OPENSM_LIFETIMES_PART_H

#include "part.h"

extern const struct part lifetimes_part;

#endif
