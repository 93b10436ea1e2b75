/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps one hub after the other to the live hub that has most cables to the images of its neighbours. The next hub is
 * one with the clearest choice. If nothing is mapped, it begins with two hubs that look alike.
 */
#ifndef FABRIC_MATCH_GROW_H
#define FABRIC_MATCH_GROW_H

#include "match_shape.h"

/* Maps the hubs that are not mapped, for which there is a live hub; `attempt` chooses another beginning if none is
 * mapped. Errors: -ENOMEM. O(hubs * radix^2). */
int match_grow(struct match_shape *shape, uint32_t attempt, struct hd_error *err);

#endif
