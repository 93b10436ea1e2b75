/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All of the room ir_router: routing between subnets. */
#ifndef HEDDLE_IR_ROUTER_H
#define HEDDLE_IR_ROUTER_H

#include <heddle/ir_router/assign.h>
#include <heddle/ir_router/interconnect.h>
#include <heddle/ir_router/journey.h>
#include <heddle/ir_router/map.h>
#include <heddle/ir_router/relay.h>

#endif
