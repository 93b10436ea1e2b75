/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All of the room ar_manager: adaptive routing (AR). */
#ifndef HEDDLE_AR_MANAGER_H
#define HEDDLE_AR_MANAGER_H

#include <heddle/ar_manager/ar_config.h>
#include <heddle/ar_manager/certify.h>
#include <heddle/ar_manager/codec.h>
#include <heddle/ar_manager/collect.h>
#include <heddle/ar_manager/diff.h>
#include <heddle/ar_manager/fairness.h>
#include <heddle/ar_manager/fast_recovery.h>
#include <heddle/ar_manager/firmware.h>
#include <heddle/ar_manager/neighbours.h>
#include <heddle/ar_manager/pins.h>
#include <heddle/ar_manager/plan.h>
#include <heddle/ar_manager/plan_copy.h>
#include <heddle/ar_manager/plan_files.h>
#include <heddle/ar_manager/probe.h>
#include <heddle/ar_manager/program.h>
#include <heddle/ar_manager/proof.h>

#endif
