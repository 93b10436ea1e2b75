/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All of the room change: the way from the tables in place to others. */
#ifndef HEDDLE_CHANGE_H
#define HEDDLE_CHANGE_H

#include <heddle/change/keys_proof.h>
#include <heddle/change/narrow.h>
#include <heddle/change/repair.h>
#include <heddle/change/repair_mfts.h>
#include <heddle/change/steps.h>

#endif
