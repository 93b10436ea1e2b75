/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The mad room: management packets (SMPs) to many switches at once. None of these headers needs
 * those of libibumad or libibmad, so OpenSM's headers can be included beside them.
 */
#ifndef HEDDLE_MAD_H
#define HEDDLE_MAD_H

#include <heddle/mad/queue.h>
#include <heddle/mad/smp.h>
#include <heddle/mad/umad_port.h>

#endif
