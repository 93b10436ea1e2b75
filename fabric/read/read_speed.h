/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How tools print a link's width and speed: "4xQDR", "4x QDR". */
#ifndef FABRIC_READ_SPEED_H
#define FABRIC_READ_SPEED_H

#include <heddle/base/text.h>
#include <heddle/fabric/graph.h>

/* Takes "4x" off the front; "??" is width 0. False if neither is there. */
bool read_speed_take_width(struct hd_cursor *cursor, uint8_t *width);

/* Takes a speed's name off the front; "???" and names not known yet are HD_SPEED_UNKNOWN. */
bool read_speed_take(struct hd_cursor *cursor, uint8_t *speed);

#endif
