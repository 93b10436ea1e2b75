/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The packet-level simulator. */
#ifndef HEDDLE_SIM_H
#define HEDDLE_SIM_H

#include <heddle/sim/settings.h>
#include <heddle/sim/simulation.h>
#include <heddle/sim/units.h>
#include <heddle/sim/workload.h>

#endif
