/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The base room: what is not about fabrics. */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <heddle/base/arena.h>
#include <heddle/base/digest.h>
#include <heddle/base/error.h>
#include <heddle/base/go_on.h>
#include <heddle/base/grow.h>
#include <heddle/base/index.h>
#include <heddle/base/options.h>
#include <heddle/base/parallel.h>
#include <heddle/base/port_set.h>
#include <heddle/base/random.h>
#include <heddle/base/suggest.h>

#endif
