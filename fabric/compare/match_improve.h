/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exchanges the images of two hubs while more cables agree then. */
#ifndef FABRIC_MATCH_IMPROVE_H
#define FABRIC_MATCH_IMPROVE_H

#include "match_shape.h"

/* O(radix^2) a round for each hub with cables that do not agree, a few rounds. */
void match_improve(struct match_shape *shape);

/* The place, other than its own, that most cables of a live hub speak for, or HD_NONE. After match_improve(). */
uint32_t match_improve_wish(struct match_shape *shape, uint32_t live);

#endif
