/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The analysis room: measures the bandwidth that a fabric's tables give to a communication
 * pattern. */
#ifndef HEDDLE_ANALYSIS_H
#define HEDDLE_ANALYSIS_H

#include <heddle/analysis/application.h>
#include <heddle/analysis/congestion.h>
#include <heddle/analysis/pattern.h>
#include <heddle/analysis/schedule.h>

#endif
