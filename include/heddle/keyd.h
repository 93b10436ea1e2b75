/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All of the room keyd: routing keys. */
#ifndef HEDDLE_KEYD_H
#define HEDDLE_KEYD_H

#include <heddle/keyd/channel.h>
#include <heddle/keyd/colour.h>
#include <heddle/keyd/key.h>
#include <heddle/keyd/key_attempts.h>
#include <heddle/keyd/key_choose.h>
#include <heddle/keyd/key_pattern.h>

#endif
