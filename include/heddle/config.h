/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The config room: heddle.conf and the files by which an administrator says a policy. */
#ifndef HEDDLE_CONFIG_H
#define HEDDLE_CONFIG_H

#include <heddle/config/policy_files.h>
#include <heddle/config/sections.h>
#include <heddle/config/values.h>

#endif
