/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How tools print a link's width and speed: "4xQDR", "4x QDR". */
#ifndef FABRIC_SPEED_H
#define FABRIC_SPEED_H

#include "text.h"

#include <heddle/fabric/graph.h>

/* Takes "4x" off the front; "??" is width 0. False when neither is there. */
bool take_width(struct cursor *cursor, uint8_t *width);

/* Takes a speed's name off the front; "???" and names not known yet are HD_SPEED_UNKNOWN. */
bool take_speed(struct cursor *cursor, uint8_t *speed);

#endif
